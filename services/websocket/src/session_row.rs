//! A session as clients show it.

use std::sync::Arc;

use openclaw_proto::sessions::{Session, State};
use openclaw_runs::{Core, Run};
use openclaw_sessions::store::THINKING_LEVELS;
use openclaw_settings::Settings;
use serde_json::{Map, Value, json};

use crate::client::CHANNEL;

/// What somebody set of the session, and how its last run went: fields of its
/// entry that rows have under the same name.
pub(crate) const FIELDS: [&str; 26] = [
    "label",
    "displayName",
    "category",
    "icon",
    "color",
    "statusNote",
    "thinkingLevel",
    "verboseLevel",
    "traceLevel",
    "reasoningLevel",
    "elevatedLevel",
    "responseUsage",
    "sendPolicy",
    "groupActivation",
    "queueMode",
    "queueDebounceMs",
    "queueCap",
    "queueDrop",
    "pinnedAt",
    "markedUnreadAt",
    "archivedAt",
    "systemSent",
    "abortedLastRun",
    "startedAt",
    "endedAt",
    "totalTokensFresh",
];

/// Makes rows of sessions, all at the same moment.
pub(crate) struct Rows<'a> {
    core: &'a Core,
    live: Vec<Arc<Run>>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        Self {
            core,
            live: core.runs.live(),
        }
    }

    /// The row as if the run, which is about to end, were over.
    pub(crate) fn without(mut self, run: &Run) -> Self {
        self.live.retain(|live| live.id != run.id);
        self
    }

    /// The session with what its entry has of [`FIELDS`].
    pub(crate) fn row(&self, session: &Session, entry: &Map<String, Value>) -> Value {
        let mut row = Map::new();
        identity(&mut row, session);
        self.activity(&mut row, session);
        usage(&mut row, session, &self.core.configuration.settings());
        self.choices(&mut row, session);
        for name in FIELDS {
            if let Some(value) = entry.get(name).filter(|value| !value.is_null()) {
                row.insert(name.to_owned(), value.clone());
            }
        }
        let is_set = |name: &str| entry.get(name).is_some_and(|at| at.as_i64().is_some());
        row.insert("pinned".to_owned(), json!(is_set("pinnedAt")));
        row.insert("unread".to_owned(), json!(is_set("markedUnreadAt")));
        let time = |name: &str| entry.get(name).and_then(Value::as_i64);
        if let (Some(started), Some(ended)) = (time("startedAt"), time("endedAt"))
            && ended >= started
        {
            row.insert("runtimeMs".to_owned(), json!(ended - started));
        }
        let usage = entry.get("responseUsage").cloned();
        let usage = usage.unwrap_or_else(|| json!("off"));
        row.insert("effectiveResponseUsage".to_owned(), usage);
        let mode = entry.get("queueMode").cloned();
        let settings = self.core.configuration.settings();
        let mode = mode.unwrap_or_else(|| json!(settings.queue.mode(CHANNEL).name()));
        row.insert("effectiveQueueMode".to_owned(), mode);
        Value::Object(row)
    }

    /// The session's activity, and the end of its last run.
    fn activity(&self, row: &mut Map<String, Value>, session: &Session) {
        let runs = self
            .live
            .iter()
            .filter(|run| run.key.as_str() == session.key);
        let runs: Vec<&str> = runs.map(|run| run.public_id()).collect();
        let status = match session.last_status.as_str() {
            _ if !runs.is_empty() => "running",
            known @ ("done" | "failed" | "killed" | "timeout") => known,
            _ => "done",
        };
        row.insert("status".to_owned(), json!(status));
        row.insert("hasActiveRun".to_owned(), json!(!runs.is_empty()));
        row.insert("activeRunIds".to_owned(), json!(runs));
        let compacting = session.state == State::Compacting;
        row.insert("isCompacting".to_owned(), json!(compacting));
    }

    /// The model that answers next, and what can be chosen.
    fn choices(&self, row: &mut Map<String, Value>, session: &Session) {
        let chosen = session.model_override.as_str();
        let (provider, model) = match chosen.split_once('/') {
            Some((provider, model)) => (provider, model),
            None if !chosen.is_empty() => ("", chosen),
            None => (session.model_provider.as_str(), session.model.as_str()),
        };
        for (name, text) in [("modelProvider", provider), ("model", model)] {
            if !text.is_empty() {
                row.insert(name.to_owned(), json!(text));
            }
        }
        let source = (!chosen.is_empty()).then_some("user");
        row.insert("modelOverrideSource".to_owned(), json!(source));
        let levels: Vec<Value> = THINKING_LEVELS
            .iter()
            .map(|level| json!({ "id": level, "label": level }))
            .collect();
        row.insert("thinkingLevels".to_owned(), json!(levels));
        row.insert("thinkingOptions".to_owned(), json!(THINKING_LEVELS));
    }
}

