//! Writing to a CLI's standard input, line by line.

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// Lines that may wait for a CLI that does not read. One that asks many things
/// at once is answered as often before it reads.
const LINES: usize = 1024;

/// The CLI's standard input. It ends when every copy of this is dropped.
#[derive(Debug, Clone)]
pub(crate) struct CliInput {
    lines: mpsc::Sender<String>,
}

impl CliInput {
    /// Says `first` first, whether or not anything else is said.
    pub(crate) fn new(mut stdin: UnixStream, first: String) -> Self {
        let (lines, mut waiting) = mpsc::channel::<String>(LINES);
        tokio::spawn(async move {
            // A CLI that ended without reading says so by its exit.
            if stdin.write_all(first.as_bytes()).await.is_err() {
                return;
            }
            while let Some(line) = waiting.recv().await {
                if stdin.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        Self { lines }
    }

    /// Says everything to who reads the other end.
    #[cfg(fuzzing)]
    pub(crate) fn heard() -> (Self, mpsc::Receiver<String>) {
        let (lines, heard) = mpsc::channel(LINES);
        (Self { lines }, heard)
    }

    /// Says lines at once. There is room for them, unless the CLI does not read
    /// what it asked for; then they are lost.
    pub(crate) fn say_now(&self, lines: &[serde_json::Value]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        // As below.
        if let Err(TrySendError::Full(_)) = self.lines.try_send(text) {
            tracing::warn!("the CLI does not read; an answer is lost");
        }
    }

    /// Says a line; it is given its end here.
    pub(crate) async fn say(&self, line: &serde_json::Value) {
        // A CLI that is gone wants to hear nothing.
        let _ = self.lines.send(format!("{line}\n")).await;
    }
}
