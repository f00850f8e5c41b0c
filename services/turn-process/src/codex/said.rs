//! The messages to the CLI, in its protocol.

use serde_json::{Value, json};

/// The ids of our requests: each is asked once in a turn.
pub(super) const INITIALIZE: u64 = 0;
/// Resumes a thread.
pub(super) const RESUME: u64 = 1;
/// Begins one.
pub(super) const BEGIN: u64 = 2;
/// Begins the turn.
pub(super) const TURN: u64 = 3;

pub(super) fn initialize() -> Value {
    request(
        INITIALIZE,
        "initialize",
        &json!({
            "clientInfo": {
                "name": "openclaw",
                "title": "OpenClaw",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "capabilities": {"experimentalApi": false, "requestAttestation": false},
        }),
    )
}

pub(super) fn initialized() -> Value {
    json!({"method": "initialized"})
}

pub(super) fn resume(thread: &Value, id: &str) -> Value {
    let mut parameters = thread.clone();
    parameters["threadId"] = id.into();
    parameters["excludeTurns"] = true.into();
    request(RESUME, "thread/resume", &parameters)
}

pub(super) fn begin(thread: &Value) -> Value {
    request(BEGIN, "thread/start", thread)
}

pub(super) fn turn(thread: &str, words: &str, effort: Option<&str>) -> Value {
    request(
        TURN,
        "turn/start",
        &json!({
            "threadId": thread,
            "input": [{"type": "text", "text": words}],
            "effort": effort,
        }),
    )
}

fn request(id: u64, method: &str, parameters: &Value) -> Value {
    json!({"id": id, "method": method, "params": parameters})
}
