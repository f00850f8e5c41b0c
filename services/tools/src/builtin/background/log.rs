//! What a command in the background has said.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::builtin::command::{MAX_BYTES, Spill};
use crate::builtin::lines::{self, Limits, Window};
use crate::text;

/// Bytes told at once; the whole is in the file.
const MAX_TOLD_BYTES: u64 = 24 * 1024;

/// Both streams together, in a file.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    inner: Mutex<Inner>,
    news: Notify,
}

#[derive(Debug)]
struct Inner {
    spill: Spill,
    /// Bytes that were said, kept or not.
    total: u64,
    /// Bytes of the file that were told.
    told: u64,
}

/// What was said since the last time.
#[derive(Debug)]
pub(in crate::builtin) struct News {
    text: String,
    bytes: u64,
    /// Bytes in front of the text that are not told.
    skipped: u64,
    path: PathBuf,
    /// The file is full.
    is_full: bool,
}

impl News {
    /// The text under a heading that counts its bytes.
    pub(in crate::builtin) fn section(&self, heading: &str) -> String {
        let mut section = format!("{heading} ({} bytes):\n", self.bytes);
        if self.skipped > 0 {
            section.push_str(&format!(
                "[… {} bytes elided; all of it is in {} …]\n",
                self.skipped,
                self.path.display()
            ));
        }
        section.push_str(&self.text);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            section.push('\n');
        }
        if self.is_full {
            section.push_str(&format!(
                "note: only the first {MAX_BYTES} bytes of what it says are kept\n"
            ));
        }
        section
    }

    /// Whether nothing was said.
    pub(in crate::builtin) fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Log {
    pub(super) fn create(id: &str) -> io::Result<Self> {
        let spill = Spill::create(id)?;
        Ok(Self {
            path: spill.path().to_owned(),
            inner: Mutex::new(Inner {
                spill,
                total: 0,
                told: 0,
            }),
            news: Notify::new(),
        })
    }

    /// Takes what was said. What the disk does not take is counted all the same.
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        inner.total += bytes.len() as u64;
        let _ = inner.spill.write(bytes);
        drop(inner);
        self.news.notify_waiters();
    }

    /// Waits until more was said than has been told.
    pub(super) async fn more(&self) {
        loop {
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            if self.has_news() {
                return;
            }
            news.await;
        }
    }

    fn has_news(&self) -> bool {
        let inner = self.lock();
        inner.spill.written() > inner.told
    }

    /// What was said since the last time, the end of it when that is much.
    pub(super) fn take(&self) -> News {
        let mut inner = self.lock();
        let (from, to) = (inner.told, inner.spill.written());
        inner.told = to;
        let is_full = inner.total > to;
        drop(inner);
        let start = from.max(to.saturating_sub(MAX_TOLD_BYTES));
        let bytes = self.read(start, to).unwrap_or_default();
        let cut = if start > from {
            text::continued_head(&bytes)
        } else {
            0
        };
        News {
            text: String::from_utf8_lossy(&bytes[cut..]).into_owned(),
            bytes: to - from,
            skipped: start - from + cut as u64,
            path: self.path.clone(),
            is_full,
        }
    }

    fn read(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(end - start).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Lines of all that was said.
    pub(super) fn lines(&self, limits: Limits) -> io::Result<Window> {
        lines::read(&mut BufReader::new(File::open(&self.path)?), limits)
    }

    /// Bytes that were said.
    pub(super) fn total(&self) -> u64 {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_told_once() {
        let log = Log::create("news").unwrap();
        assert!(!log.has_news());
        assert!(log.take().is_empty());
        assert_eq!(log.take().section("said"), "said (0 bytes):\n");
        log.push(b"one");
        log.push(b"two");
        assert!(log.has_news());
        let news = log.take();
        assert!(!news.is_empty() && !log.has_news());
        assert_eq!(news.section("said"), "said (6 bytes):\nonetwo\n");
        assert!(log.take().is_empty());
        log.push(b"more\n");
        assert_eq!(log.take().section("said"), "said (5 bytes):\nmore\n");
        assert_eq!(log.total(), 11);
        let limits = Limits {
            skip: 1,
            lines: 1,
            bytes: 100,
            scan: 100,
        };
        log.push(b"last");
        assert_eq!(log.lines(limits).unwrap().text, b"last");
        std::fs::remove_file(&log.path).unwrap();
    }

    #[test]
    fn log_of_much_news_the_end_is_told_and_the_rest_counted() {
        let most = 24 * 1024;
        let log = Log::create("much").unwrap();
        log.push("x".repeat(most).as_bytes());
        let all = log.take();
        assert_eq!((all.text.len(), all.skipped), (most, 0));
        // One byte too many, in the middle of a character.
        let text = format!("{}{}", "€", "y".repeat(most - 2));
        log.push(text.as_bytes());
        let cut = log.take();
        assert_eq!((cut.bytes, cut.skipped), (most as u64 + 1, 3));
        assert_eq!(cut.text, "y".repeat(most - 2));
        let section = cut.section("said");
        let path = log.path.display();
        let head =
            format!("said (24577 bytes):\n[… 3 bytes elided; all of it is in {path} …]\nyyy");
        assert!(section.starts_with(&head), "{}", &section[..200]);
        assert!(!section.contains("note: only"));
        std::fs::remove_file(&log.path).unwrap();
    }

    #[test]
    fn log_what_the_file_does_not_take_is_counted_and_said() {
        let log = Log::create("full").unwrap();
        let piece = vec![b'z'; 1024 * 1024];
        for _ in 0..64 {
            log.push(&piece);
        }
        assert!(!log.take().is_full);
        log.push(b"more");
        assert!(!log.has_news());
        let full = log.take();
        assert!(full.is_empty());
        let note =
            "said (0 bytes):\nnote: only the first 67108864 bytes of what it says are kept\n";
        assert_eq!(full.section("said"), note);
        assert_eq!(log.total(), 64 * 1024 * 1024 + 4);
        std::fs::remove_file(&log.path).unwrap();
    }
}
