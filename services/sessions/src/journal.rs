//! One wait for the disk for the entries of many sessions: what is appended to
//! several transcripts is written to one file too, and that is made durable
//! instead of each of them.
//!
//! The file's blocks are overwritten again and again, so that its size and its
//! place do not change: a record costs one flush of the device, where an append
//! to a transcript costs a commit of the file system's own journal, and 64 of
//! them 64. The transcripts follow in the background ([`Journal::follow`]); there
//! are two files, so that entries can go to one meanwhile.
//!
//! Only a crash of the machine makes the journal needed: what a killed process
//! wrote is still in the page cache. It is replayed at the next start, and never
//! over what somebody else wrote.

mod record;
mod replay;
mod segment;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use crate::error::Error;
use crate::time::now_ms;
use crate::transcript::{self, Transcript};
use segment::Segment;

/// Most bytes of a batch: what is long takes its time for the bytes, and would take it twice.
const BATCH_LIMIT: u64 = 1024 * 1024;

/// Bytes after which the transcripts should follow; some ten thousand entries.
const FULL: u64 = 4 * 1024 * 1024;

/// Bytes of each of the two files after which nothing more is taken, when the
/// transcripts cannot follow.
const LIMIT: u64 = 16 * 1024 * 1024;

/// Changes with every boot (proc(5)).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The two files, and which transcripts are behind them.
#[derive(Debug)]
pub struct Journal {
    /// Transcripts below it are named relative to it: it may be moved.
    root: PathBuf,
    boot_id: String,
    /// Where entries go.
    active: Segment,
    /// Whose transcripts follow, or nothing is in it.
    resting: Segment,
    following: Option<JoinHandle<Result<(), Error>>>,
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
    /// Opens the journal for the transcripts below `root`, and brings those up
    /// to date that are behind. Its files are `path` with another extension;
    /// they are created when they are needed.
    ///
    /// # Errors
    /// It cannot be read, or a transcript cannot be written; nothing is lost.
    pub fn open(path: &Path, root: &Path) -> Result<(Self, Recovered), Error> {
        let boot_id = std::fs::read_to_string(BOOT_ID).unwrap_or_default();
        Self::open_at(path, root, boot_id.trim().to_owned())
    }

    fn open_at(path: &Path, root: &Path, boot_id: String) -> Result<(Self, Recovered), Error> {
        let mut found = Vec::new();
        for extension in ["0.journal", "1.journal"] {
            found.push(Segment::find(&path.with_extension(extension), root)?);
        }
        found.sort_by_key(|(segment, _)| segment.generation());
        let mut recovered = Recovered::default();
        let mut newest = 0;
        for (segment, written) in &found {
            newest = newest.max(segment.generation());
            let Some(written) = written else { continue };
            // An unknown boot may be another one.
            let since = if written.boot_id == boot_id && !boot_id.is_empty() {
                replay::Since::SameBoot
            } else {
                replay::Since::Crash
            };
            let done = replay::apply(written, root, since)?;
            recovered.transcripts.extend(done.transcripts);
            recovered.bytes += done.bytes;
        }
        let mut segments = found.into_iter().map(|(segment, _)| segment);
        let (Some(resting), Some(active)) = (segments.next(), segments.next()) else {
            return Err(Error::Interrupted);
        };
        let mut journal = Self {
            root: root.to_owned(),
            boot_id,
            active,
            resting,
            following: None,
        };
        journal.settle()?;
        // The clock, in case that a head could not be read: what is left of an
        // earlier generation must not pass for one of this.
        let newest = newest.max(u64::try_from(now_ms()).unwrap_or_default());
        journal.active.continue_after(newest);
        journal.resting.continue_after(newest);
        Ok((journal, recovered))
    }

    /// Makes everything appended to `transcripts` durable, each with what became
    /// of it, in their order. One that failed is to be dropped, see
    /// [`Transcript::sync`].
    pub fn commit(&mut self, mut transcripts: Vec<&mut Transcript>) -> Vec<Result<(), Error>> {
        let length: u64 = transcripts.iter().map(|one| one.unsynced_length()).sum();
        // A record of nothing would read as the end.
        if length == 0 || length > BATCH_LIMIT || self.active.length() >= LIMIT {
            return transcript::sync_all(transcripts);
        }
        if self.write(&transcripts).is_err() {
            // What cannot be written here may still be durable there, and what
            // the failed write touched too.
            let results = transcript::sync_all(transcripts);
            let _ = self.settle();
            return results;
        }
        for transcript in &mut transcripts {
            transcript.is_durable_elsewhere();
        }
        transcripts.iter().map(|_| Ok(())).collect()
    }

    /// Whether all transcripts are durable by themselves.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty() && self.resting.is_empty()
    }

    /// Whether the transcripts should follow now.
    pub fn is_full(&self) -> bool {
        self.active.length() >= FULL
    }

    /// Whether the end of the transcript at `path` is durable only here. Such a
    /// file must not be removed or rewritten: it would come back.
    pub fn has(&self, path: &Path) -> bool {
        self.active.has(path) || self.resting.has(path)
    }

    /// Lets the transcripts follow in the background, which frees space here.
    /// Does nothing while that is under way.
    ///
    /// # Errors
    /// A transcript could not be written the last time. Everything is kept, to
    /// be tried again.
    pub fn follow(&mut self) -> Result<(), Error> {
        if self
            .following
            .as_ref()
            .is_some_and(|one| !one.is_finished())
        {
            return Ok(());
        }
        self.join()?;
        if self.resting.is_empty() {
            std::mem::swap(&mut self.active, &mut self.resting);
            self.active.continue_after(self.resting.generation());
        }
        if self.resting.is_empty() {
            return Ok(());
        }
        let work = self.resting.work(&self.root)?;
        let thread = thread::Builder::new().name("transcripts".to_owned());
        match thread.spawn(move || work.run()) {
            Ok(thread) => self.following = Some(thread),
            Err(_) => self.resting.settle(&self.root)?,
        }
        Ok(())
    }

    /// Makes the transcripts themselves durable, and waits for it.
    ///
    /// # Errors
    /// As [`Journal::follow`].
    pub fn settle(&mut self) -> Result<(), Error> {
        // What failed is tried again here.
        let _ = self.join();
        self.resting.settle(&self.root)?;
        self.active.settle(&self.root)
    }

    /// Settles, and removes the files: the transcripts are complete without.
    ///
    /// # Errors
    /// As [`Journal::follow`].
    pub fn close(&mut self) -> Result<(), Error> {
        self.settle()?;
        self.resting.remove()?;
        self.active.remove()
    }

    fn join(&mut self) -> Result<(), Error> {
        let Some(thread) = self.following.take() else {
            return Ok(());
        };
        let done = thread.join().unwrap_or(Err(Error::Interrupted));
        self.resting.followed(&done);
        done
    }

    fn write(&mut self, transcripts: &[&mut Transcript]) -> Result<(), Error> {
        let extents = transcripts.iter().map(|transcript| {
            let path = transcript.path();
            let path = path.strip_prefix(&self.root).unwrap_or(path);
            let (offset, bytes) = transcript.unsynced()?;
            Ok(record::Extent::new(path, offset, bytes))
        });
        let extents = extents.collect::<Result<Vec<_>, Error>>()?;
        let paths = transcripts.iter().map(|transcript| transcript.path());
        self.active.write(&extents, &self.boot_id, paths)
    }
}

#[cfg(test)]
mod tests;
