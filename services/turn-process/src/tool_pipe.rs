//! Host tools for the MCP server inside the sandbox: two FIFOs in the folder
//! that the CLI is given. The server is a grandchild that inherits no descriptor, and it
//! cannot make a Unix socket, but it may open files it was granted.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use futures_util::StreamExt as _;
use openclaw_folder::Folder;
use openclaw_handoff::order::{REQUEST_PIPE, RESPONSE_PIPE, Waiting, WaitingServers};
use openclaw_mcp_servers::Servers;
use openclaw_turn::{HostAnswer, HostCall, HostLine, Offer};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{OnceCell, Semaphore, mpsc};
use tokio_util::codec::{Decoder, FramedRead, LinesCodec, LinesCodecError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::host::{self, Tools};

/// One request, in bytes.
const LINE_LIMIT: usize = 1 << 20;
/// Answers that may wait for an MCP server that does not read.
const ANSWERS: usize = 32;
/// Requests that are answered at a time: more than the questions that may wait for somebody, so
/// that these do not hold up the others. The next request is not read before one is answered.
const REQUESTS: usize = 32;

/// The pair of FIFOs and the task that answers.
#[derive(Debug)]
pub(crate) struct ToolPipe {
    server: AbortOnDropHandle<()>,
    /// Ends the reading of requests.
    stop: CancellationToken,
    /// The answers before there is a turn.
    early: Option<Arc<Early>>,
}

/// The answer before there is a turn: the list of tools.
#[derive(Debug)]
struct Early {
    offer: Offer,
    /// Whether there are servers, whose tools are told too.
    has_servers: bool,
    /// The connection to them ends when they were told: it would keep them up.
    servers: Mutex<Option<Arc<Servers>>>,
    told: OnceCell<Offer>,
}

impl Early {
    async fn answer(&self, arguments: &Value) -> HostAnswer {
        let told = self.told.get_or_init(|| async {
            let servers = lock(&self.servers).clone();
            let Some(servers) = servers else {
                return self.offer.clone();
            };
            servers.settled().await;
            let told = servers.added_to(&self.offer);
            *lock(&self.servers) = None;
            told
        });
        host::offered(arguments, told.await.clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ToolPipe {
    /// Says which tools there are, before there is a turn that they are for;
    /// those of servers at `connection` too. Where there are servers and no
    /// connection nobody answers, and whoever asks waits for the turn.
    pub(crate) fn wait(waiting: &Waiting, connection: Option<OwnedFd>) -> Option<io::Result<Self>> {
        let servers = match (&waiting.servers, connection) {
            (None, _) => None,
            (Some(_), None) => return None,
            (Some(WaitingServers { policy, patience }), Some(connection)) => {
                match Servers::at(connection, policy.clone(), *patience) {
                    Ok(servers) => Some(Arc::new(servers)),
                    Err(error) => return Some(Err(error)),
                }
            }
        };
        let early = Arc::new(Early {
            offer: waiting.offer.clone(),
            has_servers: servers.is_some(),
            servers: Mutex::new(servers),
            told: OnceCell::new(),
        });
        Some(open(&waiting.pipe).map(|(receiver, sender)| {
            let answering = Answering::Waiting(Arc::clone(&early));
            Self {
                early: Some(early),
                ..Self::start(receiver, sender, answering, false)
            }
        }))
    }

    /// Answers requests that come through the FIFOs in `folder` from now on;
    /// `before` answers those that it has heard.
    pub(crate) async fn serve(
        folder: &Path,
        tools: Tools,
        before: Option<Self>,
    ) -> io::Result<Self> {
        // Opened first: without anybody at this side the other hears an end.
        let (receiver, sender) = open(folder)?;
        let is_news = match before {
            Some(before) => before.finish().await,
            None => false,
        };
        let answering = Answering::Tools(Box::new(tools));
        Ok(Self::start(receiver, sender, answering, is_news))
    }

    fn start(receiver: Receiver, sender: Sender, answering: Answering, is_news: bool) -> Self {
        let stop = CancellationToken::new();
        let answering = answer_all(receiver, sender, (answering, is_news), stop.clone());
        Self {
            server: AbortOnDropHandle::new(tokio::spawn(answering)),
            stop,
            early: None,
        }
    }

    /// Answers what was asked, and nothing more. Whether somebody was told of
    /// tools of servers that may be others by now.
    async fn finish(self) -> bool {
        self.stop.cancel();
        if let Err(error) = self.server.await {
            openclaw_daemon::failure::report("answer the MCP server", &error);
        }
        let early = self.early;
        early.is_some_and(|early| early.has_servers && early.told.initialized())
    }
}

/// How calls are answered.
#[derive(Clone)]
enum Answering {
    Tools(Box<Tools>),
    /// Nobody, but for the one question that is asked before a turn.
    Waiting(Arc<Early>),
}

impl Answering {
    async fn call(&self, tool: &str, arguments: Value) -> HostAnswer {
        match self {
            Self::Tools(tools) => tools.call(tool, arguments).await,
            Self::Waiting(early) => early.answer(&arguments).await,
        }
    }
}

/// Both are opened for reading and writing, which Linux allows (fifo(7)): so
/// opening does not wait for the other side, and its leaving is no end.
fn open(folder: &Path) -> io::Result<(Receiver, Sender)> {
    let folder = Folder::open(folder)?.ok_or(io::ErrorKind::NotFound)?;
    Ok((
        Receiver::from_file(folder.open_fifo(REQUEST_PIPE)?)?,
        Sender::from_file(folder.open_fifo(RESPONSE_PIPE)?)?,
    ))
}

/// Answers each request by itself: one that waits for somebody does not hold up the others.
async fn answer_all(
    receiver: Receiver,
    sender: Sender,
    (tools, is_news): (Answering, bool),
    stop: CancellationToken,
) {
    let (answers, waiting) = mpsc::channel(ANSWERS);
    let telling = tell_changes(&tools, answers.clone(), is_news);
    let writing = write_all(sender, waiting);
    let reading = read_all(receiver, &tools, answers, stop);
    tokio::join!(telling, writing, reading);
}

/// Tells whoever asked which tools there are when there are others.
async fn tell_changes(tools: &Answering, answers: mpsc::Sender<Vec<u8>>, is_news: bool) {
    let Answering::Tools(tools) = tools else {
        return;
    };
    let mut changes = tools.servers.changes();
    let mut is_told = !is_news;
    loop {
        if is_told {
            changes.next().await;
        } else {
            // Not before it is known what there is.
            tools.servers.settled().await;
            is_told = true;
        }
        if answers
            .send(encoded(&HostLine::Changed { changed: true }))
            .await
            .is_err()
        {
            return;
        }
    }
}

async fn write_all(mut sender: Sender, mut answers: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = answers.recv().await {
        if let Err(error) = sender.write_all(&line).await {
            openclaw_daemon::failure::report("answer the MCP server", &error);
            return;
        }
    }
}

/// Lines, of which one that cannot be read ends nothing: `FramedRead` takes an
/// error of its decoder for a pause, and leaves what follows in its buffer.
struct Requests(LinesCodec);

impl Decoder for Requests {
    type Item = Result<String, LinesCodecError>;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        // It reads nothing, so all that it complains about is the line.
        Ok(match self.0.decode(bytes) {
            Ok(line) => line.map(Ok),
            Err(unreadable) => Some(Err(unreadable)),
        })
    }
}

async fn read_all(
    receiver: Receiver,
    tools: &Answering,
    answers: mpsc::Sender<Vec<u8>>,
    stop: CancellationToken,
) {
    let lines = LinesCodec::new_with_max_length(LINE_LIMIT);
    let mut lines = FramedRead::new(receiver, Requests(lines));
    let places = Arc::new(Semaphore::new(REQUESTS));
    loop {
        let line = tokio::select! {
            // What was read is answered before the end.
            biased;
            line = lines.next() => line,
            () = stop.cancelled() => return,
        };
        let line = match line {
            None => return,
            Some(Ok(line)) => line,
            Some(Err(error)) => {
                openclaw_daemon::failure::report("hear the MCP server", &error);
                return;
            }
        };
        let call = match line.map_err(|error| error.to_string()).and_then(|line| {
            serde_json::from_str::<HostCall>(&line).map_err(|error| error.to_string())
        }) {
            Ok(call) => call,
            Err(error) => {
                tracing::warn!(%error, "the MCP server sent a request that cannot be read");
                continue;
            }
        };
        let (tools, answers) = (tools.clone(), answers.clone());
        // Never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        tokio::spawn(async move {
            let _place = place;
            let answer = tools.call(&call.tool, call.arguments).await;
            let answer = HostLine::Answer {
                id: call.id,
                answer,
            };
            // Nobody waits for an answer when the turn has ended.
            let _ = answers.send(encoded(&answer)).await;
        });
    }
}

/// A line as it is sent.
fn encoded(line: &HostLine) -> Vec<u8> {
    let mut json = serde_json::to_vec(line).unwrap_or_default();
    json.push(b'\n');
    json
}

#[cfg(fuzzing)]
pub(crate) mod fuzz;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::net::unix::pipe::OpenOptions;
    use tokio::time::timeout;

    use super::*;

    /// An answer is there at once, on any machine.
    const PATIENCE: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn pipe_answers_after_requests_that_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let opened = Folder::open(folder.path()).unwrap().unwrap();
        for name in [REQUEST_PIPE, RESPONSE_PIPE] {
            opened.create_fifo(name, 0o600).unwrap();
        }
        let waiting = Waiting {
            pipe: folder.path().to_owned(),
            offer: Offer::default(),
            servers: None,
        };
        let _pipe = ToolPipe::wait(&waiting, None).unwrap().unwrap();
        let mut options = OpenOptions::new();
        options.read_write(true);
        let mut sender = options
            .open_sender(folder.path().join(REQUEST_PIPE))
            .unwrap();
        let receiver = options
            .open_receiver(folder.path().join(RESPONSE_PIPE))
            .unwrap();
        let mut answers = BufReader::new(receiver).lines();
        let long = vec![b'x'; LINE_LIMIT + 2];
        for (id, line) in [(1, &b"\xff\xfe"[..]), (2, b"{}"), (3, &long), (4, b"")] {
            let request = format!("\n{{\"id\":{id},\"tool\":\"tools\"}}\n");
            sender.write_all(line).await.unwrap();
            sender.write_all(request.as_bytes()).await.unwrap();
            let answer = timeout(PATIENCE, answers.next_line()).await;
            let answer = answer
                .unwrap_or_else(|_| panic!("no answer to {id}"))
                .unwrap()
                .unwrap();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["id"], id);
        }
    }
}
