//! One session as the index knows it.

use std::sync::OnceLock;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value, json};
use uuid::Uuid;

use crate::time::unix_ms;
use crate::transcript::{Count, Header, Usage};

/// The index fields that are ours; the others are OpenClaw's.
const BACKENDS: &str = "openclawBackendSessions";

/// What counts a conversation since its last reset.
const COUNTERS: [&str; 6] = [
    "inputTokens",
    "outputTokens",
    "cacheRead",
    "cacheWrite",
    "totalTokens",
    "compactionCount",
];

/// What tells of the last run.
const LAST_RUN: [&str; 6] = [
    "status",
    "startedAt",
    "endedAt",
    "runtimeMs",
    "estimatedCostUsd",
    "contextBudgetStatus",
];

/// Longest session id. It is a file name, and an id is a UUID.
const SESSION_ID_LIMIT: usize = 128;

/// One session. Two fields are always there; of the others only those that are
/// used have methods, and all are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    session_id: String,
    #[serde(default, deserialize_with = "milliseconds")]
    updated_at: i64,
    /// How much of the transcript has been counted. Not OpenClaw's.
    #[serde(
        rename = "openclawCounted",
        default,
        skip_serializing_if = "Count::is_nothing"
    )]
    counted: Count,
    /// Whether the count was compared with the file since the start.
    #[serde(skip)]
    is_count_checked: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
    #[serde(skip)]
    listed: Memo,
}

/// What was made of an entry for lists. It is no part of the entry.
#[derive(Debug, Default)]
struct Memo(OnceLock<ListedEntry>);

impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An entry made ready for lists.
#[derive(Debug)]
pub struct ListedEntry {
    /// Whether it is archived.
    pub is_archived: bool,
    /// What a list has of it.
    pub row: Bytes,
}

/// The session that a backend keeps of the same conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackendSession {
    /// The backend's name for it.
    pub id: String,
    /// The last entry of the transcript that the backend has seen.
    pub through_entry_id: String,
}

impl SessionEntry {
    pub(super) fn new(session_id: String, chat_type: &str, now_ms: i64) -> Self {
        let mut entry = Self {
            updated_at: now_ms,
            ..Self::default()
        };
        entry.set("sessionFile", format!("{session_id}.jsonl"));
        entry.set("sessionStartedAt", now_ms);
        entry.set("chatType", chat_type);
        entry.session_id = session_id;
        entry
    }

    /// The entry of a transcript whose index was lost.
    pub(super) fn recovered(header: &Header, file: &str, updated_at: i64) -> Self {
        let mut entry = Self {
            session_id: header.id.clone(),
            updated_at,
            ..Self::default()
        };
        entry.set("sessionFile", file);
        if let Some(started) = unix_ms(&header.timestamp) {
            entry.set("sessionStartedAt", started);
        }
        entry
    }

    /// The session's id.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Unix milliseconds of the last change.
    pub fn updated_at(&self) -> i64 {
        self.updated_at
    }

    /// Unix milliseconds of the first message, as far as the index says.
    pub fn started_at(&self) -> Option<i64> {
        self.get("sessionStartedAt")
    }

    /// A field of OpenClaw's by its name, when it has the wanted type.
    pub fn get<T: DeserializeOwned>(&self, field: &str) -> Option<T> {
        T::deserialize(self.rest.get(field)?).ok()
    }

    /// All of OpenClaw's fields but the id and the time of the last change.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.rest.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// What `make` makes of it for lists; kept until the entry is changed. Long
    /// lists are made of thousands that did not change.
    pub fn listed(&self, make: impl FnOnce(&Self) -> ListedEntry) -> &ListedEntry {
        self.listed.0.get_or_init(|| make(self))
    }

    pub(super) fn forget_listed(&mut self) {
        self.listed = Memo::default();
    }

