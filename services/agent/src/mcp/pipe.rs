//! Host tools through a pair of named pipes: sockets are out of reach in the
//! sandbox, and standard input and output belong to the CLI that started us.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use openclaw_turn::{HostAnswer, HostCall, HostLine, HostTool, OFFER};

/// For the whole of one call. A search takes milliseconds.
const CALL_LIMIT: Duration = Duration::from_secs(30);

/// Pause between attempts to open the request pipe while nobody reads it:
/// the kernel has no way to wait for a reader without blocking a thread.
const OPEN_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes of one answer line: the text of a result and its images.
const MAX_LINE_BYTES: u64 = 12 * 1024 * 1024;

/// Calls that wait for their answers, by id.
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<HostAnswer>>>>;

/// Both ends, opened at the first call. Any number of calls may wait.
pub(super) struct ToolPipe {
    folder: PathBuf,
    ends: tokio::sync::Mutex<Option<Ends>>,
    waiting: Waiting,
    next_id: AtomicU64,
    changes: Arc<Notify>,
}

struct Ends {
    sender: Sender,
    /// Ended when the pipe broke.
    reader: AbortOnDropHandle<()>,
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
    #[error("the pipe to the runner broke, or its answer is longer than {MAX_LINE_BYTES} bytes")]
    Broken,
    #[error("cannot write the call")]
    Unwritable(#[source] serde_json::Error),
}

impl ToolPipe {
    pub(super) fn new(folder: PathBuf) -> Self {
        // The server may be started again within a turn; an answer to its
        // predecessor must not be taken for one of ours.
        let first = u64::from(std::process::id()) << 20;
        Self {
            folder,
            ends: tokio::sync::Mutex::default(),
            waiting: Waiting::default(),
            next_id: AtomicU64::new(first),
            changes: Arc::default(),
        }
    }

    /// Returns when there are other tools than were told last.
    pub(super) async fn changed(&self) {
        self.changes.notified().await;
    }

    /// One call and its answer. A question to people takes as long as they
    /// need; the runner knows when that is too long.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<HostAnswer, PipeError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, answer);
        let _forgotten = Forgotten(&self.waiting, id);
        let call = HostCall {
            id,
            tool: tool.to_owned(),
            arguments: arguments.clone(),
        };
        timeout(CALL_LIMIT, self.send(&call))
            .await
            .unwrap_or(Err(PipeError::Timeout))?;
        let answered = async { answered.await.map_err(|_| PipeError::Broken) };
        if !is_quick(tool) {
            return answered.await;
        }
        timeout(CALL_LIMIT, answered)
            .await
            .unwrap_or(Err(PipeError::Timeout))
    }

    async fn send(&self, call: &HostCall) -> Result<(), PipeError> {
        let mut line = serde_json::to_vec(call).map_err(PipeError::Unwritable)?;
        line.push(b'\n');
        let mut ends = self.ends.lock().await;
        let broken = |ends: &Ends| ends.reader.is_finished();
        // Taken out: a call that is dropped half way leaves half a line, and
        // the pipes are opened anew.
        let mut open = match ends.take().filter(|ends| !broken(ends)) {
            Some(open) => open,
            None => self.open().await?,
        };
        open.sender
            .write_all(&line)
            .await
            .map_err(PipeError::Send)?;
        *ends = Some(open);
        Ok(())
    }

    async fn open(&self) -> Result<Ends, PipeError> {
        let sender = self.open_request().await?;
        let receiver = self.open_response()?;
        let reader = read_all(
            receiver,
            Arc::clone(&self.waiting),
            Arc::clone(&self.changes),
        );
        Ok(Ends {
            sender,
            reader: AbortOnDropHandle::new(tokio::spawn(reader)),
        })
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

/// Whether the runner answers by itself, without asking anybody else.
fn is_quick(tool: &str) -> bool {
    tool == OFFER || HostTool::from_name(tool).is_some()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nobody waits for the answer any more.
struct Forgotten<'a>(&'a Waiting, u64);

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        lock(self.0).remove(&self.1);
    }
}

fn open_error(path: &std::path::Path, source: io::Error) -> PipeError {
    let path = path.display().to_string();
    PipeError::Open { path, source }
}

/// Hands answers to those who wait. What belongs to calls that were given up
/// is skipped, and so is the rest of a line that was half read.
async fn read_all(mut receiver: BufReader<Receiver>, waiting: Waiting, changes: Arc<Notify>) {
    while let Ok(line) = read_line(&mut receiver).await {
        match serde_json::from_slice(&line) {
            Ok(HostLine::Answer { id, answer }) => {
                if let Some(caller) = lock(&waiting).remove(&id) {
                    // Who does not wait any more needs no answer.
                    let _ = caller.send(answer);
                }
            }
            Ok(HostLine::Changed { changed: true }) => changes.notify_one(),
            Ok(HostLine::Changed { changed: false }) | Err(_) => {}
        }
    }
    // Everybody who waits hears of the break by this.
    lock(&waiting).clear();
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

#[cfg(fuzzing)]
pub(crate) mod fuzz;