fn identity(row: &mut Map<String, Value>, session: &Session) {
    let is_global = session.key == "global";
    let is_main = is_global || session.key == format!("agent:{}:main", session.agent_id);
    let kind = match session.chat_type.as_str() {
        _ if is_global => "global",
        "group" => "group",
        _ => "direct",
    };
    let classification = if is_main { "main" } else { kind };
    for (name, value) in [
        ("key", json!(session.key)),
        ("kind", json!(kind)),
        ("chatType", json!(kind)),
        ("agentId", json!(session.agent_id)),
        ("isMain", json!(is_main)),
        ("isBackground", json!(session.key.contains(":cron:"))),
        ("classification", json!(classification)),
        ("sessionId", json!(session.id)),
        ("updatedAt", json!(session.updated_at_ms)),
        ("createdAt", json!(session.created_at_ms)),
        ("archived", json!(session.archived_at_ms > 0)),
    ] {
        row.insert(name.to_owned(), value);
    }
    for (name, text) in [
        ("channel", &session.last_channel),
        ("spawnedBy", &session.spawned_by),
    ] {
        if !text.is_empty() {
            row.insert(name.to_owned(), json!(text));
        }
    }
    if session.last_interaction_at_ms > 0 {
        for name in ["lastInteractionAt", "lastActivityAt"] {
            row.insert(name.to_owned(), json!(session.last_interaction_at_ms));
        }
    }
}

fn usage(row: &mut Map<String, Value>, session: &Session, settings: &Settings) {
    let tokens = session.tokens;
    let chosen = Some(session.model_override.as_str()).filter(|it| !it.is_empty());
    let model = chosen.or_else(|| settings.model_of(&session.agent_id));
    let window = settings.context_window(model);
    for (name, value) in [
        ("inputTokens", json!(tokens.input)),
        ("outputTokens", json!(tokens.output)),
        ("cacheRead", json!(tokens.cache_read)),
        ("cacheWrite", json!(tokens.cache_write)),
        ("totalTokens", json!(tokens.context)),
        ("totalTokensFresh", json!(false)),
        ("contextTokens", json!(window)),
        ("compactionCount", json!(session.compaction_count)),
        ("estimatedCostUsd", json!(session.cost_usd)),
    ] {
        row.insert(name.to_owned(), value);
    }
}

/// The payload of `sessions.changed`: the row under its name, and its fields
/// beside it, where what is not set is null.
pub(crate) fn changed(row: Value, about: Value) -> Value {
    let mut payload = json!({ "sessionKey": row["key"] });
    for name in FIELDS {
        payload[name] = Value::Null;
    }
    if let (Some(row), Some(about)) = (row.as_object(), about.as_object()) {
        for (name, value) in row.iter().filter(|(name, _)| *name != "key").chain(about) {
            payload[name] = value.clone();
        }
    }
    payload["session"] = row;
    payload
}
