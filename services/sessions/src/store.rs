//! The session index of one agent: `sessions.json` and the transcripts beside it.

mod adopt;
mod behind;
mod entry;
mod file;
mod find;
mod patch;
mod rebuild;
mod shared;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::agent::AgentId;
use crate::disk::{Stamp, keep_as_edited};
use crate::error::Error;
use crate::key::SessionKey;
use crate::time::now_ms;
use crate::transcript::{Count, Origin};

use behind::Behind;
pub use behind::Note;
pub use entry::{BackendSession, ListedEntry, SessionEntry};
use file::Slot;
pub(crate) use file::entry_of;
pub use patch::{
    InvalidPatch, LABEL_LIMIT, Patch, REASONING_LEVELS, THINKING_LEVELS, USAGE_LEVELS,
    VERBOSE_LEVELS, field_names,
};
pub(crate) use rebuild::{candidate, is_transcript, transcripts};
pub use shared::Shared;

/// The index's name in a sessions directory.
pub const INDEX: &str = "sessions.json";

/// The index of one agent, held in memory. The owner decides when it is
/// written, [`Store::flush`], and keeps what changed elsewhere until then:
/// [`Store::notes`], [`Store::bring_up_to_date`].
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    agent: AgentId,
    slots: BTreeMap<String, Slot>,
    behind: Behind,
    /// The file as it was read or written last.
    known: Option<Stamp>,
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
    /// Transcripts that name their session were entered: the index had not been
    /// written since they were begun.
    Adopted {
        /// How many.
        sessions: usize,
    },
    /// Somebody else changed the index while it was held here. Their version was
    /// kept beside it and is not used.
    Edited {
        /// Its name.
        path: PathBuf,
    },
    /// Keys that are there twice. The last entry of each counts; the index as it was
    /// written is kept.
    Twice {
        /// Which.
        keys: Vec<String>,
        /// Where it is kept.
        path: PathBuf,
    },
    /// Entries that cannot be used; they stay in the index.
    Unusable {
        /// How many.
        entries: usize,
    },
    /// Sessions that have one conversation.
    Shared(Shared),
}

