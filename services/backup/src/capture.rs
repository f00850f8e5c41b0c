//! One file as it is at one moment, with its sum.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ring::digest::{Context, SHA256};
use serde::de::IgnoredAny;
use tempfile::SpooledTempFile;

/// Bytes of a file that are kept in memory.
const IN_MEMORY: usize = 1 << 20;
/// How often a file is read again that changed while it was read.
const TRIES: usize = 5;
/// Bytes at the end of a file that may be a line without its end.
const LINE_LIMIT: u64 = 64 << 20;

/// A file as it was at one moment.
#[derive(Debug)]
pub(crate) struct Captured {
    /// Its content, from the beginning.
    pub(crate) content: SpooledTempFile,
    /// Bytes.
    pub(crate) size: u64,
    /// SHA-256 in hexadecimal digits.
    pub(crate) sha256: String,
}

/// What `file` says; what is too much for the memory lies in `staging`
/// meanwhile. One that is replaced by another is the one it was; one that is
/// written to in its place is read again. Nothing is read beyond `most` bytes.
pub(crate) fn file(file: &mut File, most: u64, staging: &Path) -> io::Result<Captured> {
    let mut tries = 0;
    loop {
        tries += 1;
        let before = file.metadata()?;
        let content = spooled(file, before.len().min(most), staging)?;
        let after = file.metadata()?;
        let state = |it: &std::fs::Metadata| (it.len(), it.mtime(), it.mtime_nsec());
        if state(&before) == state(&after) || tries == TRIES {
            return finish(content);
        }
    }
}

/// The whole lines of `file`, to which somebody appends, in its first `most`
/// bytes.
pub(crate) fn lines(file: &mut File, most: u64, staging: &Path) -> io::Result<Captured> {
    let length = file.metadata()?.len().min(most);
    let mut content = spooled(file, length, staging)?;
    let whole = whole_lines(&mut content)?;
    content.set_len(whole)?;
    finish(content)
}

fn spooled(file: &mut File, length: u64, staging: &Path) -> io::Result<SpooledTempFile> {
    file.rewind()?;
    let mut content = tempfile::spooled_tempfile_in(IN_MEMORY, staging);
    io::copy(&mut file.take(length), &mut content)?;
    Ok(content)
}

fn finish(mut content: SpooledTempFile) -> io::Result<Captured> {
    content.rewind()?;
    let mut sum = Summing::new(&mut content);
    let size = io::copy(&mut sum, &mut io::sink())?;
    let sha256 = sum.finish();
    content.rewind()?;
    Ok(Captured {
        content,
        size,
        sha256,
    })
}

/// Bytes up to the end of the last line that is whole. One without its end is
/// whole when it says something: an editor may have left it so.
fn whole_lines(content: &mut SpooledTempFile) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let length = content.seek(SeekFrom::End(0))?;
    let mut from = length;
    let mut tail = Vec::new();
    while from > 0 && length - from < LINE_LIMIT {
        let step = from.min(STEP);
        from -= step;
        content.seek(SeekFrom::Start(from))?;
        let mut piece = Vec::new();
        Read::by_ref(content).take(step).read_to_end(&mut piece)?;
        let end = piece.iter().rposition(|byte| *byte == b'\n');
        piece.extend_from_slice(&tail);
        if let Some(end) = end {
            let whole = from + end as u64 + 1;
            return Ok(if is_entry(&piece[end + 1..]) {
                length
            } else {
                whole
            });
        }
        tail = piece;
    }
    Ok(if is_entry(&tail) { length } else { from })
}

fn is_entry(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// Reads and sums up.
pub(crate) struct Summing<R> {
    inner: R,
    sum: Context,
}

impl<R: Read> Summing<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            sum: Context::new(&SHA256),
        }
    }

    /// SHA-256 of what was read, in hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        hexadecimal(self.sum.finish().as_ref())
    }
}

impl<R: Read> Read for Summing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.sum.update(&buffer[..count]);
        Ok(count)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn captured(text: &[u8], how: fn(&mut File, u64, &Path) -> io::Result<Captured>) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, text).unwrap();
        let mut captured = how(&mut File::open(&path).unwrap(), u64::MAX, folder.path()).unwrap();
        let mut found = Vec::new();
        captured.content.read_to_end(&mut found).unwrap();
        assert_eq!(captured.size, found.len() as u64);
        let sum = ring::digest::digest(&SHA256, &found);
        assert_eq!(captured.sha256, hexadecimal(sum.as_ref()));
        found
    }

    #[test]
    fn lines_end_with_the_last_whole_one() {
        for (text, whole) in [
            ("", ""),
            ("{\"a\":1}\n", "{\"a\":1}\n"),
            ("{\"a\":1}\n{\"b", "{\"a\":1}\n"),
            ("{\"a\":1}\n{\"b\":2}", "{\"a\":1}\n{\"b\":2}"),
            ("{\"torn", ""),
            ("{}", "{}"),
        ] {
            assert_eq!(captured(text.as_bytes(), lines), whole.as_bytes(), "{text}");
        }
        let long = format!("{{}}\n\"{}", "x".repeat(3 << 20));
        assert_eq!(captured(long.as_bytes(), lines), b"{}\n");
        let whole = format!("{long}\"");
        assert_eq!(captured(whole.as_bytes(), lines), whole.as_bytes());
    }

    #[test]
    fn file_that_grew_is_captured_up_to_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "before and after").unwrap();
        let mut open = File::open(&path).unwrap();
        assert_eq!(file(&mut open, 6, folder.path()).unwrap().size, 6);
    }

    #[test]
    fn file_is_captured_as_it_is() {
        for size in [0, 1, IN_MEMORY, IN_MEMORY + 1] {
            let text = vec![7; size];
            assert_eq!(captured(&text, file), text);
        }
    }
}
