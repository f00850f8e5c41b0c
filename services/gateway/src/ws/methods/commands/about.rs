//! Commands that say how things are.

use std::time::Duration;

use openclaw_proto::sessions::Tokens;
use openclaw_protocol::Failure;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::Patch;
use serde_json::{Value, json};

use super::super::{Call, models};
use crate::refusal::Refusal;
use crate::sessions::NewSession;

/// `/status`
pub(super) async fn status(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let gateway = &call.gateway;
    let (provider, model) = models::configured(gateway, key.agent().as_str());
    let model = match model.as_str() {
        "" => "chosen by the backend".to_owned(),
        model => format!("{provider}/{model}"),
    };
    let (running, waiting) = gateway.lanes.counts();
    let session = match gateway.sessions.get(key).await {
        Ok(shown) => Some(shown.session),
        Err(Refusal::UnknownSession(_)) => None,
        Err(refusal) => return Err(refusal.into()),
    };
    let messages = session.as_ref().map_or_else(
        || "new".to_owned(),
        |session| format!("{} messages", session.message_count),
    );
    let own = session.map(|session| session.model_override);
    let model = own.filter(|own| !own.is_empty()).unwrap_or(model);
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
    let used = match call.gateway.sessions.get(key).await {
        Ok(shown) => shown.session.tokens,
        Err(Refusal::UnknownSession(_)) => Tokens::default(),
        Err(refusal) => return Err(refusal.into()),
    };
    Ok(format!(
        "📊 Usage of {key}\nInput: {} tokens\nOutput: {} tokens\nCache: {} read, {} written\n\
         Context: {} tokens",
        used.input, used.output, used.cache_read, used.cache_write, used.context
    ))
}

/// `/model`: shows or sets the session's model.
pub(super) async fn model(
    call: &Call,
    key: &SessionKey,
    argument: &str,
) -> Result<String, Failure> {
    match argument {
        "" | "status" | "list" => {
            let (provider, model) = models::configured(&call.gateway, key.agent().as_str());
            let shown = call.gateway.sessions.get(key).await;
            let own = shown.ok().map(|shown| shown.session.model_override);
            let current = match (own.filter(|own| !own.is_empty()), model.as_str()) {
                (Some(own), _) => own,
                (None, "") => "chosen by the backend".to_owned(),
                (None, model) => format!("{provider}/{model}"),
            };
            Ok(format!(
                "Current: {current}\nSession: /model <provider/model>\nDefault again: /model default"
            ))
        }
        "default" | "reset" => {
            set(call, key, "model", Value::Null).await?;
            Ok("⚙️ Model reset to default.".to_owned())
        }
        model => {
            set(call, key, "model", json!(model)).await?;
            Ok(format!("⚙️ Model set to {model}."))
        }
    }
}

/// `/think`: shows or sets the session's thinking level.
pub(super) async fn think(
    call: &Call,
    key: &SessionKey,
    argument: &str,
) -> Result<String, Failure> {
    match argument {
        "" | "status" => {
            let shown = call.gateway.sessions.get(key).await;
            let level = shown.ok().map(|shown| shown.session.thinking_level);
            let level = level.filter(|level| !level.is_empty());
            Ok(format!(
                "Current thinking level: {}.",
                level.as_deref().unwrap_or("default")
            ))
        }
        "default" | "reset" => {
            set(call, key, "thinkingLevel", Value::Null).await?;
            Ok("⚙️ Thinking level reset to default.".to_owned())
        }
        level => {
            set(call, key, "thinkingLevel", json!(level)).await?;
            Ok(format!("⚙️ Thinking level set to {level}."))
        }
    }
}

async fn set(call: &Call, key: &SessionKey, field: &str, value: Value) -> Result<(), Failure> {
    let mut patch = Patch::default();
    patch.change(field, &value).map_err(Refusal::Patch)?;
    let sessions = &call.gateway.sessions;
    match sessions.patch(key, patch.clone()).await {
        Err(Refusal::UnknownSession(_)) => {
            let new = NewSession {
                key: Some(key.clone()),
                patch,
                spawned_by: None,
            };
            sessions.create(new).await?;
        }
        patched => {
            patched?;
        }
    }
    Ok(())
}

fn duration(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
    }
}
