//! Why the gateway does not do what it is asked, and how gRPC says so.

use openclaw_config::settings::{InvalidLimit, UnknownModel};
use openclaw_daemon::failure;
use openclaw_sessions::store::InvalidPatch;
use openclaw_sessions::{AgentId, InvalidAgentId, InvalidKey, InvalidRoute, SessionKey};
use tonic::Status;

use crate::run::{Crowded, Missed};
use crate::storage::Fault;

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

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let message = failure::chain(&refusal);
        match refusal {
            Refusal::Stopping | Refusal::NoRunner(_) => Self::unavailable(message),
            Refusal::TooLong { .. }
            | Refusal::Key(_)
            | Refusal::Agent(_)
            | Refusal::OtherAgent { .. }
            | Refusal::UnknownAgent { .. }
            | Refusal::Route(_)
            | Refusal::Empty { .. }
            | Refusal::Patch(_)
            | Refusal::Limit(_)
            | Refusal::UnknownAuthProfile { .. }
            | Refusal::Model(_) => Self::invalid_argument(message),
            Refusal::Compacting(_) => Self::aborted(message),
            Refusal::Exists(_) | Refusal::LabelTaken { .. } => Self::already_exists(message),
            Refusal::Ambiguous { .. } | Refusal::Busy(_) | Refusal::Main(_) | Refusal::Blocked => {
                Self::failed_precondition(message)
            }
            Refusal::Crowded(_) => Self::resource_exhausted(message),
            Refusal::Missed(_) => Self::out_of_range(message),
            Refusal::UnknownRun(_) | Refusal::UnknownSession(_) => Self::not_found(message),
            Refusal::NotDurable(fault) | Refusal::NotSaved(fault) | Refusal::Unreadable(fault) => {
                if fault.is_disk_full() {
                    Self::resource_exhausted(message)
                } else {
                    Self::internal(message)
                }
            }
        }
    }
}
