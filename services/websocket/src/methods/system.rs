//! `health`, `system-*` and other questions about the gateway itself.

use crate::refused::{refused, unrecorded};
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_protocol::scope::Scope;
use openclaw_sessions::now_ms;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Call};

methods! {
    "health" => Anyone, health;
    "last-heartbeat" => READ, last_heartbeat;
    "system-event" => ADMIN, event;
    "system-presence" => READ, presence;
}

/// Characters of a system event.
const EVENT_LIMIT: usize = 4000;

#[derive(Deserialize)]
struct Health {
    #[serde(default)]
    probe: bool,
}

/// `health`. A node learns that the gateway answers, and no more.
async fn health(mut call: Call) -> Result<Answer, Failure> {
    let params: Health = call.params()?;
    if !call.client.may(Scope::Read) {
        return Ok(json!({ "ok": true, "ts": now_ms() }).into());
    }
    let snapshot = call.context.health.current(params.probe).await;
    let snapshot = snapshot.map_err(refused)?;
    Ok(Value::clone(&snapshot).into())
}

/// `system-presence`
async fn presence(call: Call) -> Result<Answer, Failure> {
    Ok(Value::Array(call.context.presence.list()).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    text: Filled,
    #[serde(flatten)]
    about: Map<String, Value>,
}

/// `system-event`: somebody tells how a system is.
async fn event(mut call: Call) -> Result<Answer, Failure> {
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
    let key = call.context.core.key("", "").map_err(refused)?;
    let events = &call.context.core.system_events;
    let kept = events.push(&key, &text, |_| Ok(())).await;
    kept.map_err(unrecorded)?;
    entry.insert("text".to_owned(), json!(text));
    entry.insert("ts".to_owned(), json!(now_ms()));
    call.context.presence.noted(entry);
    Ok(json!({ "ok": true }).into())
}

/// `last-heartbeat`: how an agent took it that was woken last; null: none was.
async fn last_heartbeat(call: Call) -> Result<Answer, Failure> {
    let last = call
        .context
        .core
        .heartbeats
        .last()
        .await
        .map_err(unrecorded)?;
    Ok(last.unwrap_or(Value::Null).into())
}
