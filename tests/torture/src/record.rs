//! What was promised, seen and killed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_proto::event::Kind;

use crate::errand::Errand;

/// Shared by talkers, killer and checks.
#[derive(Debug)]
pub(crate) struct Record(Mutex<RecordState>);

#[derive(Debug, Default)]
pub(crate) struct RecordState {
    /// What keys, sessions and effects of this torture begin with.
    pub(crate) mark: String,
    /// Acknowledged messages, by their idempotency key.
    pub(crate) messages: BTreeMap<String, Message>,
    /// Runs whose own process was killed.
    pub(crate) killed: BTreeSet<String>,
    /// Processes of turns that were killed before they said whose they are.
    pub(crate) nameless_kills: usize,
    /// From a broken stream to the next word of the gateway.
    pub(crate) gaps: Vec<Duration>,
    /// What was said on Telegram, by its update as the ledger names it.
    pub(crate) said: BTreeMap<String, Said>,
    /// What clients saw that must not be.
    pub(crate) wrong: Vec<String>,
}

/// A message in a chat.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) chat: i64,
    pub(crate) errand: Errand,
}

/// A message that was acknowledged.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) errand: Errand,
    pub(crate) run_id: String,
    pub(crate) session_key: String,
    /// How the run ended, as the client was told.
    pub(crate) outcome: Option<Kind>,
}

impl Record {
    pub(crate) fn new(mark: String) -> Self {
        Self(Mutex::new(RecordState {
            mark,
            ..RecordState::default()
        }))
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, RecordState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn's process is about to be killed; `None`: nobody knows whose.
    pub(crate) fn killed(&self, run_id: Option<String>) {
        let mut pages = self.open();
        match run_id {
            Some(run_id) => {
                pages.killed.insert(run_id);
            }
            None => pages.nameless_kills += 1,
        }
    }

    pub(crate) fn wrong(&self, what: String) {
        self.open().wrong.push(what);
    }
}
