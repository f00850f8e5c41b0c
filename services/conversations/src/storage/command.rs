//! The requests about messages and runs to the storage thread, and its answers.

use std::path::PathBuf;

use openclaw_proto::event::{Kind, Resources};
use openclaw_proto::gateway::{Accepted, Route};
use openclaw_proto::outbox::Extras;
use openclaw_proto::runner::AuthProfile;
use openclaw_proto::shown::Shown;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::BackendSession;
use openclaw_sessions::transcript::{Message, Usage};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::ledger::Record;
use super::turn_options::TurnOptions;
use crate::fault::Fault;

/// The sender of the answer.
pub(crate) type Reply<T, E = Fault> = oneshot::Sender<Result<T, E>>;

/// A message that is to be accepted.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The id of the run that it is to have.
    pub run_id: String,
    /// Its session.
    pub key: SessionKey,
    /// The client's name for it: the same message comes once.
    pub idempotency_key: Option<String>,
    /// The channel it came from.
    pub channel: String,
    /// The route on that channel.
    pub route: Option<Route>,
    /// Its words.
    pub text: String,
    /// The name of the command, which the gateway answers itself; None: it is a message.
    pub command: Option<&'static str>,
    /// Whether its words may begin the conversation anew.
    pub may_begin_anew: bool,
    /// What it wants for its turn alone.
    pub options: TurnOptions,
}

/// The outcome.
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
    /// The answer to its sender.
    pub accepted: Accepted,
    /// The transcript with its entry.
    pub transcript: PathBuf,
    /// Its purpose, and its text for the model.
    pub said: Intent,
    /// The session's settings that override its agent's.
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

/// A session's settings that override its agent's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `provider/model`.
    pub model: Option<String>,
    /// How much the model is to think.
    pub thinking_level: Option<String>,
    /// The handling of messages that arrive while it is busy.
    pub queue: QueueFields,
    /// Limits of its turns, as JSON; empty: its agent's.
    pub limits: String,
    /// The credential that it chose.
    pub auth_profile: Option<AuthProfile>,
    /// Tokens that what servers of tools offered took of a request of its last turn.
    pub server_tool_tokens: u64,
    /// How much of its turns is shown.
    pub shown: Shown,
}

impl Overrides {
    /// With what a message wants for its turn alone over them.
    pub fn put_over(&mut self, options: &TurnOptions) {
        if options.model.is_some() {
            self.model.clone_from(&options.model);
        }
        if options.thinking_level.is_some() {
            self.thinking_level.clone_from(&options.thinking_level);
        }
        if options.limits.is_empty() {
            return;
        }
        // What is no object is told of by the runner, where it is alone.
        let mut all: Map<String, Value> = serde_json::from_str(&self.limits).unwrap_or_default();
        all.extend(options.limits.clone());
        self.limits = Value::Object(all).to_string();
    }
}

/// The field of a session's entry for [`Overrides::server_tool_tokens`].
pub const SERVER_TOOL_TOKENS: &str = "serverToolTokens";

/// A session's own settings for messages that arrive while it is busy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueFields {
    /// How they are handled.
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
    /// The transcript with its entries.
    pub transcript: PathBuf,
    /// Its session's settings that override the agent's.
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
    /// The resources that the run's processes used, when known.
    pub resources: Option<Resources>,
    /// The answer on the channel that the message came from; None: none.
    pub reply: Option<ChannelReply>,
    /// Whether it answered a command, beside the turns of its session.
    pub of_command: bool,
}

/// The answer to a message, where that came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelReply {
    /// The channel.
    pub channel: String,
    /// The route on it; None: the session's route, if it has one there.
    pub route: Option<Route>,
    /// The text.
    pub text: String,
    /// Attachments and other extras.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn overrides_give_way_to_what_a_message_wants() {
        let mut overrides = Overrides {
            model: Some("a/b".to_owned()),
            thinking_level: Some("low".to_owned()),
            limits: json!({ "costPerTurn": 2, "steps": 3 }).to_string(),
            ..Overrides::default()
        };
        let before = overrides.clone();
        overrides.put_over(&TurnOptions::default());
        assert_eq!(overrides, before);
        let Value::Object(limits) = json!({ "costPerTurn": 1 }) else {
            panic!("no object");
        };
        let options = TurnOptions {
            model: Some("c/d".to_owned()),
            limits,
            ..TurnOptions::default()
        };
        overrides.put_over(&options);
        assert_eq!(overrides.model.as_deref(), Some("c/d"));
        assert_eq!(overrides.thinking_level.as_deref(), Some("low"));
        let limits: Value = serde_json::from_str(&overrides.limits).unwrap();
        assert_eq!(limits, json!({ "costPerTurn": 1, "steps": 3 }));
    }
}
