//! Looking at sessions: `sessions.preview`, `resolve`, `describe`, `get`.

use crate::refused::refused;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::{SessionKey, now_ms};
use serde::Deserialize;
use serde_json::{Value, json};

use openclaw_conversations::Refusal;

use super::super::{Answer, Call};
use crate::session_row::Rows;

methods! {
    "sessions.describe" => READ, describe;
    "sessions.preview" => READ, preview;
    "sessions.resolve" => READ, resolve;
}

/// Sessions that one preview may name.
const KEYS_LIMIT: usize = 64;

/// Things said, of each of them.
const ITEMS_LIMIT: usize = 50;

/// Characters of each, when the client does not say how many.
const CHARS: usize = 240;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Preview {
    keys: Vec<Filled>,
    limit: Option<usize>,
    max_chars: Option<usize>,
}

/// `sessions.preview`: the last words of some sessions.
async fn preview(mut call: Call) -> Result<Answer, Failure> {
    let params: Preview = call.params()?;
    let limit = params.limit.unwrap_or(12).clamp(1, ITEMS_LIMIT);
    let chars = params.max_chars.unwrap_or(CHARS).max(20);
    let mut previews = Vec::new();
    for name in params.keys.iter().take(KEYS_LIMIT) {
        // One that makes no sense does not take the others along.
        let key = call.context.core.key(name, "").ok();
        let shown = call
            .context
            .core
            .sessions
            .preview(key.as_slice(), limit, chars)
            .await
            .map_err(refused)?;
        previews.push(match shown.first() {
            Some(preview) => shown_preview(preview),
            None => json!({ "key": name.0, "status": "missing", "items": [] }),
        });
    }
    Ok(json!({ "ts": now_ms(), "previews": previews }).into())
}

fn shown_preview(preview: &openclaw_proto::sessions::Preview) -> Value {
    let items: Vec<Value> = preview
        .items
        .iter()
        .map(|item| json!({ "role": item.role, "text": item.text }))
        .collect();
    let status = match (preview.found, items.is_empty()) {
        (false, _) => "missing",
        (true, true) => "empty",
        (true, false) => "ok",
    };
    json!({ "key": preview.key, "status": status, "items": items })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resolve {
    key: Option<Filled>,
    session_id: Option<Filled>,
    label: Option<Filled>,
    short_id: Option<Filled>,
    agent_id: Option<Filled>,
    #[serde(default)]
    allow_missing: bool,
}

/// `sessions.resolve`: the canonical key of a session that is named somehow.
async fn resolve(mut call: Call) -> Result<Answer, Failure> {
    let params: Resolve = call.params()?;
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let names = [
        &params.key,
        &params.session_id,
        &params.label,
        &params.short_id,
    ];
    let mut names = names.into_iter().flatten();
    let (Some(name), None) = (names.next(), names.next()) else {
        return Err(Failure::invalid(
            "provide exactly one of key, sessionId, label or shortId",
        ));
    };
    if params.key.is_some() {
        let key = call.context.core.key(name, agent).map_err(refused)?;
        return match exists(&call, &key).await? {
            true => Ok(found(key.as_str(), key.agent().as_str()).into()),
            false if params.allow_missing => Ok(json!({ "ok": false }).into()),
            false => Err(refused(Refusal::unknown(&key))),
        };
    }
    match call.context.core.sessions.resolve(name, agent).await {
        Ok(key) => Ok(found(key.as_str(), key.agent().as_str()).into()),
        Err(Refusal::UnknownSession(_)) if params.allow_missing => {
            Ok(json!({ "ok": false }).into())
        }
        Err(refusal) => Err(refused(refusal)),
    }
}

/// Whether there is such a session. A main session is there before anything was said in it.
pub(in super::super) async fn exists(call: &Call, key: &SessionKey) -> Result<bool, Failure> {
    if key.is_main() {
        return Ok(true);
    }
    match call.context.core.sessions.entry(key).await {
        Ok(_) => Ok(true),
        Err(Refusal::UnknownSession(_)) => Ok(false),
        Err(refusal) => Err(refused(refusal)),
    }
}

fn found(key: &str, agent: &str) -> Value {
    json!({ "ok": true, "key": key, "agentId": agent })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ByKey {
    key: Filled,
    agent_id: Option<Filled>,
}

/// `sessions.describe`: one row; null when there is no such session.
async fn describe(mut call: Call) -> Result<Answer, Failure> {
    let params: ByKey = call.params()?;
    let key = call.key(&params.key, params.agent_id.as_deref())?;
    let row = call.session(&key).await?.map(|shown| {
        let rows = Rows::new(&call.context.core);
        rows.row(&shown.session, &shown.entry)
    });
    Ok(json!({ "session": row }).into())
}