    /// Sets a field of OpenClaw's.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.rest.insert(field.to_owned(), value.into());
    }

    /// Takes a field away.
    pub fn clear(&mut self, field: &str) {
        self.rest.shift_remove(field);
    }

    /// Everything the index has of the session, as it is written.
    pub fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            // A struct with text keys is always an object.
            _ => Map::new(),
        }
    }

    /// A text field; absent and empty are the same.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.rest
            .get(field)?
            .as_str()
            .filter(|text| !text.is_empty())
    }

    /// The name somebody gave it.
    pub fn label(&self) -> Option<&str> {
        self.text("label")
    }

    /// `provider/model`, or a model alone, that this session wants instead of its agent's.
    pub fn model_override(&self) -> Option<String> {
        let model = self.text("modelOverride")?;
        Some(match self.text("providerOverride") {
            Some(provider) => format!("{provider}/{model}"),
            None => model.to_owned(),
        })
    }

    pub(super) fn set_model_override(&mut self, provider: Option<&str>, model: &str) {
        self.set("modelOverride", model);
        match provider {
            Some(provider) => self.set("providerOverride", provider),
            None => self.clear("providerOverride"),
        }
    }

    pub(super) fn clear_model_override(&mut self) {
        self.clear("modelOverride");
        self.clear("providerOverride");
    }

    pub(crate) fn set_updated_at(&mut self, unix_ms: i64) {
        self.updated_at = unix_ms;
    }

    /// When it was archived, in Unix milliseconds.
    pub fn archived_at(&self) -> Option<i64> {
        self.get("archivedAt")
    }

    /// When somebody last wrote to it, in Unix milliseconds.
    pub fn last_interaction_at(&self) -> Option<i64> {
        self.get("lastInteractionAt")
    }

    /// Begins the conversation anew: what counts it is zero, what backends keep
    /// of it is forgotten, and what the user set stays.
    pub fn reset(&mut self, now_ms: i64) {
        for field in COUNTERS {
            self.set(field, 0);
        }
        for field in LAST_RUN {
            self.clear(field);
        }
        self.clear(BACKENDS);
        self.set("totalTokensFresh", true);
        self.set("systemSent", false);
        self.set("abortedLastRun", false);
        self.set("sessionStartedAt", now_ms);
        self.set("lifecycleRevision", Uuid::new_v4().to_string());
        self.touch(now_ms);
    }

    /// Notes a compaction: the context is shorter, by how much nobody knows
    /// before the next response.
    pub fn compacted(&mut self, now_ms: i64) {
        let before: u64 = self.get("compactionCount").unwrap_or_default();
        self.set("compactionCount", before + 1);
        self.set("totalTokensFresh", false);
        self.clear(BACKENDS);
        self.touch(now_ms);
    }

    /// Adds what a turn cost, in US dollars.
    pub fn add_cost(&mut self, dollars: f64) {
        let before: f64 = self.get("estimatedCostUsd").unwrap_or_default();
        if let Some(sum) = Number::from_f64(before + dollars) {
            self.set("estimatedCostUsd", sum);
        }
    }

    /// Notes a change at `now_ms`.
    pub fn touch(&mut self, now_ms: i64) {
        self.updated_at = self.updated_at.max(now_ms);
    }

    /// Adds the tokens of a turn. `total` is what the last response's prompt
    /// and answer had together: how full the context is.
    pub fn add_usage(&mut self, turn: &Usage, total: u64) {
        for (field, tokens) in [
            ("inputTokens", turn.input),
            ("outputTokens", turn.output),
            ("cacheRead", turn.cache_read),
            ("cacheWrite", turn.cache_write),
        ] {
            let before: u64 = self.get(field).unwrap_or_default();
            self.set(field, before.saturating_add(tokens));
        }
        self.set("totalTokens", total);
        self.set("totalTokensFresh", true);
        // Whoever answered had its instructions first.
        if turn.input + turn.cache_read + turn.cache_write > 0 {
            self.set("systemSent", true);
        }
    }

    /// The sessions that backends keep, by backend.
    pub fn backend_sessions(&self) -> Vec<(String, BackendSession)> {
        let Some(Value::Object(backends)) = self.rest.get(BACKENDS) else {
            return Vec::new();
        };
        let session = |value| BackendSession::deserialize(value).ok();
        backends
            .iter()
            .filter_map(|(backend, value)| Some((backend.clone(), session(value)?)))
            .collect()
    }

    /// No backend goes on with a session of its own.
    pub fn forget_backend_sessions(&mut self) {
        self.clear(BACKENDS);
    }

    /// Notes the session that `backend` keeps.
    pub fn set_backend_session(&mut self, backend: &str, session: &BackendSession) {
        let value = json!(session);
        match self.rest.get_mut(BACKENDS) {
            Some(Value::Object(backends)) => {
                backends.insert(backend.to_owned(), value);
            }
            _ => self.set(BACKENDS, json!({ backend: value })),
        }
    }

    pub(super) fn session_file(&self) -> Option<&str> {
        self.rest.get("sessionFile")?.as_str()
    }

    /// What has been counted of its transcript.
    pub fn counted(&self) -> Count {
        self.counted
    }

    /// Whether that is the whole transcript, as far as is known since the start.
    pub fn is_counted(&self) -> bool {
        self.is_count_checked
    }

    pub(super) fn distrust_count(&mut self) {
        self.is_count_checked = false;
    }

    /// What was counted of its transcript.
    pub fn set_counted(&mut self, count: Count) {
        self.counted = count;
        self.is_count_checked = true;
    }

    /// Whether the id can be a file name.
    pub(super) fn is_usable(&self) -> bool {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        (1..=SESSION_ID_LIMIT).contains(&self.session_id.len())
            && !self.session_id.starts_with('.')
            && self.session_id.chars().all(allowed)
    }
}

/// Unix milliseconds that some program wrote as a fraction are still a time.
fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    let whole = number.as_i64();
    Ok(whole.unwrap_or_else(|| number.as_f64().unwrap_or_default() as i64))
}

#[cfg(test)]
mod tests;
