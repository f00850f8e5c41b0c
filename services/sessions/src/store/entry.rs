//! One session as the index knows it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::parse_iso;
use crate::transcript::{Count, Header, Usage};

/// The index fields that are ours; the others are OpenClaw's.
const BACKENDS: &str = "openclawBackendSessions";
const COUNTED: &str = "openclawCounted";

/// Longest session id. It is a file name, and an id is a UUID.
const SESSION_ID_LIMIT: usize = 128;

/// One session. Two fields are always there; of the others only those that are
/// used have methods, and all are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    session_id: String,
    updated_at: i64,
    #[serde(flatten)]
    rest: Map<String, Value>,
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
            rest: Map::new(),
        };
        entry.set("sessionFile", file);
        if let Some(started) = parse_iso(&header.timestamp) {
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

    /// Sets a field of OpenClaw's.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.rest.insert(field.to_owned(), value.into());
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

    /// Notes the session that `backend` keeps.
    pub fn set_backend_session(&mut self, backend: &str, session: &BackendSession) {
        let value = serde_json::json!(session);
        match self.rest.get_mut(BACKENDS) {
            Some(Value::Object(backends)) => {
                backends.insert(backend.to_owned(), value);
            }
            _ => self.set(BACKENDS, Map::from_iter([(backend.to_owned(), value)])),
        }
    }

    pub(super) fn session_file(&self) -> Option<&str> {
        self.rest.get("sessionFile")?.as_str()
    }

    pub(super) fn counted(&self) -> Count {
        self.get(COUNTED).unwrap_or_default()
    }

    pub(super) fn set_counted(&mut self, count: Count) {
        self.set(COUNTED, serde_json::json!(count));
    }

    /// Whether the id can be a file name.
    pub(super) fn is_usable(&self) -> bool {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        (1..=SESSION_ID_LIMIT).contains(&self.session_id.len())
            && !self.session_id.starts_with('.')
            && self.session_id.chars().all(allowed)
    }
}
