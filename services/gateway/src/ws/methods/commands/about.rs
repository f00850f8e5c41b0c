//! Commands that say how things are.

use std::time::Duration;

use openclaw_protocol::Failure;
use openclaw_sessions::SessionKey;

use super::super::chat::session_of;
use super::super::{Call, models};

/// `/status`
pub(super) async fn status(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let gateway = &call.gateway;
    let (provider, model) = models::configured(gateway, key.agent().as_str());
    let model = match model.as_str() {
        "" => "chosen by the backend".to_owned(),
        model => format!("{provider}/{model}"),
    };
    let (running, waiting) = gateway.lanes.counts();
    let session = session_of(gateway, key).await?;
    let messages = session.map_or_else(
        || "new".to_owned(),
        |session| format!("{} messages", session.message_count),
    );
    Ok(format!(
        "🦞 OpenClaw {}\n⏱️ Uptime: gateway {}\n\n🧠 Model: {model}\n🧵 Session: {key} • {messages}\n\
         ⚙️ Turns: {running} running, {waiting} waiting\n🪢 Queue: {}",
        env!("CARGO_PKG_VERSION"),
        duration(gateway.started.elapsed()),
        gateway.hub.queue_mode(key).as_str(),
    ))
}

/// `/whoami`
pub(super) fn whoami(call: &Call) -> String {
    let id = call.client.identity.id.as_str();
    format!("🧭 Identity\nChannel: webchat\nUser id: {id}\nAllowFrom: {id}")
}

/// `/usage`
pub(super) async fn usage(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let used = super::super::usage::of_session(&call.gateway, key).await?;
    Ok(format!(
        "📊 Usage of {key}\nInput: {} tokens\nOutput: {} tokens\nCache: {} read, {} written",
        used.input, used.output, used.cache_read, used.cache_write
    ))
}

/// `/model`
pub(super) fn model(call: &Call, key: &SessionKey, argument: &str) -> String {
    let (provider, model) = models::configured(&call.gateway, key.agent().as_str());
    let current = match model.as_str() {
        "" => "Current: chosen by the backend".to_owned(),
        model => format!("Current: {provider}/{model}"),
    };
    match argument {
        "" | "status" | "list" => format!(
            "{current}\nChange: set agents.defaults.model or the agent's own model in openclaw.json"
        ),
        other => format!(
            "⚠️ The model of one session cannot be set to {other}; set agents.defaults.model or the \
             agent's own model in openclaw.json.\n{current}"
        ),
    }
}

/// `/think`
pub(super) fn think(argument: &str) -> String {
    match argument {
        "" | "status" | "off" => "Current thinking level: off.".to_owned(),
        other => format!(
            "⚠️ Thinking level {other} cannot be set: the backend decides by itself.\n\
             Current thinking level: off."
        ),
    }
}

fn duration(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
    }
}
