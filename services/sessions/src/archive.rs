//! Transcripts that were put away: compressed, beside the live ones, under a
//! name that says when and why.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek as _, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::disk;
use crate::error::Error;
use crate::time::{iso_time, unix_ms};
use crate::transcript;

/// zstd's own default is 3; 1 is what OpenClaw uses and is fast enough that a
/// delete of a long conversation is not noticed.
const LEVEL: i32 = 1;

/// What a zstd frame begins with (RFC 8878 §3.1.1).
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The ending of compressed archives.
const COMPRESSED: &str = ".zst";

/// Why a transcript was put away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The session was deleted.
    Deleted,
    /// A new transcript was begun.
    Reset,
}

/// What an archive's name says: `<id>.jsonl.<why>.<time>.<random>.zst`, or the
/// older `<id>.jsonl.<why>.<time>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveName {
    /// The session's id.
    pub session_id: String,
    /// Why it was put away.
    pub why: Why,
    /// When, in Unix milliseconds; 0 when the name does not say it well.
    pub at_ms: i64,
    /// Whether it is compressed.
    pub compressed: bool,
}

impl Why {
    fn word(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Reset => "reset",
        }
    }
}

impl ArchiveName {
    /// What `name` says, when it is an archive's.
    pub fn parse(name: &str) -> Option<Self> {
        let (session_id, rest) = name.split_once(".jsonl.")?;
        let (word, rest) = rest.split_once('.').unwrap_or((rest, ""));
        let why = [Why::Deleted, Why::Reset]
            .into_iter()
            .find(|why| why.word() == word)?;
        let compressed = rest.ends_with(COMPRESSED);
        Some(Self {
            session_id: session_id.to_owned(),
            why,
            at_ms: time_of(rest).unwrap_or_default(),
            compressed,
        })
    }
}

/// Compresses the transcript at `path` into an archive beside it, which is on
/// disk before the transcript is gone. None: there is no such transcript.
pub fn put_away(path: &Path, why: Why, now_ms: i64) -> Result<Option<PathBuf>, Error> {
    let Some(source) = disk::if_there(File::open(path)).map_err(Error::io("open", path))? else {
        return Ok(None);
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut temp = tempfile::Builder::new()
        .prefix(".archive-")
        .suffix(".tmp")
        .tempfile_in(dir)
        .map_err(Error::io("create a temporary file in", dir))?;
    zstd::stream::copy_encode(BufReader::new(source), temp.as_file_mut(), LEVEL)
        .and_then(|()| temp.as_file().sync_all())
        .map_err(Error::io("archive", path))?;
    let archive = archive_path(path, why, now_ms);
    temp.persist_noclobber(&archive)
        .map_err(|error| Error::io("create", &archive)(error.error))?;
    disk::sync_dir(dir)?;
    fs::remove_file(path).map_err(Error::io("remove", path))?;
    disk::sync_dir(dir)?;
    Ok(Some(archive))
}

/// Removes a transcript for good, with what was copied of it; false when there was none.
pub fn remove(path: &Path) -> Result<bool, Error> {
    let aside = transcript::aside_path(path);
    disk::if_there(fs::remove_file(&aside)).map_err(Error::io("remove", &aside))?;
    let removed = disk::if_there(fs::remove_file(path)).map_err(Error::io("remove", path))?;
    if removed.is_none() {
        return Ok(false);
    }
    disk::sync_dir(path.parent().unwrap_or(Path::new(".")))?;
    Ok(true)
}

/// Writes what the archive holds to `target`, which must not be there yet, and
/// makes it durable. `limit` bounds its length in bytes.
pub fn unpack(archive: &Path, target: &Path, limit: u64) -> Result<u64, Error> {
    let failed = |error| Error::io("unpack", archive)(error);
    let mut source = open(archive)?.take(limit + 1);
    let file = disk::create_private(target)?;
    let mut sink = BufWriter::new(file);
    let length = io::copy(&mut source, &mut sink).map_err(failed)?;
    if length > limit {
        return Err(Error::TooLong {
            path: target.to_owned(),
            length: usize::try_from(length).unwrap_or(usize::MAX),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        });
    }
    sink.flush()
        .and_then(|()| sink.get_ref().sync_all())
        .map_err(Error::io("write", target))?;
    Ok(length)
}

/// Opens a transcript or an archive of one for reading. What it is, its first
/// bytes say: a copy may have any name.
pub fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let magic = magic(&mut file)
        .and_then(|magic| file.rewind().map(|()| magic))
        .map_err(Error::io("read", path))?;
    if magic == MAGIC {
        let decoder = zstd::Decoder::new(file).map_err(Error::io("unpack", path))?;
        return Ok(Box::new(decoder));
    }
    Ok(Box::new(file))
}

