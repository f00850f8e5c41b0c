//! Why the gateway does not do what it is asked.

use openclaw_proto::call::CallError;
use openclaw_sessions::store::InvalidPatch;
use openclaw_sessions::{AgentId, InvalidAgentId, InvalidKey, InvalidRoute, SessionKey};
use openclaw_settings::{InvalidLimit, UnknownModel};

use crate::database;
use crate::fault::Fault;
use crate::lanes::Crowded;

/// The reader of a run's events is too far behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("events before number {first} of the run are no longer kept")]
pub struct Missed {
    first: u64,
}

impl Missed {
    /// Events before `first` are gone.
    pub fn before(first: u64) -> Self {
        Self { first }
    }

    /// The first event that is still there.
    pub fn first(self) -> u64 {
        self.first
    }
}

/// A session that is not there, as it was asked for, and one whose name is nearly that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSession(pub String, pub Option<String>);

/// A call that is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Nothing is accepted any more.
    #[error("the gateway is stopping; send the message again in a moment")]
    Stopping,
    /// Something is longer than it may be.
    #[error("{what} has {length} bytes; at most {limit} are allowed")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// Its bytes.
        length: usize,
        /// The bytes it may have.
        limit: usize,
    },
    /// The session key is malformed.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The agent id is malformed.
    #[error(transparent)]
    Agent(#[from] InvalidAgentId),
    /// The key and the request name different agents.
    #[error("session key {key} belongs to agent {}, not to {agent}", key.agent())]
    OtherAgent {
        /// The key.
        key: SessionKey,
        /// The agent that was named beside it.
        agent: AgentId,
    },
    /// The configuration has no such agent.
    #[error("agent {agent} is not configured; configured: {}", configured.join(", "))]
    UnknownAgent {
        /// The one asked for.
        agent: AgentId,
        /// Those that exist.
        configured: Vec<String>,
    },
    /// Too many messages wait in the session already.
    #[error(transparent)]
    Crowded(#[from] Crowded),
    /// Events were asked for that are gone.
    #[error(transparent)]
    Missed(#[from] Missed),
    /// The route of a message names no conversation.
    #[error(transparent)]
    Route(#[from] InvalidRoute),
    /// A field of a session may not be set so.
    #[error(transparent)]
    Patch(#[from] InvalidPatch),
    /// A limit of a session is out of bounds.
    #[error(transparent)]
    Limit(#[from] InvalidLimit),
    /// The configuration has no such model.
    #[error(transparent)]
    Model(#[from] UnknownModel),
    /// The agent has no such auth profile.
    #[error("agent {agent} has no auth profile {id:?} ({known})")]
    UnknownAuthProfile {
        /// The one asked for.
        id: String,
        /// The agent whose profiles were searched.
        agent: AgentId,
        /// Those that exist, for people.
        known: String,
    },
    /// The agent-runner was needed and does not answer.
    #[error("the agent-runner, which has the credentials, does not answer")]
    NoRunner(#[source] CallError),
    /// There is no such session.
    #[error("there is no session {:?}; `openclawctl sessions` lists them", .0.0)]
    UnknownSession(MissingSession),
    /// The text fits more than one session.
    #[error("{text:?} may mean several sessions: {}", keys.join(", "))]
    Ambiguous {
        /// The text that was asked for.
        text: String,
        /// The keys that it fits.
        keys: Vec<String>,
    },
    /// A turn runs in the session.
    #[error("a turn is running in session {0}; wait for it, or cancel it")]
    Busy(SessionKey),
    /// The session is being compacted.
    #[error("session {0} is being compacted already")]
    Compacting(SessionKey),
    /// There is a session with that key already.
    #[error("session {0} is there already")]
    Exists(SessionKey),
    /// A main session cannot be deleted.
    #[error("{0} is a main session, which cannot be deleted; reset it instead")]
    Main(SessionKey),
    /// Another session has that label.
    #[error("the label {label:?} is in use by session {key}")]
    LabelTaken {
        /// The label.
        label: String,
        /// The session that has it.
        key: String,
    },
    /// A change of a session is not on the disk.
    #[error("the session was not changed")]
    NotSaved(#[source] Fault),
    /// Something that is needed was left out.
    #[error("{what} is empty")]
    Empty {
        /// What.
        what: &'static str,
    },
    /// An archive is not one that can be imported.
    #[error("{0}")]
    Import(&'static str),
    /// An archive is larger than it may be.
    #[error("{0}")]
    ImportTooLarge(String),
    /// There is no such run.
    #[error("run {0} is not known")]
    UnknownRun(String),
    /// The ledger has it open, and nothing here follows it: it could not be taken up.
    #[error(
        "run {0} was left open and could not be taken up; the gateway's log says why, and its \
         next start tries again: systemctl --user restart openclaw-gateway.service"
    )]
    LeftOpen(String),
    /// As OpenClaw says it.
    #[error("send blocked by session policy")]
    Blocked,
    /// The entry of a message is not on the disk.
    #[error("the message was not accepted")]
    NotDurable(#[source] Fault),
    /// The ledger could not keep the change.
    #[error(transparent)]
    Unrecorded(#[from] database::Fault),
    /// Stored data cannot be read.
    #[error("cannot read what is stored")]
    Unreadable(#[source] Fault),
}

impl Refusal {
    /// Why a message was not accepted.
    pub fn of_message(fault: Fault) -> Self {
        match fault {
            Fault::Blocked => Self::Blocked,
            Fault::Key(invalid) => Self::Key(invalid),
            fault => Self::NotDurable(fault),
        }
    }

    /// Why a session was not made.
    pub fn of_session(fault: Fault) -> Self {
        match fault {
            Fault::Key(invalid) => Self::Key(invalid),
            fault => Self::NotSaved(fault),
        }
    }

    /// There is no session of that key.
    pub fn unknown(key: &SessionKey) -> Self {
        Self::UnknownSession(MissingSession(key.to_string(), None))
    }
}
