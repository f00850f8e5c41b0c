//! What the storage thread is asked to do.

use std::path::PathBuf;

use openclaw_proto::event::{Kind, Resources};
use openclaw_proto::gateway::Accepted;
use openclaw_proto::runner::AuthProfile;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::BackendSession;
use openclaw_sessions::transcript::{Message, Usage};
use tokio::sync::oneshot;

use super::fault::Fault;
use super::ledger::{Record, Spent};
use super::work::Work;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Fault>>;

pub(crate) enum Command {
    Accept(Box<Incoming>, Reply<Acceptance>),
    Begin(String, SessionKey, Reply<BackendSessions>),
    Append(SessionKey, Vec<Message>, Reply<()>),
    Close(Box<Closing>, Reply<()>),
    Find(String, Reply<Option<Found>>),
    Last(u32, Reply<Vec<(Record, Option<Spent>)>>),
    Work(Work),
    /// Looks after old sessions soon.
    Maintain(Reply<()>),
    Stop(Reply<()>),
}

/// A message that wants to be accepted.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    pub(crate) run_id: String,
    pub(crate) key: SessionKey,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) channel: String,
    pub(crate) text: String,
}

/// What became of it.
#[derive(Debug, Clone)]
pub(crate) enum Acceptance {
    /// Its entry is durable.
    New(Box<Admitted>),
    /// Its idempotency key names a run that ended.
    Existing(Box<Record>),
}

/// A message whose entry is durable.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) accepted: Accepted,
    /// Where its entry is.
    pub(crate) transcript: PathBuf,
    /// What the model is to be told.
    pub(crate) said: Said,
    /// What the session wants instead of its agent's settings.
    pub(crate) overrides: Overrides,
}

/// What a message says to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// To the model.
    Text(String),
    /// To the gateway: the conversation has begun anew.
    Reset,
}

/// What a session wants instead of its agent's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    /// `provider/model`.
    pub(crate) model: Option<String>,
    pub(crate) thinking_level: Option<String>,
    pub(crate) queue: QueueFields,
    /// Limits of its turns, as JSON; empty: its agent's.
    pub(crate) limits: String,
    pub(crate) auth_profile: Option<AuthProfile>,
}

/// What a session's entry says of messages that find it busy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QueueFields {
    pub(crate) mode: Option<String>,
    pub(crate) debounce_ms: Option<u64>,
    pub(crate) cap: Option<u64>,
    pub(crate) drop: Option<String>,
}

/// A run of the ledger.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) record: Record,
    /// Where its entries are.
    pub(crate) transcript: PathBuf,
    /// What its session wants instead of its agent's settings.
    pub(crate) overrides: Overrides,
}

/// The sessions that the backends keep of a conversation.
pub(crate) type BackendSessions = Vec<(String, BackendSession)>;

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) run_id: String,
    pub(crate) key: SessionKey,
    /// The entries that are not appended yet.
    pub(crate) messages: Vec<Message>,
    pub(crate) outcome: Kind,
    /// The tokens of the whole turn.
    pub(crate) usage: Usage,
    /// The tokens of the last response: how full the context is.
    pub(crate) context_tokens: u64,
    /// What the run's processes used, when it is known.
    pub(crate) resources: Option<Resources>,
}

/// The ledger's word for an outcome.
pub(super) fn state_of(outcome: &Kind) -> &'static str {
    use openclaw_proto::event::Code;
    match outcome {
        Kind::Done(_) => "done",
        Kind::Aborted { .. } => "aborted",
        Kind::Failed(failed) if failed.code == Code::Interrupted => "interrupted",
        _ => "failed",
    }
}

/// The session that the backend keeps, if the outcome names one.
pub(super) fn backend_session_of(outcome: &Kind) -> Option<(&str, &str)> {
    let (backend, session) = match outcome {
        Kind::Done(done) => (&done.backend, &done.backend_session),
        Kind::Failed(failed) => (&failed.backend, &failed.backend_session),
        Kind::Aborted {
            backend,
            backend_session,
            ..
        } => (backend, backend_session),
        _ => return None,
    };
    let session = session.as_deref()?;
    (!backend.is_empty()).then_some((backend, session))
}
