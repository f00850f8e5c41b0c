//! Lines that are no entries: they stay in the transcript, are skipped, and are
//! copied to a file beside it, so that nothing that could still be of use is lost
//! when the transcript is compressed, exported or edited.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::LINE_LIMIT;
use crate::disk;
use crate::error::Error;

/// The ending of the copy's name.
const ENDING: &str = ".corrupt-lines";

/// Only the owner reads conversations.
const PRIVATE_FILE: u32 = 0o600;

/// Lines that one reading tells of. A file that is all rubbish should not fill
/// memory with the places of it.
pub const CORRUPT_LIMIT: usize = 1000;

/// Bytes of a copy. More than that was not a transcript.
const ASIDE_LIMIT: u64 = 2 * LINE_LIMIT as u64;

/// Where the corrupt lines of the transcript at `path` are copied to.
pub fn aside_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ENDING);
    PathBuf::from(name)
}

/// Takes down where a corrupt line begins, unless there are too many.
pub(crate) fn noted(corrupt: &mut Vec<u64>, offset: u64) {
    if corrupt.len() < CORRUPT_LIMIT {
        corrupt.push(offset);
    }
}

/// Copies the lines of `path` that begin at `offsets` to [`aside_path`], durably.
/// Returns how many were not there yet.
///
/// # Errors
/// A file cannot be read or written.
pub fn keep_aside(path: &Path, offsets: &[u64]) -> Result<usize, Error> {
    let lines = lines_at(path, offsets).map_err(Error::io("read", path))?;
    let aside = aside_path(path);
    let known = known(&aside).map_err(Error::io("read", &aside))?;
    let new = unknown(&lines, &known, ASIDE_LIMIT as usize);
    if !new.is_empty() {
        append(&aside, &new.concat()).map_err(Error::io("append to", &aside))?;
        disk::sync_dir(path.parent().unwrap_or(Path::new(".")))?;
    }
    Ok(new.len())
}

/// Those of `lines` that `known` does not have, each once and with its end, as
/// long as all together have at most `limit` bytes.
fn unknown(lines: &[Vec<u8>], known: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let mut seen: HashSet<&[u8]> = known.split(|byte| *byte == b'\n').collect();
    let mut room = limit.saturating_sub(known.len());
    let mut new = Vec::new();
    for line in lines {
        if line.len() < room && seen.insert(line) {
            let whole = [line, &b"\n"[..]].concat();
            room -= whole.len();
            new.push(whole);
        }
    }
    new
}

fn lines_at(path: &Path, offsets: &[u64]) -> io::Result<Vec<Vec<u8>>> {
    let mut source = BufReader::new(File::open(path)?);
    let mut lines = Vec::new();
    for offset in offsets {
        source.seek(SeekFrom::Start(*offset))?;
        let mut line = Vec::new();
        let mut limited = source.by_ref().take(LINE_LIMIT as u64);
        limited.read_until(b'\n', &mut line)?;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    Ok(lines)
}

fn known(aside: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(file) = disk::if_there(File::open(aside))? {
        file.take(ASIDE_LIMIT).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn append(aside: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(PRIVATE_FILE)
        .open(aside)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_down_up_to_the_limit() {
        let mut corrupt = Vec::new();
        for offset in 0..2000 {
            noted(&mut corrupt, offset);
        }
        assert!(corrupt.iter().copied().eq(0..1000));
    }

    #[test]
    fn line_is_kept_once_with_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, b"{}\n\xff rubbish\n{}\nmore\n").unwrap();
        assert_eq!(keep_aside(&path, &[3]).unwrap(), 1);
        assert_eq!(keep_aside(&path, &[3, 16]).unwrap(), 1);
        assert_eq!(keep_aside(&path, &[16, 3]).unwrap(), 0);
        let kept = std::fs::read(aside_path(&path)).unwrap();
        assert_eq!(kept, b"\xff rubbish\nmore\n");
        assert_eq!(kept.len(), 15);
    }

    #[test]
    fn lines_are_kept_as_long_as_there_is_room() {
        let lines = ["four", "five5", "six", "four", "7"].map(|line| line.as_bytes().to_vec());
        let kept = |known: &str, limit| {
            let new = unknown(&lines, known.as_bytes(), limit);
            String::from_utf8(new.concat()).unwrap()
        };
        assert_eq!(kept("", 100), "four\nfive5\nsix\n7\n");
        assert_eq!(kept("six\n7\n", 100), "four\nfive5\n");
        // To the byte; a shorter one takes the place that a longer one left.
        assert_eq!(kept("", 11), "four\nfive5\n");
        assert_eq!(kept("", 10), "four\nsix\n");
        assert_eq!(kept("", 9), "four\nsix\n");
        assert_eq!(kept("", 8), "four\n7\n");
        assert_eq!(kept("abc\n", 9), "four\n");
        assert_eq!(kept("abc\n", 8), "six\n");
        assert_eq!(kept("abc\n", 5), "");
        assert_eq!(kept("abc\n", 3), "");
    }

    #[test]
    fn aside_nothing_is_made_of_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        assert_eq!(keep_aside(&path, &[]).unwrap(), 0);
        assert_eq!(keep_aside(&path, &[3, 100]).unwrap(), 0);
        std::fs::create_dir(aside_path(&path)).unwrap();
        assert!(keep_aside(&path, &[0]).is_err(), "the copy cannot be read");
        std::fs::remove_dir(aside_path(&path)).unwrap();
        assert!(!aside_path(&path).exists());
        assert!(keep_aside(&dir.path().join("none"), &[0]).is_err());
    }
}
