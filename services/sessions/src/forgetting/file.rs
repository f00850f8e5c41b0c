//! Transcripts and their archives, line by line.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::archive;
use crate::disk;
use crate::error::Error;
use crate::time::unix_ms;
use crate::transcript::LINE_LIMIT;
use openclaw_redaction::{Entry, Time, Words, line, pieces};

/// Characters shown on each side of what was found.
const AROUND: usize = 40;

/// What a folder of sessions has beside conversations: the index.
const INDEX: &str = "sessions.json";

/// What was found in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub matches: u64,
    /// The first of them.
    pub excerpts: Vec<Excerpt>,
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The entry's id; empty where the line is not an entry.
    pub entry_id: String,
    /// Who said it: user, assistant, toolResult; empty when nobody.
    pub role: String,
    /// When, in Unix milliseconds; 0 when it does not say.
    pub at_ms: i64,
    /// What is around it.
    pub text: String,
}

/// The files of a folder of sessions that have what was said: transcripts,
/// archives, and copies of both. Not the index. A folder that is not there has none.
///
/// # Errors
/// The folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = disk::if_there(fs::read_dir(folder)).map_err(Error::io("read", folder))?;
    let mut files = Vec::new();
    for entry in entries.into_iter().flatten() {
        let entry = entry.map_err(Error::io("read", folder))?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if is_file && name.contains(".jsonl") && !name.starts_with(INDEX) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Looks for the words in a transcript or an archive of one; at most `limit`
/// places are shown. One that is gone has none.
///
/// # Errors
/// It cannot be read.
pub fn look(path: &Path, words: &Words, limit: usize) -> Result<Seen, Error> {
    let mut seen = Seen::default();
    let source = match archive::open(path) {
        Ok(source) => source,
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(seen);
        }
        Err(error) => return Err(error),
    };
    pieces(BufReader::new(source), LINE_LIMIT, |piece| {
        let mut found = piece.found(words);
        for at in found.by_ref() {
            seen.matches += 1;
            if seen.excerpts.len() < limit {
                let text = line::around(piece.bytes, &at, AROUND);
                seen.excerpts.push(excerpt(piece.bytes, text));
            }
        }
        Ok(found.end())
    })
    .map_err(Error::io("read", path))?;
    Ok(seen)
}

/// Covers the words in a transcript or an archive of one, durably; how often
/// they were there; one that is gone has none. A transcript is changed in place and keeps its length, so
/// that it may be open for appending. It must not be in a journal.
///
/// # Errors
/// It cannot be read or written. Some of the words may still be there; what is
/// there is whole.
pub fn redact(path: &Path, words: &Words) -> Result<u64, Error> {
    match archive::is_compressed(path)? {
        None => Ok(0),
        Some(true) => redact_archive(path, words),
        Some(false) => redact_in_place(path, words),
    }
}

fn redact_in_place(path: &Path, words: &Words) -> Result<u64, Error> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.map_err(Error::io("open", path))?;
    let mut matches = 0;
    let reader = BufReader::new(File::open(path).map_err(Error::io("open", path))?);
    pieces(reader, LINE_LIMIT, |piece| {
        let (count, end) = piece.cover(words);
        if count > 0 {
            file.write_all_at(piece.bytes, piece.offset)?;
        }
        matches += count as u64;
        Ok(end)
    })
    // Also what was appended just before: whoever did may have closed the file.
    .and_then(|()| file.sync_data())
    .map_err(Error::io("write", path))?;
    Ok(matches)
}

fn redact_archive(path: &Path, words: &Words) -> Result<u64, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temp = tempfile::Builder::new()
        .prefix(".archive-")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(Error::io("create a temporary file in", folder))?;
    let mut matches = 0;
    let source = BufReader::new(archive::open(path)?);
    let packed = || {
        let mut sink = archive::encoder(BufWriter::new(temp.as_file()))?;
        pieces(source, LINE_LIMIT, |piece| {
            let (count, end) = piece.cover(words);
            matches += count as u64;
            sink.write_all(piece.through(end))?;
            Ok(end)
        })?;
        sink.finish()?.flush()?;
        temp.as_file().sync_all()
    };
    packed().map_err(Error::io("write again", path))?;
    if matches == 0 {
        return Ok(0);
    }
    temp.persist(path)
        .map_err(|error| Error::io("replace", path)(error.error))?;
    disk::sync_dir(folder)?;
    Ok(matches)
}

fn excerpt(line: &[u8], text: String) -> Excerpt {
    let entry = Entry::of(line);
    let at_ms = match entry.time {
        Time::Text(time) => unix_ms(&time).unwrap_or_default(),
        Time::Number(at_ms) => at_ms,
        Time::Unknown => 0,
    };
    Excerpt {
        entry_id: entry.id,
        role: entry.role,
        at_ms,
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Why;

    const LINE: &str = r#"{"type":"message","id":"e1","timestamp":"2026-03-04T05:06:07.000Z","message":{"role":"user","content":"the key is under the blue flowerpot"}}"#;

    fn words() -> Words {
        Words::new("blue flowerpot").unwrap()
    }

    #[test]
    fn file_keeps_its_length_and_can_be_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let other = r#"{"type":"message","id":"e2","message":{"role":"user","content":"hello"}}"#;
        fs::write(&path, format!("{LINE}\n{other}\n")).unwrap();
        let mut open = OpenOptions::new().append(true).open(&path).unwrap();
        let seen = look(&path, &words(), 5).unwrap();
        assert_eq!(seen.matches, 1);
        let excerpt = &seen.excerpts[0];
        assert_eq!(
            (excerpt.entry_id.as_str(), excerpt.role.as_str()),
            ("e1", "user")
        );
        assert_eq!(excerpt.at_ms, 1_772_600_767_000);
        assert_eq!(excerpt.text, "the key is under the blue flowerpot");
        assert_eq!(redact(&path, &words()).unwrap(), 1);
        open.write_all(format!("{other}\n").as_bytes()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let covered = LINE.replace("blue flowerpot", "**************");
        assert_eq!(text, format!("{covered}\n{other}\n{other}\n"));
        assert_eq!(redact(&path, &words()).unwrap(), 0);
    }

    #[test]
    fn file_that_is_compressed_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, format!("{LINE}\n{LINE}\n")).unwrap();
        let archive = archive::put_away(&path, Why::Reset, 1).unwrap().unwrap();
        assert_eq!(
            files(folder.path()).unwrap(),
            std::slice::from_ref(&archive)
        );
        assert_eq!(look(&archive, &words(), 1).unwrap().excerpts.len(), 1);
        assert_eq!(redact(&archive, &words()).unwrap(), 2);
        assert_eq!(look(&archive, &words(), 1).unwrap(), Seen::default());
        let back = folder.path().join("back");
        archive::unpack(&archive, &back, 1 << 20).unwrap();
        assert!(fs::read_to_string(&back).unwrap().contains("under the ***"));
    }

    #[test]
    fn files_are_what_was_said() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "a.jsonl",
            "a.jsonl.corrupt-lines",
            "sessions.json",
            "x.lock",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names = files(folder.path()).unwrap();
        let names: Vec<_> = names.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["a.jsonl", "a.jsonl.corrupt-lines"]);
        assert_eq!(files(&folder.path().join("none")).unwrap().len(), 0);
        let gone = folder.path().join("gone.jsonl");
        assert_eq!(look(&gone, &words(), 1).unwrap(), Seen::default());
        assert_eq!(redact(&gone, &words()).unwrap(), 0);
    }
}
