//! The index of one workspace, kept true to the files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Zoned;
use openclaw_daemon::failure;
use openclaw_proto::memory::{BootstrapFile, Hit, Remembered};

use crate::bootstrap::{self, template};
use crate::error::Error;
use crate::note;
use crate::search::{self, Question};
use crate::workspace::Workspace;

mod freshness;

use freshness::{Fresh, READING};

/// One workspace. Its methods block.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    fresh: Mutex<Fresh>,
    /// One note at a time, so that the lines told are right.
    notes: Mutex<()>,
    files: AtomicUsize,
    passages: AtomicUsize,
    /// Whether it was said that a fresh workspace could not be filled; it is
    /// tried again for every conversation.
    complained: AtomicBool,
    /// Whether somebody is already taking in what searches left over.
    catching_up: AtomicBool,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Best first.
    pub(crate) hits: Vec<Hit>,
    /// Whether every file was looked at; false while many are new.
    pub(crate) complete: bool,
}

impl Store {
    /// The store of the workspace at `path`, empty until it is asked for
    /// something.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            fresh: Mutex::default(),
            notes: Mutex::default(),
            files: AtomicUsize::new(0),
            passages: AtomicUsize::new(0),
            complained: AtomicBool::new(false),
            catching_up: AtomicBool::new(false),
        }
    }

    /// Indexed files and passages.
    pub(crate) fn size(&self) -> (usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (load(&self.files), load(&self.passages))
    }

    /// The bootstrap files as of `now`; a fresh workspace is made and filled
    /// first. What of that fails is logged, and the files that are there are
    /// given.
    pub(crate) fn bootstrap(&self, now: &Zoned) -> Result<Vec<BootstrapFile>, Error> {
        let workspace = Workspace::open_or_create(&self.path)?;
        if let Err(error) = template::create_missing(&workspace)
            && !self.complained.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "the workspace's first files are not all there, going on without: {}",
                failure::chain(&error)
            );
        }
        let (files, problems) = bootstrap::load(&workspace, now.date());
        for problem in problems {
            tracing::warn!("a bootstrap file is left out: {}", failure::chain(&problem));
        }
        Ok(files)
    }

    /// The passages that answer the question best.
    pub(crate) fn search(&self, question: &Question<'_>) -> Result<Found, Error> {
        let Some(workspace) = self.open()? else {
            let hits = Vec::new();
            return Ok(Found {
                hits,
                complete: true,
            });
        };
        let mut fresh = lock(&self.fresh);
        let complete = fresh.refresh(&workspace, READING)?;
        self.publish(&fresh);
        Ok(Found {
            hits: search::search(fresh.index(), &workspace, question),
            complete,
        })
    }

    /// Appends a note; the next search finds it.
    pub(crate) fn remember(&self, text: &str, now: &Zoned) -> Result<Remembered, Error> {
        let remembered = {
            let _one = lock(&self.notes);
            note::remember(&self.path, text, now)?
        };
        lock(&self.fresh).expire();
        Ok(remembered)
    }

    /// Takes in what has changed, for a short time; true when that was all.
    pub(crate) fn refresh(&self) -> Result<bool, Error> {
        let Some(workspace) = self.open()? else {
            return Ok(true);
        };
        let mut fresh = lock(&self.fresh);
        let complete = fresh.refresh(&workspace, READING)?;
        self.publish(&fresh);
        Ok(complete)
    }

    /// True for the one caller that is to go on with [`Store::refresh`] until
    /// all is taken in, and to say [`Store::caught_up`] then.
    pub(crate) fn begin_catching_up(&self) -> bool {
        !self.catching_up.swap(true, Ordering::AcqRel)
    }

    /// The caller of [`Store::begin_catching_up`] stops.
    pub(crate) fn caught_up(&self) {
        self.catching_up.store(false, Ordering::Release);
    }

    /// The workspace, if it is there; if not, nothing is known of it any more.
    fn open(&self) -> Result<Option<Workspace>, Error> {
        let workspace = Workspace::open(&self.path)?;
        if workspace.is_none() {
            let mut fresh = lock(&self.fresh);
            *fresh = Fresh::default();
            self.publish(&fresh);
        }
        Ok(workspace)
    }

    fn publish(&self, fresh: &Fresh) {
        let (files, passages) = fresh.index().size();
        self.files.store(files, Ordering::Relaxed);
        self.passages.store(passages, Ordering::Relaxed);
    }

    /// Where the workspace is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The daemon is built to abort on a panic; in tests a poisoned lock shows as
/// the panic that poisoned it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
