//! One output stream, kept in bounded memory.

use std::path::Path;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout_at;

use super::live::Live;
use super::spill::Spill;
use crate::text;

/// Bytes kept from the beginning: what a command says first.
const HEAD_BYTES: usize = 12 * 1024;

/// Bytes kept from the end: where errors and summaries are.
const TAIL_BYTES: usize = 12 * 1024;

/// Read size, that of a pipe's buffer.
const CHUNK_BYTES: usize = 16 * 1024;

/// The beginning and the end of a stream; all of it is in a file when that is
/// not the whole.
#[derive(Debug, Default)]
pub(super) struct Capture {
    name: &'static str,
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    spill: Option<Spill>,
    /// The file could not be made or written; the ends are all there is.
    spill_failed: bool,
}

/// Reads `stream` to its end into `capture`. A read error counts as the end.
pub(super) async fn pump(
    stream: Option<impl AsyncRead + Unpin>,
    capture: &mut Capture,
    live: &Live,
) {
    let Some(mut stream) = stream else { return };
    let mut said = live.stream();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let reading = stream.read(&mut chunk);
        let read = match said.due() {
            None => reading.await,
            Some(due) => match timeout_at(due, reading).await {
                Ok(read) => read,
                Err(_) => {
                    said.flush();
                    continue;
                }
            },
        };
        let Ok(read @ 1..) = read else { return };
        capture.push(&chunk[..read]);
        said.push(&chunk[..read]);
    }
}

impl Capture {
    /// An empty one; the name is that of the file.
    pub(super) fn named(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Where all of it is, when it is more than the text has.
    pub(super) fn file(&self) -> Option<&Path> {
        let spill = self.spill.as_ref().filter(|_| !self.spill_failed)?;
        Some(spill.path())
    }

    /// Everything goes into the file as soon as something will be left out.
    fn keep_all(&mut self, bytes: &[u8]) {
        if self.spill_failed || self.total <= (HEAD_BYTES + TAIL_BYTES) as u64 {
            return;
        }
        let kept = match &mut self.spill {
            Some(spill) => spill.write(bytes),
            // Nothing was left out yet: both ends together are everything.
            empty => Spill::create(self.name).and_then(|spill| {
                let spill = empty.insert(spill);
                spill.write(&self.head)?;
                spill.write(&self.tail)
            }),
        };
        self.spill_failed = kept.is_err();
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let to_head = bytes.len().min(HEAD_BYTES - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        self.tail.extend_from_slice(&bytes[to_head..]);
        self.keep_all(bytes);
        // Twice the size before cutting: each byte is moved at most once.
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
    }

    /// The text, with the elided bytes named where they are missing.
    /// Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn text(&self) -> String {
        let cut = self.tail.len().saturating_sub(TAIL_BYTES);
        let kept = (self.head.len() + self.tail.len() - cut) as u64;
        if kept == self.total {
            let whole = [self.head.as_slice(), &self.tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = &self.head[..self.head.len() - text::incomplete_tail(&self.head)];
        let tail = &self.tail[cut..];
        let tail = &tail[text::continued_head(tail)..];
        let elided = self.total - (head.len() + tail.len()) as u64;
        format!(
            "{}\n[… {elided} bytes elided …]\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(chunks: &[&[u8]]) -> Capture {
        let mut capture = Capture::default();
        chunks.iter().for_each(|chunk| capture.push(chunk));
        capture
    }

    #[test]
    fn capture_what_fits_comes_back_whole() {
        let exact = vec![b'x'; HEAD_BYTES + TAIL_BYTES];
        assert_eq!(capture(&[&exact]).text().as_bytes(), exact);
    }

    #[test]
    fn capture_more_keeps_both_ends_and_names_the_gap() {
        let mut capture = capture(&[b"first "]);
        for _ in 0..1000 {
            capture.push(&[b'.'; 1000]);
        }
        capture.push(b" last");
        let text = capture.text();
        assert!(text.starts_with("first ") && text.ends_with(" last"));
        let elided = capture.total() - (HEAD_BYTES + TAIL_BYTES) as u64;
        assert!(text.contains(&format!("[… {elided} bytes elided …]")));
        assert!(capture.tail.len() <= 2 * TAIL_BYTES);
    }

    #[test]
    fn capture_all_of_it_is_in_a_file_when_it_is_more() {
        let mut capture = Capture::named("test");
        capture.push(&vec![b'a'; HEAD_BYTES + TAIL_BYTES]);
        assert_eq!(capture.file(), None);
        capture.push(b"b");
        capture.push(&vec![b'c'; 3 * TAIL_BYTES]);
        let path = capture.file().unwrap().to_owned();
        let kept = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(kept.len() as u64, capture.total());
        assert_eq!(kept[HEAD_BYTES + TAIL_BYTES], b'b');
    }

    #[test]
    fn capture_no_character_is_broken_at_the_gap() {
        let long = "€".repeat(20_000);
        let text = capture(&[long.as_bytes()]).text();
        assert!(!text.contains('\u{FFFD}'));
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(capture(&[b"a\xFFb"]).text(), "a\u{FFFD}b");
    }
}
