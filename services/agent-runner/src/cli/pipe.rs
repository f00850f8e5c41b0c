//! Host tools for the MCP server inside the sandbox: two FIFOs in the turn's
//! folder. The server is a grandchild that inherits no descriptor, and it
//! cannot make a Unix socket, but it may open files it was granted.

use std::io;
use std::path::Path;

use futures_util::StreamExt as _;
use nix::errno::Errno;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::sync::mpsc;
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::task::AbortOnDropHandle;

use crate::host::{Answer, Tools};
use crate::job::Waiting;

/// One request, in bytes.
const LINE_LIMIT: usize = 1 << 20;
/// Answers that may wait for an MCP server that does not read.
const ANSWERS: usize = 32;
/// The FIFOs' names.
const REQUEST: &str = "request";
const RESPONSE: &str = "response";

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
    /// Makes the FIFOs in `folder`, which is made too.
    pub(crate) fn make(folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for path in [folder.join(REQUEST), folder.join(RESPONSE)] {
            match mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR) {
                // Those of the process that stands ready for this turn.
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Says which tools there are, before there is a turn that they are for.
    pub(crate) fn wait(waiting: &Waiting) -> io::Result<Self> {
        let folder = &waiting.pipe;
        let (receiver, sender) = open(&folder.join(REQUEST), &folder.join(RESPONSE))?;
        let answer = Answering::Waiting(Answer::of_offer(&waiting.offer));
        Ok(Self {
            _server: AbortOnDropHandle::new(tokio::spawn(answer_all(receiver, sender, answer))),
        })
    }

    /// Answers requests that come through the FIFOs in `folder`.
    pub(crate) fn serve(folder: &Path, tools: Tools) -> io::Result<Self> {
        let (receiver, sender) = open(&folder.join(REQUEST), &folder.join(RESPONSE))?;
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
fn open(request: &Path, response: &Path) -> io::Result<(Receiver, Sender)> {
    let mut options = OpenOptions::new();
    options.read_write(true);
    Ok((
        options.open_receiver(request)?,
        options.open_sender(response)?,
    ))
}

/// Answers each request by itself: one that waits for somebody does not hold
/// up the others.
async fn answer_all(receiver: Receiver, sender: Sender, tools: Answering) {
    let (answers, waiting) = mpsc::channel(ANSWERS);
    let writing = write_all(sender, waiting);
    let reading = read_all(receiver, &tools, answers);
    tokio::join!(writing, reading);
}

async fn write_all(mut sender: Sender, mut answers: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = answers.recv().await {
        if let Err(error) = sender.write_all(&line).await {
            tracing::warn!(%error, "the MCP server cannot be answered");
            return;
        }
    }
}

async fn read_all(receiver: Receiver, tools: &Answering, answers: mpsc::Sender<Vec<u8>>) {
    let mut lines = FramedRead::new(receiver, LinesCodec::new_with_max_length(LINE_LIMIT));
    while let Some(line) = lines.next().await {
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
        tokio::spawn(async move {
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
