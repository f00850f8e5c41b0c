//! Writing to a CLI's standard input, line by line.

use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Lines that may wait for a CLI that does not read. One that asks many things
/// at once is answered as often before it reads.
const LINES: usize = 1024;

/// Bytes of all of them: an answer has what was asked in it.
const BYTES: u32 = 32 * 1024 * 1024;

/// Lines that wait, and the room that they take.
pub(crate) type Waiting = (String, OwnedSemaphorePermit);

/// The CLI's standard input. It ends when every copy of this is dropped.
#[derive(Debug, Clone)]
pub(crate) struct CliInput {
    lines: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

impl CliInput {
    /// Says `first` first, whether or not anything else is said.
    pub(crate) fn new(mut stdin: UnixStream, first: String) -> Self {
        let (lines, mut waiting) = mpsc::channel::<Waiting>(LINES);
        tokio::spawn(async move {
            // A CLI that ended without reading says so by its exit.
            if stdin.write_all(first.as_bytes()).await.is_err() {
                return;
            }
            while let Some((line, _room)) = waiting.recv().await {
                if stdin.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        Self::of(lines)
    }

    fn of(lines: mpsc::Sender<Waiting>) -> Self {
        let room = Arc::new(Semaphore::new(BYTES as usize));
        Self { lines, room }
    }

    /// Says everything to who reads the other end.
    #[cfg(fuzzing)]
    pub(crate) fn heard() -> (Self, mpsc::Receiver<Waiting>) {
        let (lines, heard) = mpsc::channel(LINES);
        (Self::of(lines), heard)
    }

    /// Says lines at once. There is room for them, unless the CLI does not read
    /// what it asked for; then they are lost.
    pub(crate) fn say_now(&self, lines: &[serde_json::Value]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let room = Arc::clone(&self.room).try_acquire_many_owned(bytes(&text));
        // As below.
        let is_lost = room.map_or(true, |room| {
            let sent = self.lines.try_send((text, room));
            matches!(sent, Err(TrySendError::Full(_)))
        });
        if is_lost {
            tracing::warn!("the CLI does not read; an answer is lost");
        }
    }

    /// Says a line; it is given its end here.
    pub(crate) async fn say(&self, line: &serde_json::Value) {
        let text = format!("{line}\n");
        let room = Arc::clone(&self.room).acquire_many_owned(bytes(&text));
        // Never closed.
        let Ok(room) = room.await else { return };
        // A CLI that is gone wants to hear nothing.
        let _ = self.lines.send((text, room)).await;
    }
}

/// The room that `text` takes; what is longer than all of it has all.
fn bytes(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(BYTES).min(BYTES)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Everything that waits would be held otherwise, a thousand lines of 16 MB.
    #[tokio::test]
    async fn cli_that_does_not_read_has_so_much_wait_for_it_and_no_more() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let input = CliInput::new(ours, String::new());
        let long = json!("x".repeat(BYTES as usize / 4));
        for _ in 0..10 {
            input.say_now(std::slice::from_ref(&long));
        }
        tokio::task::yield_now().await;
        assert!(input.lines.max_capacity() - input.lines.capacity() <= 4);
        assert!(input.room.available_permits() <= BYTES as usize / 4);
        // One that reads again is told again.
        let read = tokio::spawn(async move {
            let mut theirs = theirs;
            let mut all = Vec::new();
            tokio::io::AsyncReadExt::read_to_end(&mut theirs, &mut all)
                .await
                .map(|_| all)
        });
        input.say(&json!("end")).await;
        drop(input);
        let all = read.await.unwrap().unwrap();
        assert!(all.ends_with(b"\"end\"\n") && all.len() <= BYTES as usize);
    }
}
