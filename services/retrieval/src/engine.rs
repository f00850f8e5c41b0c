//! The index of one agent.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::database::{Database, Hash};
use crate::document::Source;
use crate::embed::LazyTable;
use crate::error::Error;
use crate::part;
use crate::search::{self, Scratch};
use crate::snapshot::{DocumentEntry, Live, Snapshot};

mod closer;
mod fallback;
mod find;
mod fuse;
mod keep;
mod named;
mod open;
mod order;
mod put;
mod recall;
mod rescore;

pub use put::Change;

/// What an index is opened with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The folder of the static table; without it only keywords are searched.
    pub table: Option<PathBuf>,
}

/// How an index was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// There was none; it is empty.
    New,
    /// As it was left.
    Kept,
    /// It was damaged or of a later version, and is empty now: everything is to
    /// be put again.
    Rebuilt {
        /// What was wrong with the old one.
        reason: String,
    },
}

/// The index of one agent: documents go in, answers come out.
///
/// All methods block, from any thread. A search waits for nothing; two changes
/// wait for each other.
#[derive(Debug)]
pub struct Engine {
    folder: PathBuf,
    writer: Mutex<Database>,
    reader: Mutex<Database>,
    snapshot: RwLock<Arc<Snapshot>>,
    table: LazyTable,
    scratch: Mutex<Scratch>,
    /// Passages that only the fallback has.
    waiting: AtomicUsize,
}

/// How much an index has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Documents.
    pub documents: usize,
    /// Passages and messages.
    pub passages: usize,
    /// On disk, in bytes.
    pub size: u64,
    /// Passages whose vectors the table that is installed did not make; they
    /// are found by keywords until [`Engine::maintain`] has made them anew.
    pub stale: usize,
    /// Passages whose part of the index was lost and is being made again; they
    /// are found by SQLite's index of words until [`Engine::maintain`] has made
    /// it.
    pub waiting: usize,
    /// Why there are no vectors at all.
    pub problem: Option<String>,
}

/// A document that is in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub path: String,
    /// Unix milliseconds of its last change.
    pub modified_ms: i64,
}

/// A passage as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// First line, counted from 1; 0 when there is none.
    pub line: u32,
    /// Last line.
    pub last_line: u32,
    /// The message's id.
    pub message: Option<String>,
    /// Who said it; empty when nobody is known.
    pub speaker: String,
    /// Unix milliseconds, where it has a time of its own.
    pub timestamp_ms: Option<i64>,
    /// The text. Neighbours in one file can overlap.
    pub text: String,
}

/// A text that has no vector yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The hash under which the vector is stored.
    pub hash: Hash,
    /// The text.
    pub text: String,
}

impl Engine {
    /// The paths of all documents with their stamps.
    pub fn known(&self) -> Result<BTreeMap<String, String>, Error> {
        let documents = self.reader().documents()?.into_iter();
        Ok(documents.map(|row| (row.path, row.stamp)).collect())
    }

    /// The documents from `source`.
    pub fn documents(&self, source: Source) -> Result<Vec<Known>, Error> {
        let documents = self.reader().documents()?.into_iter();
        let documents = documents.filter(|row| row.source == source);
        let known = documents.map(|row| Known {
            path: row.path,
            modified_ms: row.modified_ms,
        });
        Ok(known.collect())
    }

    /// The passages of the document at `path`, in order; None when there is no
    /// such document.
    pub fn passages(&self, path: &str) -> Result<Option<Vec<Passage>>, Error> {
        let reader = self.reader();
        let Some(document) = reader.document(path)? else {
            return Ok(None);
        };
        let mut passages = Vec::new();
        for row in reader.parts_of(document.id)? {
            let part = reader.part(row.id)?;
            passages.extend(part.into_iter().flat_map(|(part, _)| passages_of(part)));
        }
        Ok(Some(passages))
    }

    /// Documents and passages, which costs nothing to ask.
    pub fn count(&self) -> (usize, usize) {
        let snapshot = self.snapshot();
        (snapshot.documents.len(), snapshot.size().units)
    }

    /// How much there is, on the disk too.
    pub fn status(&self) -> Status {
        let snapshot = self.snapshot();
        let (table, problem) = match self.table.get() {
            Ok(table) => (table.identity(), None),
            Err(reason) => (0, Some(reason)),
        };
        let stale = snapshot
            .live
            .iter()
            .filter(|live| live.segment.table() != table);
        Status {
            documents: snapshot.documents.len(),
            passages: snapshot.size().units,
            size: size(&self.folder),
            waiting: self.waiting.load(Ordering::Relaxed),
            stale: stale.map(|live| live.size().units).sum(),
            problem,
        }
    }

    /// Up to `limit` texts of which `model` has made no vector, newest first.
    pub fn missing_vectors(&self, model: &str, limit: usize) -> Result<Vec<Missing>, Error> {
        let mut missing: Vec<Missing> = Vec::new();
        let mut seen = HashSet::new();
        let mut parts = self.reader().parts(false)?;
        parts.sort_unstable_by_key(|row| std::cmp::Reverse(row.id));
        for row in parts {
            // Not held all the time: searches read too.
            let reader = self.reader();
            let Some((part, _)) = reader.part(row.id)? else {
                continue;
            };
            let units = 0..part.units.len();
            let texts = units.flat_map(|unit| [part.meaning(unit), part.window_meaning(unit)]);
            for text in texts.flatten() {
                let hash = Hash::of(&text);
                if seen.insert(hash) && reader.vector(model, hash)?.is_none() {
                    missing.push(Missing { hash, text });
                }
                if missing.len() >= limit {
                    return Ok(missing);
                }
            }
        }
        Ok(missing)
    }

    /// Keeps vectors that `model` made.
    pub fn store_vectors(&self, model: &str, vectors: &[(Hash, Vec<f32>)]) -> Result<(), Error> {
        use crate::embed::vector::Quantised;
        self.writer().transaction(|database| {
            for (hash, vector) in vectors {
                database.put_vector(model, *hash, &Quantised::new(vector))?;
            }
            Ok(())
        })
    }

    /// Gives back memory that is only good for the next search.
    pub fn release(&self) {
        self.table.release();
        *self.scratch() = Scratch::default();
        self.reader().shrink();
        self.writer().shrink();
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, snapshot: Snapshot) {
        *self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }

    fn scratch(&self) -> MutexGuard<'_, Scratch> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Database> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reader(&self) -> MutexGuard<'_, Database> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn passages_of(part: part::Part) -> impl Iterator<Item = Passage> {
    let first = part.line;
    part.units.into_iter().map(move |unit| Passage {
        line: first + unit.line,
        last_line: first + unit.last_line,
        message: unit.message,
        speaker: unit.speaker,
        timestamp_ms: unit.timestamp_ms,
        text: unit.text,
    })
}

/// Of the files in `folder`, in bytes; what cannot be read counts nothing.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum()
}

#[cfg(test)]
mod tests;
