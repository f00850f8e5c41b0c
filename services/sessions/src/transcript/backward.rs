//! Lines of a file from its end on, so that the newest part of a long
//! transcript is read without the rest.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::LINE_LIMIT;

/// Read at once; a turn or two fit in it.
const CHUNK: u64 = 64 * 1024;

/// Stands for a line that is too long, and is no JSON either.
const TOO_LONG: &[u8] = b"#";

/// An iterator over whole lines, last first. Bytes after the last line end are
/// an append that is under way and not a line.
pub(crate) struct Backward<'a> {
    file: &'a File,
    /// Of the file's whole lines, in bytes.
    length: u64,
    /// File offset of `buffer[0]`.
    start: u64,
    /// Unreturned bytes from `start` on, up to and with a line end.
    buffer: Vec<u8>,
    /// Bytes to read next; grows while a line is longer than what was read.
    chunk: u64,
}

impl<'a> Backward<'a> {
    pub(crate) fn new(file: &'a File) -> io::Result<Self> {
        let mut lines = Self {
            file,
            length: 0,
            start: file.metadata()?.len(),
            buffer: Vec::new(),
            chunk: CHUNK,
        };
        while lines.start > 0 && !lines.buffer.contains(&b'\n') {
            lines.read_more()?;
        }
        let whole = lines.buffer.iter().rposition(|byte| *byte == b'\n');
        lines.buffer.truncate(whole.map_or(0, |at| at + 1));
        lines.length = lines.start + lines.buffer.len() as u64;
        Ok(lines)
    }

    /// Where the file's last whole line ends.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Offset and bytes of the line before, without its line end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        if self.buffer.is_empty() {
            return Ok(None);
        }
        self.chunk = CHUNK;
        loop {
            // The last byte is the line's own end.
            let before_end = self.buffer.len() - 1;
            let line_end = self.buffer[..before_end].iter().rposition(|b| *b == b'\n');
            if let Some(at) = line_end {
                let line = self.buffer[at + 1..before_end].to_vec();
                self.buffer.truncate(at + 1);
                return Ok(Some((self.start + at as u64 + 1, entry(line))));
            }
            if self.start == 0 {
                let line = self.buffer[..before_end].to_vec();
                self.buffer.clear();
                return Ok(Some((0, entry(line))));
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        if self.buffer.len() > LINE_LIMIT {
            self.buffer = [TOO_LONG, b"\n"].concat();
        }
        let length = self.chunk.min(self.start);
        self.chunk *= 2;
        let mut front = vec![0; length as usize];
        self.file.read_exact_at(&mut front, self.start - length)?;
        front.extend_from_slice(&self.buffer);
        self.buffer = front;
        self.start -= length;
        Ok(())
    }
}

/// The line, where it is not too long for an entry as lines are read from the beginning.
fn entry(line: Vec<u8>) -> Vec<u8> {
    // Its end counts there.
    if line.len() < LINE_LIMIT {
        line
    } else {
        TOO_LONG.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn backward(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let mut lines = Backward::new(&file).unwrap();
        std::iter::from_fn(|| lines.next_line().unwrap()).collect()
    }

    #[test]
    fn lines_come_last_first_with_their_offsets() {
        let lines = backward(b"one\n\nthree\ntorn");
        let expected: Vec<(u64, &[u8])> = vec![(5, b"three"), (4, b""), (0, b"one")];
        let got: Vec<_> = lines.iter().map(|(at, line)| (*at, &line[..])).collect();
        assert_eq!(got, expected);
        assert!(backward(b"").is_empty());
        assert!(backward(b"torn").is_empty());
    }

    #[test]
    fn lines_longer_than_a_chunk_are_whole() {
        let long = vec![b'x'; 3 * CHUNK as usize + 7];
        let bytes = [b"a\n".as_slice(), &long, b"\nb\n"].concat();
        let lines = backward(&bytes);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], (2, long));
        assert_eq!(lines[2], (0, b"a".to_vec()));
    }

    #[test]
    fn backward_every_chunk_boundary_is_crossed() {
        let line = b"0123456789abcde\n";
        let count = 5 * CHUNK as usize / line.len() + 3;
        let lines = backward(&line.repeat(count));
        assert_eq!(lines.len(), count);
        assert!(lines.iter().all(|(_, bytes)| *bytes == line[..15]));
    }
}
