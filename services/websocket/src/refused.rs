//! Refusals as responses.

use openclaw_conversations::Refusal;
use openclaw_conversations::database;
use openclaw_conversations::storage::Fault;
use openclaw_daemon::failure;
use openclaw_protocol::Failure;
use serde_json::json;

/// When a gateway that stops is back, in milliseconds.
const RESTART_MS: u64 = 2000;

/// When a lane that is full may have room, in milliseconds.
const CROWDED_MS: u64 = 1000;

/// Refusals of the core as failures of the protocol.
pub(crate) fn refused(refusal: Refusal) -> Failure {
    let message = failure::advice(&refusal);
    match refusal {
        Refusal::Stopping => Failure::unavailable(message).retry_after(RESTART_MS),
        Refusal::Crowded(_) => Failure::unavailable(message).retry_after(CROWDED_MS),
        Refusal::UnknownAgent { agent, .. } => Failure::invalid(message).with_details(json!({
            "code": "UNKNOWN_AGENT_ID",
            "agentId": agent.to_string(),
        })),
        Refusal::NotDurable(_)
        | Refusal::NotSaved(_)
        | Refusal::Unrecorded(_)
        | Refusal::Unreadable(_)
        | Refusal::LeftOpen(_) => Failure::unavailable(message),
        Refusal::Busy(key) => Failure::invalid(format!(
            "Session {key} has an active run; retry after it finishes."
        )),
        _ => Failure::invalid(message),
    }
}

/// A failure for stored data that could not be read or written.
pub(crate) fn stored(fault: &Fault) -> Failure {
    failure::report("answer a client", fault);
    Failure::unavailable(failure::advice(fault))
}

/// The ledger could not be read or written.
pub(crate) fn unrecorded(fault: database::Fault) -> Failure {
    failure::report("use the ledger", &fault);
    Failure::unavailable(failure::advice(&fault))
}