/// Whether the file at `path` is compressed; None: there is no such file.
pub(crate) fn is_compressed(path: &Path) -> Result<Option<bool>, Error> {
    let file = disk::if_there(File::open(path)).map_err(Error::io("open", path))?;
    let magic = file.map(|mut file| magic(&mut file)).transpose();
    let magic = magic.map_err(Error::io("read", path))?;
    Ok(magic.map(|magic| magic == MAGIC))
}

/// Compresses what is written to it; to be finished.
pub(crate) fn encoder<W: Write>(sink: W) -> io::Result<zstd::Encoder<'static, W>> {
    zstd::Encoder::new(sink, LEVEL)
}

/// The first bytes of a file.
fn magic(file: &mut File) -> io::Result<Vec<u8>> {
    let mut magic = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    Ok(magic)
}

fn archive_path(path: &Path, why: Why, now_ms: i64) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    let time = iso_time(now_ms).replace(':', "-");
    let random = Uuid::new_v4().simple();
    name.push(format!(".{}.{time}.{random}{COMPRESSED}", why.word()));
    path.with_file_name(name)
}

/// `2026-11-20T23-38-10.633Z…`: a colon is no part of a portable file name.
fn time_of(rest: &str) -> Option<i64> {
    let end = rest.find('Z')?;
    let (date, time) = rest[..=end].split_once('T')?;
    unix_ms(&format!("{date}T{}", time.replace('-', ":")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_openclaw_and_older_ones_are_understood() {
        let name = "48a78773.jsonl.deleted.2026-11-20T23-38-10.633Z.db15d60d.zst";
        let archive = ArchiveName::parse(name).unwrap();
        assert_eq!(archive.session_id, "48a78773");
        assert_eq!(archive.at_ms, 1_795_217_890_633);
        assert!(archive.compressed && archive.why == Why::Deleted);
        let older = ArchiveName::parse("a.jsonl.reset.2026-01-02T03-04-05.006Z").unwrap();
        assert!(!older.compressed && older.why == Why::Reset);
        for other in [
            "a.jsonl",
            "a.jsonl.lock",
            "sessions.json",
            "a.jsonl.bak.zst",
        ] {
            assert_eq!(ArchiveName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn archive_holds_the_transcript_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let bytes: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        fs::write(&path, &bytes).unwrap();
        let archive = put_away(&path, Why::Deleted, 1_795_217_890_633)
            .unwrap()
            .unwrap();
        assert!(!path.exists());
        let name = archive.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("s.jsonl.deleted.2026-11-20T23-38-10.633Z."));
        let back = dir.path().join("back.jsonl");
        unpack(&archive, &back, 1 << 20).unwrap();
        assert_eq!(fs::read(&back).unwrap(), bytes);
        assert_eq!(put_away(&path, Why::Deleted, 0).unwrap(), None);
        let short = dir.path().join("short.jsonl");
        assert!(unpack(&archive, &short, 1000).is_err());
    }

    #[test]
    fn transcript_is_removed_with_its_copy_and_what_cannot_be_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let aside = transcript::aside_path(&path);
        assert!(!remove(&path).unwrap());
        for file in [&path, &aside] {
            fs::write(file, "x").unwrap();
        }
        assert!(remove(&path).unwrap());
        assert!(!path.exists() && !aside.exists());
        fs::write(&aside, "x").unwrap();
        assert!(!remove(&path).unwrap());
        assert!(!aside.exists());
        fs::write(&path, "x").unwrap();
        fs::create_dir(&aside).unwrap();
        remove(&path).unwrap_err();
        assert!(path.exists(), "what came of it is told first");
        fs::remove_dir(&aside).unwrap();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        remove(&path).unwrap_err();
    }

    #[test]
    fn archive_is_unpacked_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, "0123456789").unwrap();
        let archive = put_away(&path, Why::Reset, 0).unwrap().unwrap();
        let unpacked = |limit: u64| unpack(&archive, &dir.path().join(limit.to_string()), limit);
        unpacked(9).unwrap_err();
        assert_eq!(unpacked(10).unwrap(), 10);
        assert_eq!(unpacked(11).unwrap(), 10);
        unpack(&archive, &archive, 10).unwrap_err();
    }
}
