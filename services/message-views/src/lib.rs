//! Messages of transcripts as clients of OpenClaw's protocol know them, and the cursor by
//! which a client goes on where it was.

mod cursor;

use std::collections::HashMap;

use openclaw_sessions::transcript::{Entry, TURN_OPTIONS};
use openclaw_sessions::{SessionKey, now_ms};
use serde_json::{Value, json};

pub use cursor::{Cursor, MESSAGES, Page};

/// The keys that clients gave the runs of a page, by the runs' ids.
pub type Names<'a> = HashMap<&'a str, String>;

/// The names that `entries` tell of.
pub fn names(entries: &[Entry]) -> Names<'_> {
    let named = entries.iter().filter_map(|entry| {
        let run_id = entry.message.run_id()?;
        let message = json!(entry.message);
        let key = message["__openclaw"]["senderKey"].as_str()?.to_owned();
        Some((run_id, key))
    });
    named.collect()
}

/// Puts the client's key where the run's own id is.
fn rename(message: &mut Value, run_id: Option<&str>, names: &Names<'_>) {
    let Some(name) = run_id.and_then(|id| names.get(id)) else {
        return;
    };
    if message.get("idempotencyKey").is_some() {
        message["idempotencyKey"] = json!(format!("{name}:user"));
    }
    if message["__openclaw"].get("runId").is_some() {
        message["__openclaw"]["runId"] = json!(name);
    }
}

/// A message that waits for its turn.
pub fn waits(entry: &Entry, run_id: &str, names: &Names<'_>) -> Value {
    let mut message = json!(entry.message);
    rename(&mut message, Some(run_id), names);
    let run_id = names.get(run_id).map_or(run_id, String::as_str);
    message["__openclaw"] = json!({ "id": format!("pending:{}", entry.id) });
    json!({
        "id": entry.id,
        "acceptedAt": entry.message.timestamp(),
        "state": "queued",
        "message": message,
        "runId": run_id,
    })
}

/// The message at place `seq` of its session as clients know it.
pub fn single(entry: &Entry, seq: u64, run_id: &str) -> Value {
    let names = entry.message.run_id().map(|id| (id, run_id.to_owned()));
    shown(
        entry,
        usize::try_from(seq).unwrap_or(usize::MAX),
        &names.into_iter().collect(),
    )
}

/// `session.message`: a message that is shown, of a session with the row `row`.
pub fn event((key, session_id): (&SessionKey, &str), message: Value, row: &Value) -> Value {
    json!({
        "sessionKey": key.as_str(),
        "agentId": key.agent().as_str(),
        "sessionId": session_id,
        "messageId": message["__openclaw"]["id"],
        "messageSeq": message["__openclaw"]["seq"],
        "message": message,
        "session": row,
        "ts": now_ms(),
    })
}

/// A message with what the transcript says of it.
pub fn shown(entry: &Entry, seq: usize, names: &Names<'_>) -> Value {
    let mut message = json!(entry.message);
    hide_signatures(&mut message);
    rename(&mut message, entry.message.run_id(), names);
    let mut about = match message.get("__openclaw") {
        Some(Value::Object(about)) => about.clone(),
        _ => serde_json::Map::new(),
    };
    // For the gateway alone, and as long as the system prompt of a client.
    about.remove(TURN_OPTIONS);
    about.insert("id".to_owned(), json!(entry.id));
    about.insert("seq".to_owned(), json!(seq));
    if let Ok(at) = entry.timestamp.parse::<jiff::Timestamp>() {
        about.insert("recordTimestampMs".to_owned(), json!(at.as_millisecond()));
    }
    message["__openclaw"] = Value::Object(about);
    message
}

/// What thinking is signed with is for its model alone, and long.
fn hide_signatures(message: &mut Value) {
    let blocks = message.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        if let Some(block) = block.as_object_mut() {
            block.remove("thinkingSignature");
        }
    }
}
