//! Work on the files that is no part of a run.

use std::path::PathBuf;

use super::command::Reply;
use super::ledger::Change;
use super::staged::{Staged, Undo};
use super::state_files::StateFiles;
use crate::fault::Fault;
use crate::feed::Happening;

/// A piece of work whose result is not on disk yet.
pub(super) struct Done<T> {
    value: T,
    file: Option<PathBuf>,
    writes_index: bool,
    changes: Vec<Change>,
    undo: Option<Undo>,
}

/// The work, as the storage thread gets it.
pub(super) type Work = Box<dyn FnOnce(&mut StateFiles) -> Staged + Send>;

impl<T: 'static> Done<T> {
    /// Nothing was changed.
    pub(super) fn looking(value: T) -> Self {
        Self {
            value,
            file: None,
            writes_index: false,
            changes: Vec::new(),
            undo: None,
        }
    }

    /// The index was changed, and is to be on disk before the answer; if it
    /// cannot be, `undo` makes the memory what the disk is.
    pub(super) fn changing(value: T, undo: impl FnOnce(&mut StateFiles) + 'static) -> Self {
        Self {
            value,
            file: None,
            writes_index: true,
            changes: Vec::new(),
            undo: Some(Box::new(undo)),
        }
    }

    /// And entries were appended to this transcript.
    pub(super) fn appending(mut self, file: Option<PathBuf>) -> Self {
        self.file = file;
        self
    }

    /// And the ledger is told of `change` when it is on disk.
    pub(super) fn noting(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// And if that cannot be on disk, `undo` makes the memory what the disk is.
    pub(super) fn undone_by(mut self, undo: impl FnOnce(&mut StateFiles) + 'static) -> Self {
        self.undo = Some(Box::new(undo));
        self
    }

    /// And that is told when it is on disk.
    pub(super) fn telling(self, happening: Happening) -> Self {
        self.noting(Change::Happened(happening))
    }

    fn staged<E: From<Fault> + 'static>(self, reply: Reply<T, E>) -> Staged {
        let mut staged = Staged::new(reply, Ok(self.value));
        staged.changes = self.changes;
        staged.file = self.file;
        staged.writes_index = self.writes_index;
        staged.undo = self.undo;
        staged
    }
}

/// Makes a command of `work`.
pub(super) fn boxed<T: Send + 'static, E: From<Fault> + Send + 'static>(
    work: impl FnOnce(&mut StateFiles) -> Result<Done<T>, E> + Send + 'static,
    reply: Reply<T, E>,
) -> Work {
    Box::new(move |state_files| match work(state_files) {
        Ok(done) => done.staged(reply),
        Err(error) => Staged::refused(reply, error),
    })
}
