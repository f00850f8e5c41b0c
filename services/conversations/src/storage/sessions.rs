//! Operations on sessions other than appending.

mod lifecycle;
mod listing;
pub(super) mod maintenance;
mod takeover;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use openclaw_proto::sessions::{Query, Row, Session, State};
use openclaw_sessions::store::Patch;
use openclaw_sessions::transcript::{Compaction, Count, keep_aside};
use openclaw_sessions::transfer::{Existing, Takeover};
use openclaw_sessions::{AgentId, SessionKey};
use serde_json::{Map, Value};

pub use listing::state;

use super::Storage;
use super::work::Done;
use crate::fault::Fault;
use crate::refusal::Refusal;

/// Sessions of the index.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// The latest first.
    pub rows: Vec<Row>,
    /// How many there are without limit and offset.
    pub total: usize,
    /// The sessions whose messages are not counted yet.
    pub(crate) uncounted: Vec<Uncounted>,
}

/// A session whose messages are not counted yet.
#[derive(Debug, Clone)]
pub(crate) struct Uncounted {
    pub(crate) key: SessionKey,
    pub(crate) transcript: PathBuf,
    /// The count from before this gateway was started.
    pub known: Count,
}

/// One session with everything the index has of it.
#[derive(Debug)]
pub struct Shown {
    /// The session in the form that clients see.
    pub session: Session,
    /// Its entry in `sessions.json`.
    pub entry: Map<String, Value>,
    /// The file of its entries.
    pub transcript: PathBuf,
    /// Whether its messages were counted.
    pub(crate) is_counted: bool,
}

/// The sessions of an agent that can be exported.
#[derive(Debug)]
pub(crate) struct Exportable {
    pub(crate) agent: AgentId,
    /// The index, as OpenClaw imports it.
    pub index: Map<String, Value>,
    /// Each transcript with its name.
    pub(crate) transcripts: Vec<(String, PathBuf)>,
}

/// The treatment of a deleted session's transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// It is compressed and kept.
    Archived,
    /// It is removed.
    Removed,
}

/// Why a session is not told of or changed as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The session does not exist, or the change is not allowed.
    #[error(transparent)]
    Refused(Refusal),
    /// The files cannot be read or written.
    #[error(transparent)]
    Failed(Fault),
}

impl SessionError {
    /// The refusal for the caller; `failed` turns a fault of the files into one.
    pub(crate) fn refusal(self, failed: fn(Fault) -> Refusal) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Failed(fault) => failed(fault),
        }
    }
}

impl From<Refusal> for SessionError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<T: Into<Fault>> From<T> for SessionError {
    fn from(fault: T) -> Self {
        Self::Failed(fault.into())
    }
}

impl Storage {
    /// The sessions that `query` wants, those of `busy` in the state that is said there.
    pub(crate) async fn list(
        &self,
        query: Query,
        busy: HashMap<String, State>,
    ) -> Result<Listed, SessionError> {
        self.work(move |state_files| Ok(Done::looking(state_files.list(&query, &busy)?)))
            .await
    }

    /// The given fields of sessions' entries, by agent and key.
    pub async fn fields(
        &self,
        sessions: Vec<(String, String)>,
        fields: &'static [&'static str],
    ) -> Result<Vec<Map<String, Value>>, Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.fields(&sessions, fields))))
            .await
    }

    /// Notes what was counted.
    pub(crate) async fn counted(&self, counts: Vec<(SessionKey, Count)>) -> Result<(), Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.counted(&counts)?)))
            .await
    }

    /// The key of the session that `text` means, of `agent` or, when it is not
    /// given, of any agent, `default` first.
    pub async fn resolve(
        &self,
        text: String,
        agent: Option<AgentId>,
        default: AgentId,
    ) -> Result<SessionKey, SessionError> {
        self.work(move |state_files| {
            Ok(Done::looking(state_files.resolve(&text, agent, &default)?))
        })
        .await
    }

    /// The session of `key`, if there is one.
    pub async fn show(&self, key: SessionKey) -> Result<Option<Shown>, Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.show(&key)?)))
            .await
    }

    /// Enters a session.
    pub async fn create(
        &self,
        key: SessionKey,
        patch: Patch,
        spawned_by: Option<SessionKey>,
    ) -> Result<Session, SessionError> {
        self.work(move |state_files| state_files.create(&key, &patch, spawned_by.as_ref()))
            .await
    }

    /// Changes a session.
    pub async fn patch(&self, key: SessionKey, patch: Patch) -> Result<Session, SessionError> {
        self.work(move |state_files| state_files.patch(&key, &patch))
            .await
    }

    /// Changes a session, which is entered first when it is new.
    pub async fn set(&self, key: SessionKey, patch: Patch) -> Result<Session, SessionError> {
        self.work(move |state_files| state_files.set(&key, &patch))
            .await
    }

    /// Begins a conversation anew.
    pub async fn reset(&self, key: SessionKey, reason: String) -> Result<Session, SessionError> {
        self.work(move |state_files| state_files.reset(&key, &reason))
            .await
    }

    /// A session with an id that its client chose, unless the key has one.
    pub(crate) async fn begin_as(&self, key: SessionKey, id: String) -> Result<(), Fault> {
        self.work(move |state_files| state_files.begin_as(&key, id))
            .await
    }

    /// Appends a summary in the place of older entries.
    pub async fn compact(
        &self,
        key: SessionKey,
        compaction: Compaction,
    ) -> Result<Session, SessionError> {
        self.work(move |state_files| state_files.compact(&key, compaction))
            .await
    }

    /// The sessions that agents already have.
    pub async fn existing(
        &self,
        agents: BTreeSet<AgentId>,
    ) -> Result<HashMap<AgentId, Existing>, Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.existing(agents)?)))
            .await
    }

    /// Enters sessions that come from elsewhere: all of them or none.
    pub(crate) async fn take_over(&self, takeovers: Vec<Takeover>) -> Result<(), Fault> {
        self.work(move |state_files| state_files.take_over(takeovers))
            .await
    }

    /// The files of an agent's sessions, or of one of them, and the index that tells of them.
    pub(crate) async fn exportable(
        &self,
        key: Option<SessionKey>,
    ) -> Result<Vec<Exportable>, Fault> {
        self.work(move |state_files| Ok(Done::looking(state_files.exportable(key.as_ref())?)))
            .await
    }

    /// Copies the lines of a transcript that begin at `offsets`, and returns the number of new
    /// copies.
    pub async fn keep_aside(&self, transcript: PathBuf, offsets: Vec<u64>) -> Result<usize, Fault> {
        self.work(move |_| Ok(Done::looking(keep_aside(&transcript, &offsets)?)))
            .await
    }

    /// Takes a session out of the index. Returns the archive of its transcript.
    pub async fn delete(
        &self,
        key: SessionKey,
        leftover: Leftover,
    ) -> Result<Option<PathBuf>, SessionError> {
        self.work(move |state_files| state_files.delete(&key, leftover))
            .await
    }
}
