//! Host tools for the MCP server inside the sandbox: two FIFOs in the folder
//! that the CLI is given. The server is a grandchild that inherits no descriptor, and it
//! cannot make a Unix socket, but it may open files it was granted.

use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::BytesMut;
use futures_util::StreamExt as _;
use openclaw_folder::Folder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::codec::{Decoder, FramedRead, LinesCodec, LinesCodecError};
use tokio_util::task::AbortOnDropHandle;

use crate::host::{Answer, Tools};
use crate::job::Waiting;

/// One request, in bytes.
const LINE_LIMIT: usize = 1 << 20;
/// Answers that may wait for an MCP server that does not read.
const ANSWERS: usize = 32;
/// Requests that are answered at a time: more than the questions that may wait
/// for somebody, so that these do not hold up the others. The next request is
/// not read before one is answered.
const REQUESTS: usize = 32;
/// Says that there are other tools now.
const CHANGED: &[u8] = b"{\"changed\":true}\n";
/// The FIFOs' names.
const REQUEST: &str = "request";
const RESPONSE: &str = "response";
/// Of both.
pub(super) const NAMES: [&str; 2] = [REQUEST, RESPONSE];

#[derive(Debug, Deserialize)]
struct Request {
    id: u64,
    tool: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Debug, Serialize)]
struct Response {
    id: u64,
    #[serde(flatten)]
    answer: Answer,
}

/// The pair of FIFOs and the task that answers.
#[derive(Debug)]
pub(crate) struct ToolPipe {
    _server: AbortOnDropHandle<()>,
}

impl ToolPipe {
    /// Says which tools there are, before there is a turn that they are for.
    pub(crate) fn wait(waiting: &Waiting) -> io::Result<Self> {
        let folder = &waiting.pipe;
        let (receiver, sender) = open(folder)?;
        let answer = Answering::Waiting(Answer::of_offer(&waiting.offer));
        Ok(Self {
            _server: AbortOnDropHandle::new(tokio::spawn(answer_all(receiver, sender, answer))),
        })
    }

    /// Answers requests that come through the FIFOs in `folder`.
    pub(crate) fn serve(folder: &Path, tools: Tools) -> io::Result<Self> {
        let (receiver, sender) = open(folder)?;
        Ok(Self {
            _server: AbortOnDropHandle::new(tokio::spawn(answer_all(
                receiver,
                sender,
                Answering::Tools(Box::new(tools)),
            ))),
        })
    }
}

/// Who answers.
#[derive(Clone)]
enum Answering {
    Tools(Box<Tools>),
    /// Nobody, but for the one question that is asked before a turn.
    Waiting(Answer),
}

impl Answering {
    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        match self {
            Self::Tools(tools) => tools.call(tool, arguments).await,
            Self::Waiting(answer) => answer.clone(),
        }
    }
}

/// Both are opened for reading and writing, which Linux allows (fifo(7)): so
/// opening does not wait for the other side, and its leaving is no end.
fn open(folder: &Path) -> io::Result<(Receiver, Sender)> {
    let folder = Folder::open(folder)?.ok_or(io::ErrorKind::NotFound)?;
    Ok((
        Receiver::from_file(folder.open_fifo(REQUEST)?)?,
        Sender::from_file(folder.open_fifo(RESPONSE)?)?,
    ))
}

/// Answers each request by itself: one that waits for somebody does not hold
/// up the others.
async fn answer_all(receiver: Receiver, sender: Sender, tools: Answering) {
    let (answers, waiting) = mpsc::channel(ANSWERS);
    let telling = tell_changes(&tools, answers.clone());
    let writing = write_all(sender, waiting);
    let reading = read_all(receiver, &tools, answers);
    tokio::join!(telling, writing, reading);
}

/// Tells whoever asked which tools there are when there are others.
async fn tell_changes(tools: &Answering, answers: mpsc::Sender<Vec<u8>>) {
    let Answering::Tools(tools) = tools else {
        return;
    };
    let mut changes = tools.servers.changes();
    loop {
        changes.next().await;
        if answers.send(CHANGED.to_vec()).await.is_err() {
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

async fn read_all(receiver: Receiver, tools: &Answering, answers: mpsc::Sender<Vec<u8>>) {
    let lines = LinesCodec::new_with_max_length(LINE_LIMIT);
    let mut lines = FramedRead::new(receiver, Requests(lines));
    let places = Arc::new(Semaphore::new(REQUESTS));
    while let Some(line) = lines.next().await {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                openclaw_daemon::failure::report("hear the MCP server", &error);
                return;
            }
        };
        let request = match line.map_err(|error| error.to_string()).and_then(|line| {
            serde_json::from_str::<Request>(&line).map_err(|error| error.to_string())
        }) {
            Ok(request) => request,
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
            let answer = tools.call(&request.tool, request.arguments).await;
            let response = Response {
                id: request.id,
                answer,
            };
            let Ok(mut line) = serde_json::to_vec(&response) else {
                return;
            };
            line.push(b'\n');
            // Nobody waits for an answer when the turn has ended.
            let _ = answers.send(line).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::net::unix::pipe::OpenOptions;
    use tokio::time::timeout;

    use super::*;
    use crate::tools::Offer;

    /// An answer is there at once, on any machine.
    const PATIENCE: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn pipe_answers_after_requests_that_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let opened = Folder::open(folder.path()).unwrap().unwrap();
        for name in NAMES {
            opened.create_fifo(name, 0o600).unwrap();
        }
        let waiting = Waiting {
            pipe: folder.path().to_owned(),
            offer: Offer::default(),
        };
        let _pipe = ToolPipe::wait(&waiting).unwrap();
        let mut options = OpenOptions::new();
        options.read_write(true);
        let mut sender = options.open_sender(folder.path().join(REQUEST)).unwrap();
        let receiver = options.open_receiver(folder.path().join(RESPONSE)).unwrap();
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
