//! Host tools through a pair of named pipes: sockets are out of reach in the
//! sandbox, and standard input and output belong to the CLI that started us.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::time::{Instant, sleep, timeout_at};

use crate::host::HostAnswer;

/// For the whole of one call. A search takes milliseconds.
const CALL_LIMIT: Duration = Duration::from_secs(30);

/// Pause between attempts to open the request pipe while nobody reads it:
/// the kernel has no way to wait for a reader without blocking a thread.
const OPEN_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes of one answer line.
const MAX_LINE_BYTES: u64 = 1024 * 1024;

/// Both ends, opened at the first call.
pub(super) struct ToolPipe {
    folder: PathBuf,
    ends: Option<(Sender, BufReader<Receiver>)>,
    next_id: u64,
}

/// Why a call got no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum PipeError {
    #[error("cannot open {path}")]
    Open {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("the runner did not answer within {} s", CALL_LIMIT.as_secs())]
    Timeout,
    #[error("cannot send the call to the runner")]
    Send(#[source] io::Error),
    #[error("cannot read the runner's answer")]
    Receive(#[source] io::Error),
    #[error("the runner's answer is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    #[error("cannot write the call")]
    Unwritable(#[source] serde_json::Error),
}

#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    tool: &'a str,
    arguments: &'a Value,
}

#[derive(Deserialize)]
struct Response {
    id: u64,
    #[serde(flatten)]
    answer: HostAnswer,
}

impl ToolPipe {
    pub(super) fn new(folder: PathBuf) -> Self {
        // The server may be started again within a turn; an answer to its
        // predecessor must not be taken for one of ours.
        let next_id = u64::from(std::process::id()) << 20;
        Self {
            folder,
            ends: None,
            next_id,
        }
    }

    /// One call and its answer. After a failure, or when it is dropped half
    /// way, the pipes are opened anew.
    pub(super) async fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
    ) -> Result<HostAnswer, PipeError> {
        let deadline = Instant::now() + CALL_LIMIT;
        let exchange = self.exchange(tool, arguments);
        timeout_at(deadline, exchange)
            .await
            .unwrap_or(Err(PipeError::Timeout))
    }

    async fn exchange(&mut self, tool: &str, arguments: &Value) -> Result<HostAnswer, PipeError> {
        let id = self.next_id;
        self.next_id += 1;
        let request = Request {
            id,
            tool,
            arguments,
        };
        let mut line = serde_json::to_vec(&request).map_err(PipeError::Unwritable)?;
        line.push(b'\n');
        let (mut sender, mut receiver) = match self.ends.take() {
            Some(ends) => ends,
            None => (self.open_request().await?, self.open_response()?),
        };
        sender.write_all(&line).await.map_err(PipeError::Send)?;
        let answer = answer_to(id, &mut receiver).await?;
        self.ends = Some((sender, receiver));
        Ok(answer)
    }

    async fn open_request(&self) -> Result<Sender, PipeError> {
        let path = self.folder.join("request");
        loop {
            match OpenOptions::new().open_sender(&path) {
                Ok(sender) => return Ok(sender),
                // Nobody has it open for reading yet.
                Err(error) if error.raw_os_error() == Some(nix::errno::Errno::ENXIO as i32) => {
                    sleep(OPEN_INTERVAL).await;
                }
                Err(source) => return Err(open_error(&path, source)),
            }
        }
    }

    fn open_response(&self) -> Result<BufReader<Receiver>, PipeError> {
        let path = self.folder.join("response");
        // Read-write: otherwise a read before the runner opens its end sees
        // the end of the file.
        let opened = OpenOptions::new().read_write(true).open_receiver(&path);
        Ok(BufReader::new(
            opened.map_err(|source| open_error(&path, source))?,
        ))
    }
}

fn open_error(path: &std::path::Path, source: io::Error) -> PipeError {
    let path = path.display().to_string();
    PipeError::Open { path, source }
}

/// Skips what belongs to calls that were given up: their answers, and the
/// rest of a line that was half read.
async fn answer_to(id: u64, receiver: &mut BufReader<Receiver>) -> Result<HostAnswer, PipeError> {
    loop {
        let line = read_line(receiver).await?;
        match serde_json::from_slice::<Response>(&line) {
            Ok(response) if response.id == id => return Ok(response.answer),
            _ => {}
        }
    }
}

async fn read_line(receiver: &mut BufReader<Receiver>) -> Result<Vec<u8>, PipeError> {
    let mut line = Vec::new();
    let mut limited = receiver.take(MAX_LINE_BYTES);
    limited
        .read_until(b'\n', &mut line)
        .await
        .map_err(PipeError::Receive)?;
    if line.ends_with(b"\n") {
        Ok(line)
    } else {
        Err(PipeError::TooLong)
    }
}
