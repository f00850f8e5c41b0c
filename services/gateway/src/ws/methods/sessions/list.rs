//! `sessions.list`.

use openclaw_proto::gateway::Session;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::{AgentId, now_ms};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Answer, Call, models};
use crate::ws::refused::stored;

/// Rows when the client does not say how many.
const DEFAULT_LIMIT: usize = 100;

const MINUTE_MS: i64 = 60_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    limit: Option<usize>,
    offset: Option<usize>,
    active_minutes: Option<i64>,
    agent_id: Option<Filled>,
    search: Option<String>,
}

/// `sessions.list`: the newest first.
pub(in super::super) async fn list(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let agent = match params.agent_id.as_deref() {
        Some(id) => {
            super::super::agents::known(&call.gateway.configuration.settings(), id)?;
            let id: AgentId = id.parse().map_err(crate::refusal::Refusal::Agent)?;
            Some(id)
        }
        None => None,
    };
    let sessions = call.gateway.storage.list(agent).await;
    let mut sessions = sessions.map_err(|fault| stored(&fault))?;
    let now = now_ms();
    if let Some(minutes) = params.active_minutes {
        sessions.retain(|it| now - it.updated_at_ms <= minutes.saturating_mul(MINUTE_MS));
    }
    if let Some(search) = params.search.map(|text| text.to_lowercase()) {
        sessions.retain(|it| it.key.to_lowercase().contains(&search));
    }
    sessions.sort_by_key(|it| std::cmp::Reverse(it.updated_at_ms));
    let total = sessions.len();
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
    let offset = params.offset.unwrap_or(0).min(total);
    let rows: Vec<Value> = sessions
        .iter()
        .skip(offset)
        .take(limit)
        .map(|session| row(&call, session))
        .collect();
    let next = offset + rows.len();
    let settings = call.gateway.configuration.settings();
    let (provider, model) = models::configured(&call.gateway, &settings.default_agent);
    Ok(json!({
        "ts": now,
        "path": settings.paths.sessions(&settings.default_agent).join("sessions.json"),
        "count": rows.len(),
        "totalCount": total,
        "limitApplied": limit,
        "nextOffset": (next < total).then_some(next),
        "hasMore": next < total,
        "owners": [],
        "defaults": {
            "modelProvider": provider,
            "model": model,
            "contextTokens": settings.memory.context_tokens,
        },
        "sessions": rows,
    })
    .into())
}

fn row(call: &Call, session: &Session) -> Value {
    let main = format!("agent:{}:main", session.agent_id);
    let is_main = session.key == main;
    let kind = if session.key.contains(":group:") {
        "group"
    } else {
        "direct"
    };
    let active = openclaw_sessions::SessionKey::parse(
        &session.key,
        &session.agent_id.parse().unwrap_or_else(|_| AgentId::main()),
    )
    .is_ok_and(|key| !call.gateway.lanes.runs(&key).is_empty());
    json!({
        "key": session.key,
        "kind": kind,
        "chatType": kind,
        "agentId": session.agent_id,
        "isMain": is_main,
        "classification": if is_main { "main" } else { kind },
        "sessionId": session.id,
        "updatedAt": session.updated_at_ms,
        "createdAt": session.created_at_ms,
        "archived": false,
        "pinned": false,
        "hasActiveRun": active,
        "status": if active { "running" } else { "done" },
    })
}
