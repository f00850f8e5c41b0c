//! What the storage thread is told of messages and runs, and what it answers.

use std::path::PathBuf;

use openclaw_proto::event::{Kind, Resources};
use openclaw_proto::gateway::{Accepted, Route};
use openclaw_proto::outbox::Extras;
use openclaw_proto::runner::AuthProfile;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::BackendSession;
use openclaw_sessions::transcript::{Message, Usage};
use tokio::sync::oneshot;

use super::ledger::Record;
use super::turn_options::TurnOptions;
use crate::fault::Fault;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Fault>>;

/// A message that is to be accepted.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The id of the run that it is to have.
    pub run_id: String,
    /// Its session.
    pub key: SessionKey,
    /// The client's name for it: the same message comes once.
    pub idempotency_key: Option<String>,
    /// Where it came from.
    pub channel: String,
    /// Where on that.
    pub route: Option<Route>,
    /// What it says.
    pub text: String,
    /// The command that it is; the gateway answers it itself.
    pub command: Option<&'static str>,
    /// Whether its words may begin the conversation anew.
    pub may_begin_anew: bool,
    /// What it wants for its turn alone.
    pub options: TurnOptions,
}

/// What became of it.
#[derive(Debug, Clone)]
pub enum Acceptance {
    /// Its entry is durable.
    New(Box<Admitted>),
    /// Its idempotency key names a run that ended.
    Existing(Box<Record>),
}

/// A message whose entry is durable.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// What its sender is told.
    pub accepted: Accepted,
    /// Where its entry is.
    pub transcript: PathBuf,
    /// What the model is to be told.
    pub said: Intent,
    /// What the session wants instead of its agent's settings.
    pub overrides: Overrides,
}

/// What a message is for, and to whom it speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// To the model.
    Text(String),
    /// To the gateway: the conversation has begun anew.
    Reset,
    /// To the gateway: another command.
    Command,
}

/// What a session wants instead of its agent's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `provider/model`.
    pub model: Option<String>,
    /// How much the model is to think.
    pub thinking_level: Option<String>,
    /// What is done with messages that find it busy.
    pub queue: QueueFields,
    /// Limits of its turns, as JSON; empty: its agent's.
    pub limits: String,
    /// The credential that it chose.
    pub auth_profile: Option<AuthProfile>,
    /// Tokens that what servers of tools offered took of a request of its last turn.
    pub server_tool_tokens: u64,
}

/// The field of a session's entry for [`Overrides::server_tool_tokens`].
pub const SERVER_TOOL_TOKENS: &str = "serverToolTokens";

/// What a session's entry says of messages that find it busy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueFields {
    /// What is done with them.
    pub mode: Option<String>,
    /// How long is waited for more of them, in milliseconds.
    pub debounce_ms: Option<u64>,
    /// How many may wait.
    pub cap: Option<u64>,
    /// Which of them go when there are more.
    pub drop: Option<String>,
}

/// A run of the ledger.
#[derive(Debug)]
pub struct StoredRun {
    /// Its row.
    pub record: Record,
    /// Where its entries are.
    pub transcript: PathBuf,
    /// What its session wants instead of its agent's settings.
    pub overrides: Overrides,
    /// What its message wants for its turn, which is kept until the run ends; None:
    /// it cannot be read, and the turn must not begin without.
    pub options: Option<TurnOptions>,
}

/// The sessions that the backends keep of a conversation.
pub(crate) type BackendSessions = Vec<(String, BackendSession)>;

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Closing {
    /// Its id.
    pub run_id: String,
    /// Its session.
    pub key: SessionKey,
    /// The entries that are not appended yet.
    pub messages: Vec<Message>,
    /// Its terminal event.
    pub outcome: Kind,
    /// The tokens of the whole turn.
    pub usage: Usage,
    /// The tokens of the last response: how full the context is.
    pub context_tokens: u64,
    /// What the run's processes used, when it is known.
    pub resources: Option<Resources>,
    /// What is answered on the channel that the message came from; None:
    /// nothing is.
    pub reply: Option<ChannelReply>,
    /// Whether it answered a command, beside the turns of its session.
    pub of_command: bool,
}

/// The answer to a message, where that came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelReply {
    /// The channel.
    pub channel: String,
    /// Where on it; None: where the session says, if it was there.
    pub route: Option<Route>,
    /// What was said.
    pub text: String,
    /// What goes with it.
    pub extras: Extras,
    /// Where its files are, beneath the agent's workspace.
    pub paths: Vec<String>,
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
