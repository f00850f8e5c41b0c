//! Commands that say how things are.

use crate::refused::refused;
use std::time::Duration;

use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::Shown;
use openclaw_conversations::storage::{Overrides, QueueFields};
use openclaw_proto::sessions::{Session, Tokens};
use openclaw_protocol::Failure;
use openclaw_runs::queue::{Change, Settings};
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::Patch;
use openclaw_sessions::store::{REASONING_LEVELS, VERBOSE_LEVELS};
use serde_json::{Map, Value, json};

use super::super::run::CHANNEL;
use super::super::sessions::tell_changed;
use super::super::{Call, models};

/// `/status`
pub(super) async fn status(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let server = &call.server;
    let (provider, model) = models::configured(server, key.agent().as_str());
    let model = match model.as_str() {
        "" => "chosen by the backend".to_owned(),
        model => format!("{provider}/{model}"),
    };
    let (running, waiting) = server.core.lanes.counts();
    let shown = shown(call, key).await?;
    let (session, session_entry) = match shown {
        Some(Shown { session, entry }) => (Some(session), Some(entry)),
        None => (None, None),
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
        duration(server.core.started.elapsed()),
        queue_of(call, session_entry.as_ref()).mode.name(),
    ))
}

/// The session, if anything was said in it or set of it.
async fn shown(call: &Call, key: &SessionKey) -> Result<Option<Shown>, Failure> {
    match call.server.core.sessions.get(key).await {
        Ok(shown) => Ok(Some(shown)),
        Err(Refusal::UnknownSession(_)) => Ok(None),
        Err(refusal) => Err(refused(refusal)),
    }
}

fn queue_of(call: &Call, entry: Option<&Map<String, Value>>) -> Settings {
    let text = |name: &str| Some(entry?.get(name)?.as_str()?.to_owned());
    let number = |name: &str| entry?.get(name)?.as_u64();
    let overrides = Overrides {
        queue: QueueFields {
            mode: text("queueMode"),
            debounce_ms: number("queueDebounceMs"),
            cap: number("queueCap"),
            drop: text("queueDrop"),
        },
        ..Overrides::default()
    };
    let settings = call.server.core.configuration.settings();
    Settings::of(&overrides, &settings.queue, CHANNEL)
}

/// `/queue`: shows or sets what messages do that find the session busy.
pub(super) async fn queue(
    call: &Call,
    key: &SessionKey,
    argument: &str,
) -> Result<String, Failure> {
    const OPTIONS: &str = "Options: modes steer, followup, collect, interrupt; debounce:<ms|s|m>, \
                           cap:<n>, drop:old|new|summarize.";
    match Settings::changes(argument) {
        Err(word) => return Ok(format!("Unrecognized queue mode \"{word}\".\n{OPTIONS}")),
        Ok(changes) if changes.is_empty() => {}
        Ok(changes) => {
            set_all(call, key, &changes).await?;
            if changes.iter().all(|(_, value)| value.is_null()) {
                return Ok("⚙️ Queue mode reset to default.".to_owned());
            }
        }
    }
    let shown = shown(call, key).await?;
    let queue = queue_of(call, shown.as_ref().map(|shown| &shown.entry));
    let (mode, drop) = (queue.mode.name(), queue.drop.name());
    let figures = format!(
        "debounce={}ms, cap={}, drop={drop}",
        queue.debounce.as_millis(),
        queue.cap
    );
    Ok(if argument.is_empty() {
        format!("Current queue settings: mode={mode}, {figures}.\n{OPTIONS}")
    } else {
        format!("⚙️ Queue mode set to {mode} ({figures}).")
    })
}

/// `/models`
pub(super) fn models(call: &Call) -> Result<String, Failure> {
    let names = models::names(&call.server.core.configuration.settings());
    Ok(if names.is_empty() {
        "No model is configured; the backend chooses one.".to_owned()
    } else {
        format!(
            "Models:\n- {}\nSession: /model <provider/model>",
            names.join("\n- ")
        )
    })
}

/// `/agents`
pub(super) fn agents(call: &Call) -> String {
    let settings = call.server.core.configuration.settings();
    let line = |id: &String| {
        if *id == settings.default_agent {
            format!("- {id} (default)")
        } else {
            format!("- {id}")
        }
    };
    let lines: Vec<String> = settings.agents.keys().map(line).collect();
    format!("Agents:\n{}", lines.join("\n"))
}

