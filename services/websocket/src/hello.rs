//! `hello-ok`: what a client is told when it is let in.

use openclaw_protocol::VERSION;
use openclaw_protocol::client::Role;
use openclaw_protocol::scope::Scope;
use openclaw_runs::TEXT_LIMIT;
use openclaw_sessions::SessionKey;
use openclaw_settings::Settings;
use openclaw_settings::gateway::AuthMode;
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use super::connect::{Admitted, BUILD_ID};
use super::hub::TICK_INTERVAL;
use super::methods::{self, Context};
use super::outbox;
use super::socket::PAYLOAD_LIMIT;

/// Bytes of a picture. None is taken, and the protocol has no smaller number.
const IMAGE_LIMIT: usize = 1;

/// A capability that clients look for: `models.list` tells the configured models.
const CAPABILITIES: [&str; 1] = ["published-model-catalog"];

/// The events that are sent.
const EVENTS: [&str; 15] = [
    "connect.challenge",
    "agent",
    "chat",
    "session.message",
    "sessions.changed",
    "presence",
    "tick",
    "shutdown",
    "health",
    "heartbeat",
    "cron",
    "device.pair.requested",
    "device.pair.resolved",
    "exec.approval.requested",
    "exec.approval.resolved",
];

/// The payload for a client that was let in as `admitted`.
/// `configuration` is what [`configuration_hash`] said.
pub(super) fn payload(
    context: &Context,
    conn_id: &str,
    admitted: &Admitted,
    configuration: Option<String>,
) -> Value {
    let hub = &context.hub;
    let identity = &admitted.identity;
    let methods = match identity.role {
        Role::Operator => methods::names(),
        Role::Node | Role::Worker => Vec::new(),
    };
    json!({
        "type": "hello-ok",
        "protocol": VERSION,
        "server": {
            "version": env!("CARGO_PKG_VERSION"),
            "buildId": BUILD_ID,
            "bootId": hub.boot_id,
            "connId": conn_id,
        },
        "features": { "methods": methods, "events": EVENTS, "capabilities": CAPABILITIES },
        "snapshot": if identity.may(Scope::Read) { snapshot(context, configuration) } else { bare_snapshot(context) },
        "auth": auth(admitted),
        "policy": {
            "maxPayload": PAYLOAD_LIMIT,
            "maxBufferedBytes": outbox::BYTE_LIMIT,
            "tickIntervalMs": TICK_INTERVAL.as_millis() as u64,
            "attachments": { "maxBytes": TEXT_LIMIT, "maxImageBytes": IMAGE_LIMIT },
        },
    })
}

fn auth(admitted: &Admitted) -> Value {
    let mut auth = Map::new();
    auth.insert("role".to_owned(), json!(admitted.identity.role.as_str()));
    auth.insert("scopes".to_owned(), json!(admitted.identity.scopes));
    if let Some(issued) = &admitted.issued {
        auth.insert("deviceToken".to_owned(), json!(issued.token));
        auth.insert("issuedAtMs".to_owned(), json!(issued.at_ms));
    }
    Value::Object(auth)
}

/// For operators who may read.
fn snapshot(context: &Context, configuration: Option<String>) -> Value {
    let settings = context.core.configuration.settings();
    let mut snapshot = bare_snapshot(context);
    snapshot["presence"] = context.presence.list().into();
    snapshot["health"] = context.health.snapshot();
    snapshot["appliedConfigHash"] = json!(configuration);
    snapshot["configPath"] = json!(settings.paths.configuration.display().to_string());
    snapshot["stateDir"] = json!(settings.paths.state.display().to_string());
    snapshot["authMode"] = json!(match settings.gateway.mode {
        AuthMode::Token => "token",
        AuthMode::Password => "password",
        AuthMode::None => "none",
    });
    snapshot
}

/// For nodes and operators without the scope to read: what the protocol wants to be there, without
/// who else is connected, how the gateway is, and where its files are.
fn bare_snapshot(context: &Context) -> Value {
    let settings = context.core.configuration.settings();
    let agent = &settings.default_agent;
    let sole = settings.agents.len() == 1;
    let main = context.core.key("", agent).ok();
    json!({
        "suspension": { "phase": "accepting" },
        "presence": [],
        "health": {},
        "stateVersion": context.hub.versions.current(),
        "uptimeMs": context.core.started.elapsed().as_millis() as u64,
        "sessionDefaults": {
            "defaultAgentId": agent,
            "modelConfigured": settings.model_of(&settings.default_agent).is_some(),
            "ownership": if sole { "sole" } else { "explicit" },
            "selectionRequired": false,
            "mainKey": "main",
            "mainSessionKey": main.as_ref().map(SessionKey::as_str),
            "scope": settings.session.scope.name(),
        },
    })
}

/// Names the configuration file's contents; null when there is no file.
pub(super) async fn configuration_hash(settings: &Settings) -> Option<String> {
    let bytes = tokio::fs::read(&settings.paths.configuration).await.ok()?;
    let hash = digest(&SHA256, &bytes);
    Some(format!(
        "sha256:{}",
        openclaw_protocol::device::hex(hash.as_ref())
    ))
}
