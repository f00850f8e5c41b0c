//! Why the gateway does not do what it is asked.

use openclaw_config::settings::{InvalidLimit, UnknownModel};
use openclaw_sessions::store::InvalidPatch;
use openclaw_sessions::{AgentId, InvalidAgentId, InvalidKey, InvalidRoute, SessionKey};
use tonic::Status;

use crate::conversations::lanes::Crowded;
use crate::conversations::storage::Fault;

/// The reader of a run's events is too far behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("events before number {first} of the run are no longer kept")]
pub(crate) struct Missed {
    first: u64,
}

impl Missed {
    /// Events before `first` are gone.
    pub(crate) fn before(first: u64) -> Self {
        Self { first }
    }

    /// The first event that is still there.
    pub(crate) fn first(self) -> u64 {
        self.first
    }
}

/// A call that is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the gateway is stopping; send the message again in a moment")]
    Stopping,
    #[error("{what} has {length} bytes; at most {limit} are allowed")]
    TooLong {
        what: &'static str,
        length: usize,
        limit: usize,
    },
    #[error(transparent)]
    Key(#[from] InvalidKey),
    #[error(transparent)]
    Agent(#[from] InvalidAgentId),
    #[error("session key {key} belongs to agent {}, not to {agent}", key.agent())]
    OtherAgent { key: SessionKey, agent: AgentId },
    #[error("agent {agent} is not configured; configured: {}", configured.join(", "))]
    UnknownAgent {
        agent: AgentId,
        configured: Vec<String>,
    },
    #[error(transparent)]
    Crowded(#[from] Crowded),
    #[error(transparent)]
    Missed(#[from] Missed),
    #[error(transparent)]
    Route(#[from] InvalidRoute),
    #[error(transparent)]
    Patch(#[from] InvalidPatch),
    #[error(transparent)]
    Limit(#[from] InvalidLimit),
    #[error(transparent)]
    Model(#[from] UnknownModel),
    #[error("agent {agent} has no auth profile {id:?} ({known})")]
    UnknownAuthProfile {
        id: String,
        agent: AgentId,
        known: String,
    },
    #[error("the agent-runner, which has the credentials, does not answer")]
    NoRunner(#[source] Box<Status>),
    #[error("there is no session {0:?}; `openclawctl sessions` lists them")]
    UnknownSession(String),
    #[error("{text:?} may mean several sessions: {}", keys.join(", "))]
    Ambiguous { text: String, keys: Vec<String> },
    #[error("a turn is running in session {0}; wait for it, or cancel it")]
    Busy(SessionKey),
    #[error("session {0} is being compacted already")]
    Compacting(SessionKey),
    #[error("session {0} is there already")]
    Exists(SessionKey),
    #[error("{0} is a main session, which cannot be deleted; reset it instead")]
    Main(SessionKey),
    #[error("the label {label:?} is in use by session {key}")]
    LabelTaken { label: String, key: String },
    #[error("the session was not changed")]
    NotSaved(#[source] Fault),
    #[error("{what} is empty")]
    Empty { what: &'static str },
    #[error("{0}")]
    Import(&'static str),
    #[error("{0}")]
    ImportTooLarge(String),
    #[error("run {0} is not known")]
    UnknownRun(String),
    /// As OpenClaw says it.
    #[error("send blocked by session policy")]
    Blocked,
    #[error("the message was not accepted")]
    NotDurable(#[source] Fault),
    #[error("cannot read what is stored")]
    Unreadable(#[source] Fault),
}

impl Refusal {
    /// Why a message was not accepted.
    pub(crate) fn of_message(fault: Fault) -> Self {
        match fault {
            Fault::Blocked => Self::Blocked,
            fault => Self::NotDurable(fault),
        }
    }
}
