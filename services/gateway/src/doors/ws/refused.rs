//! Refusals as responses.

use openclaw_daemon::failure;
use openclaw_protocol::Failure;
use serde_json::json;

use crate::conversations::database;
use crate::conversations::refusal::Refusal;
use crate::conversations::storage::Fault;

/// When a gateway that stops is back, in milliseconds.
const RESTART_MS: u64 = 2000;

/// When a lane that is full may have room, in milliseconds.
const CROWDED_MS: u64 = 1000;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let message = failure::chain(&refusal);
        match refusal {
            Refusal::Stopping => Self::unavailable(message).retry_after(RESTART_MS),
            Refusal::Crowded(_) => Self::unavailable(message).retry_after(CROWDED_MS),
            Refusal::UnknownAgent { agent, .. } => Self::invalid(message).with_details(json!({
                "code": "UNKNOWN_AGENT_ID",
                "agentId": agent.to_string(),
            })),
            Refusal::NotDurable(_) | Refusal::NotSaved(_) | Refusal::Unreadable(_) => {
                Self::unavailable(message)
            }
            Refusal::Busy(key) => Self::invalid(format!(
                "Session {key} has an active run; retry after it finishes."
            )),
            _ => Self::invalid(message),
        }
    }
}

/// What is stored could not be read or written.
pub(super) fn stored(fault: &Fault) -> Failure {
    failure::report("answer a client", fault);
    Failure::unavailable(failure::chain(fault))
}

impl From<database::Fault> for Failure {
    fn from(fault: database::Fault) -> Self {
        openclaw_daemon::failure::report("use the ledger", &fault);
        Self::unavailable(openclaw_daemon::failure::chain(&fault))
    }
}
