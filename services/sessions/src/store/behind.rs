//! What memory knows more than the index file.

use std::collections::BTreeSet;

use serde_json::Value;

use super::entry::SessionEntry;
use super::file::entry_of;
use crate::agent::AgentId;

/// Bytes of a file that is written for every change: a note of it in the ledger
/// would cost as much, and whoever looks into the file sees it as it is.
const SMALL_FILE: u64 = 8 * 1024;

/// A session that changed since the index file was written, to be kept until
/// the file is written again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Whose session it is.
    pub agent: String,
    /// Its key in the index.
    pub key: String,
    /// Its entry, as JSON.
    pub entry: String,
    /// Which state of the file it came after.
    pub base: String,
}

impl Note {
    pub(super) fn of(
        agent: &AgentId,
        key: &str,
        entry: &SessionEntry,
        base: &str,
    ) -> serde_json::Result<Self> {
        Ok(Self {
            agent: agent.to_string(),
            key: key.to_owned(),
            entry: serde_json::to_string(entry)?,
            base: base.to_owned(),
        })
    }

    /// None: it is not a session.
    pub(super) fn session(&self) -> Option<SessionEntry> {
        serde_json::from_str::<Value>(&self.entry)
            .ok()
            .and_then(entry_of)
    }
}

#[derive(Debug, Default)]
pub(super) struct Behind {
    /// Sessions came or went.
    keys_differ: bool,
    /// Sessions that changed since they were noted.
    changed: BTreeSet<String>,
    /// Whether there are notes that the file does not have.
    is_noted: bool,
}

impl Behind {
    pub(super) fn has_other_keys(&mut self) {
        self.keys_differ = true;
    }

    pub(super) fn changed(&mut self, key: &str) {
        if !self.changed.contains(key) {
            self.changed.insert(key.to_owned());
        }
    }

    pub(super) fn note(&mut self) {
        self.changed.clear();
        self.is_noted = true;
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().map(String::as_str)
    }

    pub(super) fn has_notes(&self) -> bool {
        self.is_noted
    }

    pub(super) fn is_unnoted(&self) -> bool {
        self.keys_differ || !self.changed.is_empty()
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.is_unnoted() || self.is_noted
    }

    /// Whether notes do not do for a file of `length` bytes: only it names sessions.
    pub(super) fn wants_file(&self, length: u64) -> bool {
        self.keys_differ || length <= SMALL_FILE
    }
}
