//! Transcripts: every line parses, every message is there once, every run has
//! one end, and an answer that was given is there in full.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use integration_tests::transcript::text;
use openclaw_proto::event::Kind;
use serde_json::Value;

use crate::record::{Message, RecordState};

/// The messages of the transcripts, by session key.
type Sessions = BTreeMap<String, Vec<Value>>;

pub(super) fn check(folder: &Path, pages: &RecordState) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    let sessions = read(folder, &mut wrong)?;
    for message in pages.messages.values() {
        match sessions.get(&message.session_key) {
            Some(entries) => wrong.extend(one(entries, message)),
            None => wrong.push(format!(
                "{}: there is no session {}",
                message.errand.key, message.session_key
            )),
        }
    }
    wrong.extend(strangers(&sessions, pages));
    Ok(wrong)
}

fn read(folder: &Path, wrong: &mut Vec<String>) -> anyhow::Result<Sessions> {
    let index = index(folder)?;
    let mut sessions = Sessions::new();
    for (key, file) in &index {
        sessions.insert(key.clone(), messages(&folder.join(file), wrong));
    }
    for name in strays(folder, &index)? {
        wrong.push(format!("{name}: a transcript that belongs to no session"));
    }
    Ok(sessions)
}

/// Whether the index names every transcript. It is written a moment after
/// them.
pub(super) fn are_indexed(folder: &Path) -> bool {
    let strays = index(folder).and_then(|index| strays(folder, &index));
    strays.is_ok_and(|strays| strays.is_empty())
}

/// The transcript's file of each session.
fn index(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let path = folder.join("sessions.json");
    let context = || format!("read {}", path.display());
    let text = fs::read_to_string(&path).with_context(context)?;
    let index: BTreeMap<String, Value> = serde_json::from_str(&text).with_context(context)?;
    let file = |entry: &Value| {
        let file = entry["sessionFile"].as_str().unwrap_or_default();
        file.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let files = index.into_iter().map(|(key, entry)| (key, file(&entry)));
    Ok(files.collect())
}

/// Transcripts that the index does not have.
fn strays(folder: &Path, index: &BTreeMap<String, String>) -> anyhow::Result<Vec<String>> {
    let known: BTreeSet<&String> = index.values().collect();
    let entries = fs::read_dir(folder)?.flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let strays = names.filter(|name| name.ends_with(".jsonl") && !known.contains(name));
    Ok(strays.collect())
}

/// The messages of one transcript. Each line is JSON, and its entries are one
/// chain.
fn messages(path: &Path, wrong: &mut Vec<String>) -> Vec<Value> {
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            wrong.push(format!("{shown}: {error}"));
            return Vec::new();
        }
    };
    if !text.ends_with('\n') {
        wrong.push(format!("{shown}: the last line is not whole"));
    }
    let mut found = Vec::new();
    let mut last = Value::Null;
    for (number, line) in text.lines().enumerate() {
        let Ok(mut entry) = serde_json::from_str::<Value>(line) else {
            wrong.push(format!("{shown}:{}: not JSON", number + 1));
            continue;
        };
        if number == 0 {
            continue;
        }
        if entry["parentId"] != last {
            wrong.push(format!("{shown}:{}: the chain is broken", number + 1));
        }
        last = entry["id"].clone();
        if entry["type"] == "message" {
            found.push(entry["message"].take());
        }
    }
    found
}

fn one(messages: &[Value], message: &Message) -> Vec<String> {
    let (key, run_id) = (&message.errand.key, &message.run_id);
    let mut wrong = Vec::new();
    let asked = messages.iter().filter(|said| said["role"] == "user");
    let asked: Vec<&Value> = asked
        .filter(|said| text(said) == message.errand.text)
        .collect();
    let of_run = format!("{run_id}:user");
    if asked.len() != 1 || asked[0]["idempotencyKey"] != of_run {
        wrong.push(format!(
            "{key}: run {run_id}: the message is {} times in its transcript",
            asked.len()
        ));
    }
    let answers: Vec<&Value> = messages
        .iter()
        .filter(|said| said["__openclaw"]["runId"] == **run_id)
        .collect();
    let ends: Vec<usize> = (0..answers.len())
        .filter(|at| is_end(answers[*at]))
        .collect();
    if ends.len() != 1 || ends[0] + 1 != answers.len() {
        wrong.push(format!(
            "{key}: run {run_id} has {} entries, and ends at {ends:?}",
            answers.len()
        ));
    }
    if matches!(message.outcome, Some(Kind::Done(_))) {
        wrong.extend(whole(&answers, message));
    }
    wrong
}

fn is_end(said: &Value) -> bool {
    said["role"] == "assistant" && said["stopReason"] != "toolUse"
}

/// A run that is done has its whole answer, and a result for every call.
fn whole(answers: &[&Value], message: &Message) -> Vec<String> {
    let (key, run_id) = (&message.errand.key, &message.run_id);
    let mut wrong = Vec::new();
    let of_role = |role: &'static str| answers.iter().filter(move |said| said["role"] == role);
    let told: String = of_role("assistant").map(|said| text(said)).collect();
    if told != message.errand.answer {
        wrong.push(format!("{key}: run {run_id} is kept as {told:?}"));
    }
    let results: Vec<&Value> = of_role("toolResult")
        .map(|said| &said["toolCallId"])
        .collect();
    let calls: Vec<&Value> = of_role("assistant")
        .filter_map(|said| said["content"].as_array())
        .flatten()
        .filter(|block| block["type"] == "toolCall")
        .map(|block| &block["id"])
        .collect();
    if calls != results || calls.len() != message.errand.effects.len() {
        wrong.push(format!(
            "{key}: run {run_id} has the calls {calls:?} and the results {results:?}"
        ));
    }
    wrong
}

/// Messages and answers of runs that nobody was told of.
fn strangers(sessions: &Sessions, pages: &RecordState) -> Vec<String> {
    let known: BTreeSet<&str> = pages
        .messages
        .values()
        .map(|message| message.run_id.as_str())
        .collect();
    let mut wrong = Vec::new();
    let own = sessions.iter().filter(|(key, _)| key.contains(&pages.mark));
    for (key, messages) in own {
        for said in messages {
            let run_id = match said["idempotencyKey"].as_str() {
                Some(of_run) => of_run.trim_end_matches(":user"),
                None => said["__openclaw"]["runId"].as_str().unwrap_or_default(),
            };
            if !known.contains(run_id) {
                wrong.push(format!(
                    "{key}: an entry of the run {run_id:?}, which nobody knows"
                ));
            }
        }
    }
    wrong
}
