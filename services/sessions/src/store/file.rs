//! The index file.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, fs};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::SessionEntry;
use crate::agent::AgentId;
use crate::disk;
use crate::error::Error;
use crate::key::SessionKey;

pub(super) type RawIndex = Map<String, Value>;

/// An index as it was written.
pub(super) struct Written {
    /// Of what is there twice, the last.
    pub(super) index: RawIndex,
    /// Keys that are there more than once, which somebody wrote by hand.
    pub(super) twice: Vec<String>,
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Written;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("sessions by their keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
        let (mut index, mut twice) = (RawIndex::new(), Vec::new());
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if index.insert(key.clone(), value).is_some() && !twice.contains(&key) {
                twice.push(key);
            }
        }
        Ok(Written { index, twice })
    }
}

/// What the index has under a key.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Slot {
    /// A session.
    Session(Box<SessionEntry>),
    /// Something that is none and is kept as it is.
    Kept(Value),
}

pub(super) enum IndexFile {
    Index(Written),
    /// No file, or one of 0 bytes, which a crash of another writer leaves.
    Nothing,
    /// Not an index, and why.
    Broken(String),
}

impl Slot {
    pub(super) fn session_of(mut entry: SessionEntry) -> Self {
        // It may have had another key.
        entry.forget_listed();
        Self::Session(Box::new(entry))
    }

    pub(super) fn session(&self) -> Option<&SessionEntry> {
        match self {
            Self::Session(entry) => Some(entry),
            Self::Kept(_) => None,
        }
    }

    pub(super) fn into_session(self) -> Option<SessionEntry> {
        match self {
            Self::Session(entry) => Some(*entry),
            Self::Kept(_) => None,
        }
    }

    /// For a change: every one of an entry that is in the index goes this way.
    pub(super) fn session_mut(&mut self) -> Option<&mut SessionEntry> {
        match self {
            Self::Session(entry) => {
                entry.forget_listed();
                Some(entry)
            }
            Self::Kept(_) => None,
        }
    }
}

pub(super) fn read(path: &Path) -> Result<IndexFile, Error> {
    let Some(bytes) = disk::if_there(fs::read(path)).map_err(Error::io("read", path))? else {
        return Ok(IndexFile::Nothing);
    };
    if bytes.trim_ascii().is_empty() {
        return Ok(IndexFile::Nothing);
    }
    Ok(match serde_json::from_slice(&bytes) {
        Ok(index) => IndexFile::Index(index),
        Err(error) => IndexFile::Broken(error.to_string()),
    })
}

/// Sorts an index into sessions and what is none. Keys of older forms become
/// canonical unless their canonical form is there too.
pub(super) fn slots(raw: RawIndex, agent: &AgentId) -> BTreeMap<String, Slot> {
    let mut slots = BTreeMap::new();
    let mut older = Vec::new();
    for (key, value) in raw {
        let slot = slot(value);
        match canonical(&key, agent) {
            Some(canonical) if canonical != key => older.push((key, canonical, slot)),
            _ => {
                slots.insert(key, slot);
            }
        }
    }
    for (key, canonical, slot) in older {
        let free = !slots.contains_key(&canonical);
        slots.insert(if free { canonical } else { key }, slot);
    }
    slots
}

fn slot(value: Value) -> Slot {
    match SessionEntry::deserialize(&value) {
        Ok(entry) if entry.is_usable() => Slot::session_of(entry),
        _ => Slot::Kept(value),
    }
}

/// The session that an index has under a key, if it is one.
pub(crate) fn entry_of(value: Value) -> Option<SessionEntry> {
    slot(value).into_session()
}

/// The canonical form of a key of this agent. A key that names another agent is
/// somebody else's business and stays as it is.
fn canonical(key: &str, agent: &AgentId) -> Option<String> {
    let key = SessionKey::stored(key, agent).ok()?;
    (key.agent() == agent).then(|| key.to_string())
}

pub(super) fn write(path: &Path, slots: &BTreeMap<String, Slot>) -> Result<(), Error> {
    let bytes = serde_json::to_vec_pretty(slots).map_err(|source| Error::Encode {
        path: path.to_owned(),
        source,
    })?;
    disk::replace(path, &bytes)
}
