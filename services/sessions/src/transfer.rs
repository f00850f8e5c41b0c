//! Taking sessions over from other state directories, and giving them away in
//! a form that OpenClaw imports.

mod export;
mod harmless;
mod index;
mod moves;
mod plan;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::agent::AgentId;
use crate::error::Error;
use crate::key::SessionKey;
use crate::store::{self, SessionEntry, Store};

pub use export::{exported_index, exported_name};
pub use harmless::LeftOut;
pub use moves::{move_in, move_out};
pub use plan::plan;

/// A file of another sessions folder, copied to where it can be worked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFile {
    /// The agent whose folder it was in.
    pub agent: AgentId,
    /// Its name there.
    pub name: String,
    /// The copy.
    pub path: PathBuf,
    /// When the original was changed, in Unix milliseconds.
    pub modified_ms: i64,
}

/// What an agent has here already.
#[derive(Debug, Clone, Default)]
pub struct Existing {
    /// Session ids by key, and whether anything was said in them.
    sessions: HashMap<String, (String, bool)>,
    /// Transcripts, also those that no session has.
    transcripts: HashSet<String>,
}

/// What would be taken over, and what not.
#[derive(Debug, Default)]
pub struct Plan {
    /// Sessions to take over.
    pub takeovers: Vec<Takeover>,
    /// Everything else, and why.
    pub skipped: Vec<Skip>,
    /// What is not taken over of the entries of those that are.
    pub left_out: LeftOut,
}

/// A session to take over.
#[derive(Debug, Clone)]
pub struct Takeover {
    /// The key that it gets.
    pub key: SessionKey,
    /// What the index is to have of it.
    pub entry: SessionEntry,
    /// The copy of its transcript.
    pub staged: PathBuf,
    /// The transcript's name here.
    pub name: String,
    /// Where it is from.
    pub source: Source,
}

/// Where a session was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// In the other index.
    Index,
    /// A transcript that no index named.
    Transcript,
    /// An archive of a deleted or reset session.
    Archive,
}

/// Something that is not taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// The file, or the key in the index.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl Existing {
    /// What `store` has.
    pub fn of(store: &Store) -> Result<Self, Error> {
        let transcripts = store::transcripts(store.dir())?.into_iter();
        let sessions = store.sessions().map(|(key, entry)| {
            let said = entry.counted().messages > 0 || store.transcript_path(entry).exists();
            (key.to_owned(), (entry.session_id().to_owned(), said))
        });
        Ok(Self {
            sessions: sessions.collect(),
            transcripts: transcripts.map(|(_, name)| name).collect(),
        })
    }

    fn has_id(&self, id: &str) -> bool {
        self.transcripts.contains(&format!("{id}.jsonl"))
            || self.sessions.values().any(|(known, _)| known == id)
    }

    /// Whether a session in which something was said has the key.
    fn is_taken(&self, key: &SessionKey) -> bool {
        self.sessions
            .get(key.as_str())
            .is_some_and(|(_, said)| *said)
    }
}

impl Source {
    /// The source in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Transcript => "transcript",
            Self::Archive => "archive",
        }
    }
}
