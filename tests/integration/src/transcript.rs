//! Conversations as they are on the disk.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Site;

/// The lines of the transcript of a session of the agent that its key names.
pub fn lines(site: &Site, key: &str) -> Vec<Value> {
    let agent = key.split(':').nth(1).expect("agent:ID:NAME");
    let folder = site.state().join("agents").join(agent).join("sessions");
    let index = fs::read_to_string(folder.join("sessions.json")).expect("read sessions.json");
    let index: Value = serde_json::from_str(&index).expect("sessions.json is JSON");
    let file = index[key]["sessionFile"]
        .as_str()
        .unwrap_or_else(|| panic!("no session {key} in {index}"));
    lines_of(&folder.join(file))
}

/// The lines of the transcript at `path`.
fn lines_of(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("read a transcript");
    assert!(text.ends_with('\n'), "the last line is whole");
    let parsed = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    parsed.collect()
}

/// The entries, without the header.
pub fn entries(site: &Site, key: &str) -> Vec<Value> {
    lines(site, key).split_off(1)
}

/// The messages, oldest first.
pub fn messages(site: &Site, key: &str) -> Vec<Value> {
    messages_among(entries(site, key))
}

/// The messages of the transcript at `path`, oldest first.
pub fn messages_of(path: &Path) -> Vec<Value> {
    messages_among(lines_of(path))
}

/// The messages of the only transcript of agent `main`, oldest first. The
/// index names a new transcript only a moment after it is on the disk.
pub fn only_messages(site: &Site) -> Vec<Value> {
    let folder = site.state().join("agents/main/sessions");
    let files = fs::read_dir(&folder).expect("read the folder of the sessions");
    let transcripts: Vec<_> = files
        .map(|entry| entry.expect("read the folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    let [transcript] = transcripts.as_slice() else {
        panic!("not one transcript: {transcripts:?}");
    };
    messages_of(transcript)
}

fn messages_among(entries: Vec<Value>) -> Vec<Value> {
    entries
        .into_iter()
        .filter(|entry| entry["type"] == "message")
        .map(|entry| entry["message"].clone())
        .collect()
}

/// The messages of a role.
pub fn of_role<'a>(messages: &'a [Value], role: &str) -> Vec<&'a Value> {
    messages
        .iter()
        .filter(|message| message["role"] == role)
        .collect()
}

/// The words of a message.
pub fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect(),
        other => panic!("not a content: {other}"),
    }
}
