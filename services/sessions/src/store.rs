//! The session index of one agent: `sessions.json` and the transcripts beside
//! it.

mod entry;
mod file;
mod rebuild;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::agent::AgentId;
use crate::error::Error;
use crate::key::SessionKey;
use crate::transcript::{self, Origin};

pub use entry::{BackendSession, SessionEntry};
use file::Slot;

/// The index's name in a sessions directory.
const INDEX: &str = "sessions.json";

/// The index of one agent, held in memory. The owner decides when it is
/// written: [`Store::is_dirty`], [`Store::flush`].
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    agent: AgentId,
    slots: BTreeMap<String, Slot>,
    dirty: bool,
}

/// Something about the index that its owner should log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The index could not be read and was set aside.
    SetAside {
        /// Its new name.
        path: PathBuf,
        /// What was wrong with it.
        reason: String,
    },
    /// The index was made anew from the transcripts.
    Rebuilt {
        /// Sessions found.
        sessions: usize,
        /// Transcripts that do not say which session key they belong to.
        guessed: usize,
    },
    /// Entries that cannot be used; they stay in the index.
    Unusable {
        /// How many.
        entries: usize,
    },
}

impl Store {
    /// Opens the index in `dir`, the sessions directory of `agent`. An index
    /// that is missing, empty or broken is rebuilt from the transcripts.
    pub fn open(dir: &Path, agent: AgentId, now_ms: i64) -> Result<(Self, Vec<Notice>), Error> {
        let mut store = Self {
            dir: dir.to_owned(),
            agent,
            slots: BTreeMap::new(),
            dirty: false,
        };
        let path = store.path();
        let mut notices = Vec::new();
        match file::read(&path)? {
            file::Found::Index(raw) => store.take(raw, &mut notices),
            file::Found::Nothing => store.rebuild(&mut notices)?,
            file::Found::Broken(reason) => {
                let path = crate::disk::keep_aside(&path, now_ms)?;
                notices.push(Notice::SetAside { path, reason });
                store.rebuild(&mut notices)?;
            }
        }
        Ok((store, notices))
    }

    /// The agent whose sessions these are.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The session of `key`, if there is one.
    pub fn get(&self, key: &SessionKey) -> Option<&SessionEntry> {
        self.slots.get(key.as_str())?.session()
    }

    /// The session of `key`, to be changed; the index is dirty afterwards.
    pub fn get_mut(&mut self, key: &SessionKey) -> Option<&mut SessionEntry> {
        let entry = self.slots.get_mut(key.as_str())?.session_mut()?;
        self.dirty = true;
        Some(entry)
    }

    /// The session of `key`, created when there is none; true when it was.
    /// The index should be flushed then, or a crash loses the session's id.
    pub fn resolve_or_create(&mut self, key: &SessionKey, now_ms: i64) -> (SessionEntry, bool) {
        if let Some(entry) = self.get(key) {
            return (entry.clone(), false);
        }
        let mut entry = SessionEntry::new(Uuid::new_v4().to_string(), key.chat_type(), now_ms);
        if let Some(Slot::Kept(value)) = self.slots.remove(key.as_str()) {
            entry.set("openclawReplaced", value);
        }
        self.slots
            .insert(key.to_string(), Slot::session_of(entry.clone()));
        self.dirty = true;
        (entry, true)
    }

    /// All sessions, in the order of their keys.
    pub fn sessions(&self) -> impl Iterator<Item = (&str, &SessionEntry)> {
        self.slots
            .iter()
            .filter_map(|(key, slot)| Some((key.as_str(), slot.session()?)))
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.sessions().count()
    }

    /// Whether there is no session.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The transcript of a session. Always a file in the sessions directory:
    /// the index may have been moved here from another machine, and a path in
    /// it is no permission to write elsewhere.
    pub fn transcript_path(&self, entry: &SessionEntry) -> PathBuf {
        let named = entry.session_file().map(Path::new);
        let name = named
            .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
            .and_then(Path::file_name);
        match name {
            Some(name) => self.dir.join(name),
            None => self.transcript_path_of(entry.session_id()),
        }
    }

    /// Where the transcript of a session that is not in the index would be.
    pub fn transcript_path_of(&self, session_id: &str) -> PathBuf {
        self.dir.join(format!("{session_id}.jsonl"))
    }

    /// What a new transcript of the session says of itself.
    pub fn origin(&self, key: &SessionKey, entry: &SessionEntry, cwd: &Path) -> Origin {
        Origin {
            session_id: entry.session_id().to_owned(),
            key: key.clone(),
            cwd: cwd.to_owned(),
        }
    }

    /// The number of messages of a session, counted on from the last time.
    pub fn count_messages(&mut self, key: &SessionKey) -> Result<u64, Error> {
        let Some(entry) = self.get(key) else {
            return Ok(0);
        };
        let known = entry.counted();
        let count = transcript::count(&self.transcript_path(entry), known)?;
        if count != known
            && let Some(entry) = self.get_mut(key)
        {
            entry.set_counted(count);
        }
        Ok(count.messages)
    }

    /// Whether memory knows more than the file.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Writes the index, durably; readers see the old or the new one.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.dirty {
            file::write(&self.path(), &self.slots)?;
            self.dirty = false;
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.dir.join(INDEX)
    }

    fn take(&mut self, raw: file::RawIndex, notices: &mut Vec<Notice>) {
        self.slots = file::slots(raw, &self.agent);
        let entries = self.slots.len() - self.len();
        if entries > 0 {
            notices.push(Notice::Unusable { entries });
        }
    }

    fn rebuild(&mut self, notices: &mut Vec<Notice>) -> Result<(), Error> {
        let found = rebuild::scan(&self.dir, &self.agent)?;
        if found.sessions.is_empty() {
            return Ok(());
        }
        notices.push(Notice::Rebuilt {
            sessions: found.sessions.len(),
            guessed: found.guessed,
        });
        self.slots = found.sessions;
        self.dirty = true;
        Ok(())
    }
}