/// `/exec`
pub(super) fn exec(call: &Call, key: &SessionKey) -> String {
    let settings = call.server.core.configuration.settings();
    let agent = settings.agent(key.agent().as_str());
    let ask = agent.map_or("off", |agent| agent.ask(agent.sandbox.level).name());
    format!(
        "Current exec defaults: host=sandbox, effective=sandbox, ask={ask}.\n\
         Commands run in the agent's sandbox; openclawctl doctor shows what it holds."
    )
}

/// `/name`: shows, sets or clears the session's label.
pub(super) async fn name(call: &Call, key: &SessionKey, argument: &str) -> Result<String, Failure> {
    if argument.is_empty() {
        let shown = shown(call, key).await?;
        let label = shown.map(|shown| shown.session.label).unwrap_or_default();
        return Ok(match label.as_str() {
            "" => "This session has no name. Set one: /name <name>".to_owned(),
            label => format!("Current session name: {label}."),
        });
    }
    set(call, key, "label", json!(argument)).await?;
    Ok(format!("⚙️ Session named \"{argument}\"."))
}

/// `/whoami`
pub(super) fn whoami(call: &Call) -> String {
    let id = call.client.identity.id.as_str();
    format!("🧭 Identity\nChannel: webchat\nUser id: {id}\nAllowFrom: {id}")
}

/// `/usage`
pub(super) async fn usage(call: &Call, key: &SessionKey) -> Result<String, Failure> {
    let session = shown(call, key).await?.map(|shown| shown.session);
    let session = session.unwrap_or_default();
    let used = session.tokens;
    Ok(format!(
        "📊 Usage of {key}\nInput: {} tokens\nOutput: {} tokens\nCache: {} read, {} written\n\
         Context: {} tokens\nCost: {}",
        used.input,
        used.output,
        used.cache_read,
        used.cache_write,
        used.context,
        cost(call, &session),
    ))
}

/// What a session cost, as far as prices are configured.
fn cost(call: &Call, session: &Session) -> String {
    let settings = call.server.core.configuration.settings();
    let model = format!("{}/{}", session.model_provider, session.model);
    let is_known = session.cost_usd > 0.0 || settings.session.prices.contains_key(&model);
    if is_known || session.tokens == Tokens::default() {
        format!("${:.4}", session.cost_usd)
    } else {
        format!("not known; models.providers has no price of {model}")
    }
}

/// `/verbose` and `/reasoning`: how much of a turn the clients of this session
/// show.
pub(super) async fn shown_level(
    call: &Call,
    key: &SessionKey,
    field: &'static str,
    argument: &str,
) -> Result<String, Failure> {
    let what = field.trim_end_matches("Level");
    let levels = match field {
        "verboseLevel" => VERBOSE_LEVELS,
        _ => REASONING_LEVELS,
    };
    match argument {
        "" | "status" => {
            let shown = shown(call, key).await?;
            let entry = shown.map(|shown| shown.entry).unwrap_or_default();
            let level = entry.get(field).and_then(Value::as_str);
            Ok(format!("Current {what} level: {}.", level.unwrap_or("off")))
        }
        level if levels.contains(&level) => {
            set(call, key, field, json!(argument)).await?;
            Ok(format!("⚙️ The {what} level is {argument}."))
        }
        other => Ok(format!(
            "⚠️ \"{other}\" is no {what} level; there are {}",
            levels.join(", ")
        )),
    }
}

/// `/model`: shows or sets the session's model.
pub(super) async fn model(
    call: &Call,
    key: &SessionKey,
    argument: &str,
) -> Result<String, Failure> {
    match argument {
        "" | "status" | "list" => {
            let (provider, model) = models::configured(&call.server, key.agent().as_str());
            let shown = call.server.core.sessions.get(key).await;
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
            let shown = call.server.core.sessions.get(key).await;
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

async fn set(
    call: &Call,
    key: &SessionKey,
    field: &'static str,
    value: Value,
) -> Result<(), Failure> {
    set_all(call, key, &[(field, value)]).await
}

async fn set_all(call: &Call, key: &SessionKey, changes: &[Change]) -> Result<(), Failure> {
    let mut patch = Patch::default();
    for (field, value) in changes {
        patch
            .change(field, value)
            .map_err(|error| refused(Refusal::Patch(error)))?;
    }
    call.server
        .core
        .sessions
        .set(key, patch)
        .await
        .map_err(refused)?;
    tell_changed(&call.server, key, "patch").await;
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
