//! One output stream, kept in bounded memory.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::text;

/// Bytes kept from the beginning: what a command says first.
const HEAD_BYTES: usize = 12 * 1024;

/// Bytes kept from the end: where errors and summaries are.
const TAIL_BYTES: usize = 12 * 1024;

/// Read size, that of a pipe's buffer.
const CHUNK_BYTES: usize = 16 * 1024;

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
}

/// Reads `stream` to its end into `capture`. A read error counts as the end.
pub(super) async fn pump(stream: Option<impl AsyncRead + Unpin>, capture: &mut Capture) {
    let Some(mut stream) = stream else { return };
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        capture.push(&chunk[..read]);
    }
}

impl Capture {
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let to_head = bytes.len().min(HEAD_BYTES - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        self.tail.extend_from_slice(&bytes[to_head..]);
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
    fn what_fits_comes_back_whole() {
        let exact = vec![b'x'; HEAD_BYTES + TAIL_BYTES];
        assert_eq!(capture(&[&exact]).text().as_bytes(), exact);
    }

    #[test]
    fn more_keeps_both_ends_and_names_the_gap() {
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
    fn no_character_is_broken_at_the_gap() {
        let long = "€".repeat(20_000);
        let text = capture(&[long.as_bytes()]).text();
        assert!(!text.contains('\u{FFFD}'));
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(capture(&[b"a\xFFb"]).text(), "a\u{FFFD}b");
    }
}