impl Store {
    /// Opens the index in `dir`, the sessions directory of `agent`. An index
    /// that is missing, empty or broken is rebuilt from the transcripts, and
    /// sessions that it does not have yet are entered.
    pub fn open(dir: &Path, agent: AgentId, now_ms: i64) -> Result<(Self, Vec<Notice>), Error> {
        let mut store = Self {
            dir: dir.to_owned(),
            agent,
            slots: BTreeMap::new(),
            behind: Behind::default(),
            known: None,
        };
        let path = store.path();
        store.known = Stamp::of(&path);
        let mut notices = Vec::new();
        match file::read(&path)? {
            file::IndexFile::Index(written) => {
                if !written.twice.is_empty() {
                    let path = keep_as_edited(&path, now_ms)?;
                    let keys = written.twice;
                    notices.push(Notice::Twice { keys, path });
                    // Otherwise each start would keep one more copy.
                    store.behind.has_other_keys();
                }
                store.take(written.index, &mut notices);
                store.adopt(&mut notices)?;
            }
            file::IndexFile::Nothing => store.rebuild(&mut notices)?,
            file::IndexFile::Broken(reason) => {
                let path = crate::disk::set_aside(&path, now_ms)?;
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

    /// The directory that the index and the transcripts are in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The session of `key`, if there is one.
    pub fn get(&self, key: &SessionKey) -> Option<&SessionEntry> {
        self.slots.get(key.as_str())?.session()
    }

    /// The session of `key`, to be changed; the index is dirty afterwards.
    pub fn get_mut(&mut self, key: &SessionKey) -> Option<&mut SessionEntry> {
        let entry = self.slots.get_mut(key.as_str())?.session_mut()?;
        self.behind.changed(key.as_str());
        Some(entry)
    }

    /// The session of `key`, created when there is none; true when it was.
    pub fn resolve_or_create(&mut self, key: &SessionKey, now_ms: i64) -> (SessionEntry, bool) {
        if let Some(entry) = self.get(key) {
            return (entry.clone(), false);
        }
        (self.create(key, Uuid::new_v4().to_string(), now_ms), true)
    }

    /// A new session under `key` with the id `id`.
    pub fn create(&mut self, key: &SessionKey, id: String, now_ms: i64) -> SessionEntry {
        let mut entry = SessionEntry::new(id, key.chat_type(), now_ms);
        if let Some(Slot::Kept(value)) = self.slots.remove(key.as_str()) {
            entry.set("openclawReplaced", value);
        }
        self.insert(key, entry.clone());
        entry
    }

    /// Puts a session under `key`; what was there is returned.
    pub fn insert(&mut self, key: &SessionKey, entry: SessionEntry) -> Option<SessionEntry> {
        let slot = Slot::session_of(entry);
        let before = self.slots.insert(key.to_string(), slot);
        match &before {
            Some(Slot::Session(_)) => self.behind.changed(key.as_str()),
            _ => self.behind.has_other_keys(),
        }
        before.and_then(Slot::into_session)
    }

    /// Takes the session of `key` out of the index.
    pub fn remove(&mut self, key: &SessionKey) -> Option<SessionEntry> {
        self.get(key)?;
        self.behind.has_other_keys();
        self.slots.remove(key.as_str()).and_then(Slot::into_session)
    }

    /// All sessions, in the order of their keys.
    pub fn sessions(&self) -> impl Iterator<Item = (&str, &SessionEntry)> {
        self.slots
            .iter()
            .filter_map(|(key, slot)| Some((key.as_str(), slot.session()?)))
    }

    /// Sessions that have one conversation.
    fn shared(&self) -> Vec<Shared> {
        shared::shared(self.sessions())
    }

    /// Whether another session than that of `key` has the transcript that it has.
    pub fn shares_transcript(&self, key: &SessionKey) -> bool {
        let own = self.get(key).map(transcript_name);
        let mut others = self.sessions().filter(|(other, _)| *other != key.as_str());
        own.is_some_and(|own| others.any(|(_, entry)| transcript_name(entry) == own))
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
        self.dir.join(transcript_name(entry))
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

    /// Notes the length and the messages of a transcript, which were counted or are known.
    pub fn set_count(&mut self, key: &SessionKey, count: Count) {
        let slot = self.slots.get_mut(key.as_str());
        if let Some(entry) = slot.and_then(Slot::session_mut)
            && (entry.counted() != count || !entry.is_counted())
        {
            if entry.counted() != count {
                self.behind.changed(key.as_str());
            }
            entry.set_counted(count);
        }
    }

    /// Notes that `messages` were appended to a transcript of `before` bytes.
    /// A transcript that was not counted up to there stays uncounted.
    pub fn count_appended(&mut self, key: &SessionKey, before: u64, after: u64, messages: u64) {
        let Some(known) = self.get(key).map(SessionEntry::counted) else {
            return;
        };
        if known.bytes == before {
            let count = Count {
                bytes: after,
                messages: known.messages + messages,
            };
            self.set_count(key, count);
        } else if let Some(entry) = self.get_mut(key) {
            entry.distrust_count();
        }
    }

    /// Whether memory knows more than the file.
    pub fn is_dirty(&self) -> bool {
        self.behind.is_dirty()
    }

    /// Whether memory knows more than the file and the notes.
    pub fn is_unnoted(&self) -> bool {
        self.behind.is_unnoted()
    }

    /// Whether notes were taken that the file does not have.
    pub fn has_notes(&self) -> bool {
        self.behind.has_notes()
    }

    /// Whether the file itself is to be written for what changed: sessions came or went, or it
    /// is small. Notes do for the rest, as long as its owner likes: there is one for each session.
    pub fn wants_file(&self) -> bool {
        self.behind.wants_file(self.known.map_or(0, Stamp::length))
    }

    /// The sessions that changed since they were noted last. A session that is
    /// new is in no note: the file has to name it.
    ///
    /// # Errors
    /// An entry cannot be encoded.
    pub fn notes(&self) -> Result<Vec<Note>, Error> {
        let entries = self
            .behind
            .keys()
            .filter_map(|key| Some((key, self.slots.get(key)?.session()?)));
        let base = self
            .known
            .map_or_else(String::new, |known| known.to_string());
        entries
            .map(|(key, entry)| Note::of(&self.agent, key, entry, &base))
            .collect::<Result<_, _>>()
            .map_err(|source| Error::Encode {
                path: self.path(),
                source,
            })
    }

    /// What changed is kept: all that [`Store::notes`] gave.
    pub fn noted(&mut self) {
        self.behind.note();
    }

    /// Takes over notes that the file had not been written after. One that is
    /// older than the file's entry is passed over, as is one of a session that
    /// the file does not have any more. Returns how many were newer.
    pub fn bring_up_to_date(&mut self, notes: &[Note]) -> usize {
        let base = self
            .known
            .map_or_else(String::new, |known| known.to_string());
        let mut newer = 0;
        if !notes.is_empty() {
            // They are a crash's, and are not to outlive it for long.
            self.behind.note();
            self.behind.has_other_keys();
        }
        for note in notes {
            let Some(entry) = note.session() else {
                continue;
            };
            let Some(slot @ Slot::Session(_)) = self.slots.get_mut(&note.key) else {
                continue;
            };
            let there = slot.session().map_or(0, SessionEntry::updated_at);
            // Somebody wrote the file since: only what is later counts.
            let is_newer = note.base == base || entry.updated_at() > there;
            if is_newer {
                *slot = Slot::session_of(entry);
                self.behind.changed(&note.key);
                newer += 1;
            }
        }
        newer
    }

    /// Writes the index, durably; readers see the old or the new one. What
    /// somebody else wrote there meanwhile is kept beside it, and told of.
    pub fn flush(&mut self) -> Result<Option<Notice>, Error> {
        if !self.is_dirty() {
            return Ok(None);
        }
        let path = self.path();
        let found = Stamp::of(&path);
        let edited = if found.is_some() && found != self.known {
            Some(keep_as_edited(&path, now_ms())?)
        } else {
            None
        };
        file::write(&path, &self.slots)?;
        self.known = Stamp::of(&path);
        self.behind = Behind::default();
        Ok(edited.map(|path| Notice::Edited { path }))
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
        notices.extend(self.shared().into_iter().map(Notice::Shared));
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
        self.behind.has_other_keys();
        Ok(())
    }

    fn adopt(&mut self, notices: &mut Vec<Notice>) -> Result<(), Error> {
        let sessions = adopt::adopt(&self.dir, &self.agent, &mut self.slots)?;
        if sessions > 0 {
            notices.push(Notice::Adopted { sessions });
            self.behind.has_other_keys();
        }
        Ok(())
    }
}

/// What an index knows of the transcripts beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// All that name their session.
    All,
    /// All but so many.
    Missing(usize),
    /// There is no index, and there are transcripts.
    Nothing,
    /// The index cannot be read.
    Broken(String),
}

/// Looks whether [`Store::open`] would have something to mend in `dir`, the
/// sessions directory of `agent`; changes nothing.
///
/// # Errors
/// The directory or the index cannot be read.
pub fn known(dir: &Path, agent: &AgentId) -> Result<Known, Error> {
    match file::read(&dir.join(INDEX))? {
        file::IndexFile::Index(written) => {
            let mut slots = file::slots(written.index, agent);
            Ok(match adopt::adopt(dir, agent, &mut slots)? {
                0 => Known::All,
                count => Known::Missing(count),
            })
        }
        file::IndexFile::Nothing => {
            let is_empty = rebuild::scan(dir, agent)?.sessions.is_empty();
            Ok(if is_empty { Known::All } else { Known::Nothing })
        }
        file::IndexFile::Broken(problem) => Ok(Known::Broken(problem)),
    }
}

/// Sessions of the index in `dir` that have one conversation; none where it cannot be read,
/// which [`known`] tells.
///
/// # Errors
/// The index cannot be read.
pub fn shared(dir: &Path, agent: &AgentId) -> Result<Vec<Shared>, Error> {
    let file::IndexFile::Index(written) = file::read(&dir.join(INDEX))? else {
        return Ok(Vec::new());
    };
    let slots = file::slots(written.index, agent);
    let sessions = slots
        .iter()
        .filter_map(|(key, slot)| Some((key.as_str(), slot.session()?)));
    Ok(shared::shared(sessions))
}

/// The name of a session's transcript in the sessions directory.
pub(crate) fn transcript_name(entry: &SessionEntry) -> String {
    let named = entry.session_file().map(Path::new);
    let name = named
        .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    match name {
        Some(name) => name.to_owned(),
        None => format!("{}.jsonl", entry.session_id()),
    }
}
