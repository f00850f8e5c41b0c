//! `health`, `status`, `system-*` and other questions about the gateway itself.

use openclaw_proto::sessions::Query;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::now_ms;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Call, models};
use crate::ws::{health, presence};

/// Sessions named in `status`.
const RECENT_LIMIT: u32 = 10;

/// Characters of a system event.
const EVENT_LIMIT: usize = 4000;

#[derive(Deserialize)]
struct Health {
    #[serde(default)]
    probe: bool,
}

/// `health`
pub(super) async fn health(mut call: Call) -> Result<Answer, Failure> {
    let params: Health = call.params()?;
    let snapshot = health::current(&call.gateway, params.probe).await;
    let snapshot = snapshot?;
    Ok(Value::clone(&snapshot).into())
}

/// `status`
pub(super) async fn status(call: Call) -> Result<Answer, Failure> {
    let gateway = &call.gateway;
    let settings = gateway.configuration.settings();
    let query = Query {
        limit: RECENT_LIMIT,
        brief: true,
        ..Query::default()
    };
    let page = gateway.sessions.list(query).await?;
    let now = now_ms();
    let recent: Vec<Value> = page
        .sessions
        .iter()
        .map(|session| {
            json!({
                "agentId": session.agent_id,
                "key": session.key,
                "kind": "direct",
                "sessionId": session.id,
                "updatedAt": session.updated_at_ms,
                "age": (now - session.updated_at_ms).max(0),
                "flags": [format!("id:{}", session.id)],
            })
        })
        .collect();
    let paths: Vec<String> = settings
        .agents
        .keys()
        .map(|id| settings.paths.sessions(id).join("sessions.json"))
        .map(|path| path.display().to_string())
        .collect();
    let (running, waiting) = gateway.lanes.counts();
    let (_, model) = models::configured(gateway, &settings.default_agent);
    Ok(json!({
        "runtimeVersion": env!("CARGO_PKG_VERSION"),
        "heartbeat": { "defaultAgentId": settings.default_agent, "agents": [] },
        "channelSummary": [],
        "queuedSystemEvents": [],
        "turns": { "running": running, "waiting": waiting },
        "sessions": {
            "paths": paths,
            "count": page.total,
            "defaults": { "model": model, "contextTokens": settings.memory.context_tokens },
            "recent": recent,
            "byAgent": [],
        },
    })
    .into())
}

/// `system-presence`
pub(super) async fn presence(call: Call) -> Result<Answer, Failure> {
    Ok(Value::Array(call.gateway.hub.presence.list()).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    text: Filled,
    #[serde(flatten)]
    about: Map<String, Value>,
}

/// `system-event`: somebody tells how a system is.
pub(super) async fn event(mut call: Call) -> Result<Answer, Failure> {
    let params: Event = call.params()?;
    let text: String = params.text.chars().take(EVENT_LIMIT).collect();
    let mut entry = Map::new();
    for name in [
        "host",
        "ip",
        "version",
        "platform",
        "deviceFamily",
        "modelIdentifier",
        "mode",
        "reason",
        "deviceId",
        "instanceId",
    ] {
        let value = params.about.get(name).filter(|it| it.is_string());
        entry.extend(value.map(|value| (name.to_owned(), value.clone())));
    }
    let key = call.gateway.key("", "")?;
    call.gateway.system_events.push(&key, &text);
    entry.insert("text".to_owned(), json!(text));
    entry.insert("ts".to_owned(), json!(now_ms()));
    call.gateway.hub.presence.note(entry);
    presence::announce(&call.gateway.hub);
    Ok(json!({ "ok": true }).into())
}

/// `last-heartbeat`: there are none yet.
pub(super) async fn last_heartbeat(_call: Call) -> Result<Answer, Failure> {
    Ok(Value::Null.into())
}

/// `update.status`: updates are the package manager's.
pub(super) async fn update(_call: Call) -> Result<Answer, Failure> {
    Ok(json!({
        "sentinel": null,
        "updateAvailable": null,
        "effectiveChannel": "stable",
        "schedule": { "channel": "stable", "autoEnabled": false },
    })
    .into())
}
