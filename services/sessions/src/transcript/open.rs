//! Opening a transcript for appending: what a crash left is put right here.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::append::{Origin, Transcript};
use super::backward::Backward;
use super::entry::Line;
use super::id;
use crate::disk;
use crate::error::Error;

/// A transcript that is ready for appending.
#[derive(Debug)]
pub struct Opened {
    /// The transcript.
    pub transcript: Transcript,
    /// What was put right, to be logged.
    pub repair: Option<Repair>,
}

/// What opening put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// The last line had not been written completely and was cut off; nobody
    /// had been told that it was there.
    TornLine {
        /// How many bytes were cut off.
        bytes: u64,
    },
    /// The last line was whole but for its line end, which was added.
    LineEnd,
}

impl Transcript {
    /// Opens `path`. A file that is not there is created by the first append.
    pub fn open(path: &Path, origin: Origin) -> Result<Opened, Error> {
        let salt = id::salt(&origin.session_id);
        let mut transcript = Self {
            path: path.to_owned(),
            file: None,
            origin,
            salt,
            length: 0,
            synced: 0,
            leaf: None,
            unsynced_name: false,
        };
        let opened = OpenOptions::new().read(true).append(true).open(path);
        let Some(file) = disk::if_there(opened).map_err(Error::io("open", path))? else {
            return Ok(Opened {
                transcript,
                repair: None,
            });
        };
        let repair = put_right(&file).map_err(Error::io("repair the last line of", path))?;
        let failed = Error::io("read", path);
        (transcript.length, transcript.leaf) = end_of(&file).map_err(failed)?;
        transcript.synced = transcript.length;
        transcript.file = Some(file);
        Ok(Opened { transcript, repair })
    }
}

/// Length and the last entry's id.
fn end_of(file: &File) -> io::Result<(u64, Option<String>)> {
    let length = file.metadata()?.len();
    let mut lines = Backward::new(file)?;
    while let Some((_, line)) = lines.next_line()? {
        match Line::parse(&line) {
            Ok(Line::Header(_)) => break,
            Ok(line) => match line.id() {
                Some(id) => return Ok((length, Some(id.to_owned()))),
                None => continue,
            },
            Err(_) => {}
        }
    }
    Ok((length, None))
}

fn put_right(mut file: &File) -> io::Result<Option<Repair>> {
    let length = file.metadata()?.len();
    let whole = end_of_whole_lines(file, length)?;
    if whole == length {
        return Ok(None);
    }
    let mut rest = vec![0; (length - whole).min(super::LINE_LIMIT as u64) as usize];
    file.read_exact_at(&mut rest, whole)?;
    let repair = if Line::parse(&rest).is_ok() {
        file.write_all(b"\n")?;
        Repair::LineEnd
    } else {
        file.set_len(whole)?;
        Repair::TornLine {
            bytes: length - whole,
        }
    };
    file.sync_data()?;
    Ok(Some(repair))
}

/// The offset after the last line end before `length`.
fn end_of_whole_lines(file: &File, length: u64) -> io::Result<u64> {
    const CHUNK: u64 = 4096;
    let mut end = length;
    let mut chunk = [0; CHUNK as usize];
    while end > 0 {
        let size = end.min(CHUNK);
        let bytes = &mut chunk[..size as usize];
        file.read_exact_at(bytes, end - size)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(end - size + at as u64 + 1);
        }
        end -= size;
    }
    Ok(0)
}
