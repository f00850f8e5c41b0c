//! Messages of transcripts as clients know them.

use std::collections::HashMap;

use openclaw_sessions::transcript::Entry;
use serde_json::{Value, json};

/// The keys that clients gave the runs of a page, by the runs' ids.
pub(crate) type Names<'a> = HashMap<&'a str, String>;

pub(crate) fn names(entries: &[Entry]) -> Names<'_> {
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
pub(crate) fn waits(entry: &Entry, run_id: &str, names: &Names<'_>) -> Value {
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
pub(crate) fn single(entry: &Entry, seq: u64, run_id: &str) -> Value {
    let names = entry.message.run_id().map(|id| (id, run_id.to_owned()));
    shown(
        entry,
        usize::try_from(seq).unwrap_or(usize::MAX),
        &names.into_iter().collect(),
    )
}

/// A message with what the transcript says of it.
pub(crate) fn shown(entry: &Entry, seq: usize, names: &Names<'_>) -> Value {
    let mut message = json!(entry.message);
    hide_signatures(&mut message);
    rename(&mut message, entry.message.run_id(), names);
    let mut about = match message.get("__openclaw") {
        Some(Value::Object(about)) => about.clone(),
        _ => serde_json::Map::new(),
    };
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
