//! What happens in the gateway's sessions, as its subscribers are told of it.

mod client;
mod wire;

pub use client::Client;

use serde::{Deserialize, Serialize};

use crate::event;
use crate::gateway::Route;

/// What a subscriber wants to hear.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscription {
    /// Of which sessions.
    pub selector: Selector,
    /// The last sequence that was heard, 0 for all that is kept; None: only
    /// what happens from now on.
    pub after: Option<u64>,
    /// The epoch of that number; empty: it is taken to be this one.
    pub epoch: String,
    /// Nothing that is not kept.
    pub without_live: bool,
}

/// Whose events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Selector {
    /// All sessions'.
    #[default]
    Everything,
    /// Those of all sessions of an agent.
    Agent(String),
    /// Those of the session with this key.
    Session(String),
}

impl Selector {
    /// Whether what happens in that session is meant.
    pub fn includes(&self, agent_id: &str, session_key: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Agent(agent) => agent == agent_id,
            Self::Session(key) => key == session_key,
        }
    }
}

/// What a subscriber is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "told",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FeedItem {
    /// Always first.
    Opened {
        /// Names this series of numbers.
        epoch: String,
        /// The number of the last event so far.
        sequence: u64,
    },
    /// Events are missing here.
    Gap {
        /// The number that was given.
        after_sequence: u64,
        /// Told next is what has a higher number than this one.
        through_sequence: u64,
        /// Why.
        reason: String,
    },
    /// Something that happened for good.
    Event(Event),
    /// What a run says while it goes on.
    Live {
        /// The number of the last event before it.
        sequence: u64,
        /// The run's session.
        session_key: String,
        /// The run's agent.
        agent_id: String,
        /// With the run's own number.
        event: event::Event,
    },
    /// All that was kept is told.
    CaughtUp {
        /// The number of the last event by then.
        sequence: u64,
    },
}

/// Something that happened for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Higher than that of every event before it.
    pub sequence: u64,
    /// Unix time in milliseconds.
    pub at_ms: i64,
    /// The agent.
    pub agent_id: String,
    /// The session.
    pub session_key: String,
    /// The run; empty: of none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// What happened.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What happened for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Kind {
    /// A message is durable and has a run.
    MessageAccepted {
        /// Its entry in the transcript.
        entry_id: String,
        /// The session's id.
        session_id: String,
        /// Where it came from.
        channel: String,
        /// Where on the channel, and who says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        route: Option<Route>,
    },
    /// The turn of the run began.
    RunStarted,
    /// An entry is in the transcript.
    EntryAppended(Entry),
    /// The run is over.
    RunEnded(Box<Ended>),
    /// A call waits to be allowed.
    ApprovalAsked {
        /// Names it.
        id: String,
        /// The tool.
        tool: String,
        /// What is to be run, or the beginning of it.
        command: String,
        /// When that counts as a no, in Unix milliseconds.
        expires_ms: i64,
    },
    /// Somebody decided, or nobody did in time.
    ApprovalDecided {
        /// Which one.
        id: String,
        /// `allow-once`, `allow-always`, `deny` or `expired`.
        decision: String,
        /// Who decided.
        by: String,
    },
    /// What the index says of the session changed other than by a run.
    SessionChanged {
        /// How.
        change: Change,
        /// Of a reset, why.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The agent is told of something with its next turn.
    SystemEvent {
        /// What happened.
        text: String,
    },
    /// The gateway itself said something in the session.
    Announcement {
        /// Its entry.
        entry_id: String,
    },
}

/// An entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id in the transcript.
    pub entry_id: String,
    /// Whose it is.
    pub role: Role,
    /// Of a tool's: the call that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
}

/// Whose entry it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The user's.
    User,
    /// The assistant's.
    Assistant,
    /// A tool's.
    Tool,
}

impl Role {
    /// As the wire names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// The call that a tool's entry answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    /// The tool.
    pub tool: String,
    /// The call.
    pub call_id: String,
    /// Whether it did what it was asked.
    pub success: bool,
}

/// How a run ended, and what it cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// `done`, `failed`, `aborted` or `interrupted`.
    pub state: String,
    /// Why there is no whole reply; empty when there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why it failed, for programs; empty when it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Who answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The backend.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub backend: String,
    /// What the run's processes used; none when it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<event::Resources>,
    /// Tokens sent to the model, those of its cache too.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// US dollars; none when the model's price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Ended {
    /// The end that `outcome` is, in the ledger's word `state`.
    pub fn of(state: &str, outcome: Option<&event::Kind>) -> Self {
        let state = state.to_owned();
        match outcome {
            Some(event::Kind::Done(done)) => Self {
                state,
                provider: done.provider.clone(),
                model: done.model.clone(),
                backend: done.backend.clone(),
                ..Self::default()
            },
            Some(event::Kind::Failed(failed)) => Self {
                state,
                reason: failed.message.clone(),
                code: failed.code.as_str().to_owned(),
                backend: failed.backend.clone(),
                ..Self::default()
            },
            Some(event::Kind::Aborted {
                reason, backend, ..
            }) => Self {
                state,
                reason: reason.clone(),
                backend: backend.clone(),
                ..Self::default()
            },
            _ => Self {
                state,
                ..Self::default()
            },
        }
    }
}

/// How a session changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// It was entered before anything was said in it.
    Created,
    /// What can be set of it.
    Changed,
    /// The conversation begins anew.
    Reset,
    /// A summary is in the place of older entries.
    Compacted,
    /// It is gone.
    Deleted,
}

impl Change {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Created,
        Self::Changed,
        Self::Reset,
        Self::Compacted,
        Self::Deleted,
    ];

    /// As the wire names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Reset => "reset",
            Self::Compacted => "compacted",
            Self::Deleted => "deleted",
        }
    }
}
