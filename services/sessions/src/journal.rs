//! One wait for the disk for the entries of many sessions: what is appended to
//! several transcripts at once is written to one file too, and that is made
//! durable instead of each of them. 64 files take 64 commits of the file
//! system's journal, this takes one.
//!
//! The transcripts follow when there is time ([`Journal::settle`]), and then the
//! file is emptied. Only a crash of the machine in between makes it needed: what
//! a killed process wrote is still in the page cache. So it is replayed when
//! the machine was booted since, and never over what somebody changed while
//! only the gateway was down.

mod record;
mod replay;

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::error::Error;
use crate::transcript::{self, Transcript};
use record::Written;

/// Fewest transcripts of a batch that are worth it: one or two are as fast by
/// themselves, and need nothing afterwards.
const FEWEST: usize = 3;

/// Most bytes of a batch: what is long takes its time for the bytes, and would
/// take it twice.
const BATCH_LIMIT: usize = 1024 * 1024;

/// Bytes after which the transcripts should follow; some ten thousand entries.
const FULL: u64 = 8 * 1024 * 1024;

/// Bytes after which nothing more is taken, when they cannot follow.
const LIMIT: u64 = 64 * 1024 * 1024;

/// Changes with every boot (proc(5)).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The file, and which transcripts are behind it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Transcripts below it are named relative to it: it may be moved.
    root: PathBuf,
    file: Option<File>,
    length: u64,
    boot_id: String,
    /// Transcripts whose end is durable here and perhaps not in themselves.
    behind: BTreeSet<PathBuf>,
    /// The kernel forgets what it could not write back, so that it has to be
    /// written again before the next try.
    is_forgotten: bool,
}

/// What a crash of the machine had left to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Transcripts that were behind, and got their end.
    pub transcripts: BTreeSet<PathBuf>,
    /// Bytes that were put into them.
    pub bytes: u64,
}

impl Journal {
    /// Opens the journal at `path` for the transcripts below `root`, and brings
    /// those up to date that are behind.
    ///
    /// # Errors
    /// It cannot be read, or a transcript cannot be written; nothing is lost.
    pub fn open(path: &Path, root: &Path) -> Result<(Self, Recovered), Error> {
        let boot_id = std::fs::read_to_string(BOOT_ID).unwrap_or_default();
        Self::open_at(path, root, boot_id.trim().to_owned())
    }

    fn open_at(path: &Path, root: &Path, boot_id: String) -> Result<(Self, Recovered), Error> {
        let mut journal = Self {
            path: path.to_owned(),
            root: root.to_owned(),
            file: None,
            length: 0,
            boot_id,
            behind: BTreeSet::new(),
            is_forgotten: false,
        };
        let mut recovered = Recovered::default();
        if let Some(written) = Written::read(path)? {
            // An unknown boot may be another one.
            if written.boot_id != journal.boot_id || journal.boot_id.is_empty() {
                recovered = replay::apply(&written, root)?;
            }
            let paths = written.extents.iter().map(|extent| root.join(&extent.path));
            journal.behind = paths.collect();
            journal.length = written.length;
        }
        journal.file = Some(disk::open_private(path)?);
        journal.settle()?;
        Ok((journal, recovered))
    }

    /// Makes everything appended to `transcripts` durable, each with what became
    /// of it, in their order. One that failed is to be dropped, see
    /// [`Transcript::sync`].
    pub fn commit(&mut self, mut transcripts: Vec<&mut Transcript>) -> Vec<Result<(), Error>> {
        if transcripts.len() < FEWEST || self.length >= LIMIT || self.write(&transcripts).is_err() {
            // What cannot be written here may still be durable there.
            return transcript::sync_all(transcripts);
        }
        for transcript in &mut transcripts {
            self.behind.insert(transcript.path().to_owned());
            transcript.is_durable_elsewhere();
        }
        transcripts.iter().map(|_| Ok(())).collect()
    }

    /// Whether all transcripts are durable by themselves.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether the transcripts should follow now.
    pub fn is_full(&self) -> bool {
        self.length >= FULL
    }

    /// Whether the end of the transcript at `path` is durable only here. Such a
    /// file must not be removed: it would come back.
    pub fn has(&self, path: &Path) -> bool {
        self.behind.contains(path)
    }

    /// Makes the transcripts themselves durable, and empties the file.
    ///
    /// # Errors
    /// A transcript cannot be written. Everything is kept, to be tried again.
    pub fn settle(&mut self) -> Result<(), Error> {
        if self.length == 0 {
            return Ok(());
        }
        if self.is_forgotten
            && let Some(written) = Written::read(&self.path)?
        {
            replay::apply(&written, &self.root)?;
        }
        if let Err(error) = replay::sync(&self.behind) {
            self.is_forgotten = true;
            return Err(error);
        }
        let failed = || Error::io("empty", &self.path);
        if let Some(file) = &self.file {
            // Durably: what is removed after this must not come back.
            file.set_len(0).map_err(failed())?;
            file.sync_data().map_err(failed())?;
        }
        self.length = 0;
        self.behind.clear();
        self.is_forgotten = false;
        Ok(())
    }

    fn write(&mut self, transcripts: &[&mut Transcript]) -> Result<(), Error> {
        let mut bytes = Vec::new();
        if self.length == 0 {
            record::begin(&mut bytes, &self.boot_id);
        }
        let extents = transcripts.iter().map(|transcript| {
            let path = transcript.path();
            let path = path.strip_prefix(&self.root).unwrap_or(path);
            let (offset, bytes) = transcript.unsynced()?;
            Ok(record::Extent::new(path, offset, bytes))
        });
        let extents = extents.collect::<Result<Vec<_>, Error>>()?;
        record::append(&mut bytes, &extents);
        if bytes.len() > BATCH_LIMIT {
            return Err(Error::TooLong {
                path: self.path.clone(),
                length: bytes.len(),
                limit: BATCH_LIMIT,
            });
        }
        let Some(file) = &self.file else {
            return Err(Error::Interrupted);
        };
        let written = file.write_all_at(&bytes, self.length);
        if let Err(error) = written.and_then(|()| file.sync_data()) {
            // Best effort: half a record is told by its sum.
            let _ = file.set_len(self.length);
            return Err(Error::io("write", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
