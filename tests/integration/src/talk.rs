//! A program that is still talking.

use std::process::Output;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::{Said, processes, within};

/// A started program, heard while it runs and killed when dropped.
#[derive(Debug)]
pub struct Talk {
    what: String,
    child: Child,
    stdout: ChildStdout,
    heard: Vec<u8>,
    stderr: JoinHandle<Vec<u8>>,
}

impl Talk {
    /// Starts `command`, which has pipes.
    pub fn start(what: &str, mut command: Command) -> Self {
        let mut child = command.spawn().expect("start a program");
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let stderr = child.stderr.take().expect("standard error is a pipe");
        Self {
            what: what.to_owned(),
            child,
            stdout,
            heard: Vec::new(),
            stderr: tokio::spawn(read_all(stderr)),
        }
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        let pid = self.child.id().expect("the program was not waited for");
        Pid::from_raw(pid.cast_signed())
    }

    /// Waits until `text` was said; everything said so far.
    pub async fn hear(&mut self, text: &str) -> String {
        let what = format!("{text:?} from {}", self.what);
        within(&what, async {
            loop {
                let heard = String::from_utf8_lossy(&self.heard).into_owned();
                if heard.contains(text) {
                    return heard;
                }
                let read = self.stdout.read_buf(&mut self.heard).await;
                assert!(
                    read.is_ok_and(|read| read > 0),
                    "the end, not {what}: {heard}"
                );
            }
        })
        .await
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        processes::send(self.pid(), signal);
    }

    /// Waits for its end.
    pub async fn end(mut self) -> Said {
        let what = format!("the end of {}", self.what);
        let status = within(&what, async {
            self.stdout
                .read_to_end(&mut self.heard)
                .await
                .expect("read");
            self.child.wait().await.expect("wait for a program")
        })
        .await;
        let stderr = within(&what, self.stderr).await.expect("read stderr");
        let output = Output {
            status,
            stdout: self.heard,
            stderr,
        };
        Said::of(self.what, &output)
    }
}

async fn read_all(mut source: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was read before an error is still worth showing.
    let _ = source.read_to_end(&mut bytes).await;
    bytes
}
