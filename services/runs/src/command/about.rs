//! Commands that say how things are.

use std::time::Duration;

use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::Shown;
use openclaw_conversations::storage::{Overrides, QueueFields};
use openclaw_proto::sessions::{Query, Session, Tokens};
use openclaw_sessions::store::{Patch, REASONING_LEVELS, USAGE_LEVELS, VERBOSE_LEVELS};
use openclaw_tools::catalog::KNOWN;
use serde_json::{Map, Value, json};

use super::{Ask, Failure};
use crate::bus::DomainEvent;
use crate::held;
use crate::model;
use crate::queue::{Change, Settings};
use crate::run::{DEFAULT_CHANNEL, WEBCHAT};

/// `/status`
pub(super) async fn status(ask: &Ask<'_>) -> Result<String, Failure> {
    let (turns, key) = (ask.turns, &ask.run.key);
    let (running, waiting) = turns.lanes.counts();
    let shown = shown(ask).await?;
    let (session, session_entry) = match shown {
        Some(Shown { session, entry }) => (Some(session), Some(entry)),
        None => (None, None),
    };
    let messages = session.as_ref().map_or_else(
        || "new".to_owned(),
        |session| format!("{} messages", session.message_count),
    );
    let model = model_in_use(ask, session.as_ref());
    Ok(format!(
        "🦞 OpenClaw {}\n⏱️ Uptime: gateway {}\n\n🧠 Model: {model}\n🧵 Session: {key} • {messages}\n\
         ⚙️ Turns: {running} running, {waiting} waiting\n🪢 Queue: {}",
        env!("CARGO_PKG_VERSION"),
        duration(ask.started.elapsed()),
        queue_of(ask, session_entry.as_ref()).mode.name(),
    ))
}

/// The model that the session has set, or that is configured; else the one that its
/// backend chose last.
fn model_in_use(ask: &Ask<'_>, session: Option<&Session>) -> String {
    let own = session.map(|session| session.model_override.clone());
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        return own;
    }
    let settings = ask.turns.configuration.settings();
    let (provider, model) = model::configured(&settings, ask.agent());
    if !model.is_empty() {
        return format!("{provider}/{model}");
    }
    match session.filter(|session| !session.model.is_empty()) {
        Some(Session {
            model,
            model_provider,
            ..
        }) => format!("{model_provider}/{model}, chosen by the backend"),
        None => "chosen by the backend".to_owned(),
    }
}

/// The session, if anything was said in it or set of it.
async fn shown(ask: &Ask<'_>) -> Result<Option<Shown>, Failure> {
    match ask.turns.sessions.get(&ask.run.key).await {
        Ok(shown) => Ok(Some(shown)),
        Err(Refusal::UnknownSession(_)) => Ok(None),
        Err(refusal) => Err(refusal.into()),
    }
}

fn queue_of(ask: &Ask<'_>, entry: Option<&Map<String, Value>>) -> Settings {
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
    let settings = ask.turns.configuration.settings();
    let channel = ask.run.channel.as_str();
    let waits = channel == DEFAULT_CHANNEL;
    Settings::of(&overrides, &settings.queue, (channel, waits))
}

/// `/queue`: shows or sets what messages do that find the session busy.
pub(super) async fn queue(ask: &Ask<'_>, argument: &str) -> Result<String, Failure> {
    const OPTIONS: &str = "Options: modes steer, followup, collect, interrupt; debounce:<ms|s|m>, \
                           cap:<n>, drop:old|new|summarize.";
    match Settings::changes(argument) {
        Err(word) => return Ok(format!("Unrecognized queue mode \"{word}\".\n{OPTIONS}")),
        Ok(changes) if changes.is_empty() => {}
        Ok(changes) => {
            set_all(ask, &changes).await?;
            if changes.iter().all(|(_, value)| value.is_null()) {
                return Ok("⚙️ Queue mode reset to default.".to_owned());
            }
        }
    }
    let shown = shown(ask).await?;
    let queue = queue_of(ask, shown.as_ref().map(|shown| &shown.entry));
    let (mode, drop) = (queue.mode.name(), queue.drop.name());
    let figures = format!(
        "debounce={}ms, cap={}, drop={drop}",
        queue.debounce.as_millis(),
        queue.cap
    );
    Ok(if argument.is_empty() {
        format!("Current queue settings: mode={mode}, {figures}.\n{OPTIONS}")
    } else {
        let others = match ask.run.channel.as_str() {
            "cli" => {
                " It holds for channels and other clients: messages of the command line wait their turn."
            }
            _ => "",
        };
        format!("⚙️ Queue mode set to {mode} ({figures}).{others}")
    })
}

/// `/models`
pub(super) fn models(ask: &Ask<'_>) -> Result<String, Failure> {
    let names = model::names(&ask.turns.configuration.settings());
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
pub(super) fn agents(ask: &Ask<'_>) -> String {
    let settings = ask.turns.configuration.settings();
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

/// `/tools`: those that the policy of the session's agent leaves.
pub(super) async fn tools(ask: &Ask<'_>) -> String {
    let settings = ask.turns.configuration.settings();
    let policy = held::tool_policy(&ask.turns.runner, settings.agent(ask.agent())).await;
    let allowed = KNOWN
        .iter()
        .filter(|tool| policy.denies(tool.name).is_none());
    let lines: Vec<String> = allowed
        .map(|tool| format!("- {}: {}", tool.name, tool.summary))
        .collect();
    format!("Tools:\n{}", lines.join("\n"))
}

/// Conversations that `/sessions` lists; openclawctl lists all.
const LISTED: u32 = 20;

/// `/sessions`
pub(super) async fn sessions(ask: &Ask<'_>) -> Result<String, Failure> {
    let query = Query {
        limit: LISTED,
        ..Query::default()
    };
    let page = ask.turns.sessions.list(query).await?;
    let line = |session: &Session| {
        let own = if session.key == ask.run.key.as_str() {
            " (this one)"
        } else {
            ""
        };
        let label = match session.label.as_str() {
            "" => String::new(),
            label => format!(" \"{label}\""),
        };
        format!("- {}{label}{own}", session.key)
    };
    let lines: Vec<String> = page.sessions.iter().map(line).collect();
    Ok(format!("Sessions:\n{}", lines.join("\n")))
}

/// `/exec`
pub(super) async fn exec(ask: &Ask<'_>) -> String {
    let asks = match held::agent(&ask.turns.runner, ask.agent()).await {
        Some(told) if !told.ask.is_empty() => told.ask,
        // It does not answer, or starts no turn.
        _ => {
            let settings = ask.turns.configuration.settings();
            let agent = settings.agent(ask.agent());
            let asks = agent.map(|agent| agent.may_ask(settings.sandbox.missing));
            asks.map_or("off", openclaw_settings::Ask::name).to_owned()
        }
    };
    format!(
        "Current exec defaults: host=sandbox, effective=sandbox, ask={asks}.\n\
         Commands run in the agent's sandbox; openclawctl doctor shows what it holds."
    )
}

/// `/name`: shows, sets or clears the session's label.
pub(super) async fn name(ask: &Ask<'_>, argument: &str) -> Result<String, Failure> {
    if argument.is_empty() {
        let shown = shown(ask).await?;
        let label = shown.map(|shown| shown.session.label).unwrap_or_default();
        return Ok(match label.as_str() {
            "" => "This session has no name. Set one: /name <name>".to_owned(),
            label => format!("Current session name: {label}."),
        });
    }
    set(ask, "label", json!(argument)).await?;
    Ok(format!("⚙️ Session named \"{argument}\"."))
}

/// `/whoami`
pub(super) fn whoami(ask: &Ask<'_>) -> String {
    let id = ask.id();
    format!(
        "🧭 Identity\nChannel: {}\nUser id: {id}\nAllowFrom: {id}",
        ask.run.channel
    )
}

/// Whether what comes in where the command did is answered with more or less than the
/// answer, as the levels of the session say.
fn is_shown(ask: &Ask<'_>) -> bool {
    ask.sender.follows_levels || ask.run.channel == WEBCHAT
}

/// A level that would change nothing here is not set.
const NOT_SHOWN: &str = "⚠️ Nothing was changed: openclawctl and clients of the gateway's \
     WebSocket follow this level, and answers here are as they are.";

/// `/usage`: what was used, or whether answers have a line that says it.
pub(super) async fn usage(ask: &Ask<'_>, argument: &str) -> Result<String, Failure> {
    match argument {
        "" | "status" => used(ask).await,
        level if USAGE_LEVELS.contains(&level) && !is_shown(ask) => Ok(NOT_SHOWN.to_owned()),
        level if USAGE_LEVELS.contains(&level) => {
            set(ask, "responseUsage", json!(level)).await?;
            Ok(format!("⚙️ Usage below answers: {level}."))
        }
        other => Ok(format!(
            "⚠️ \"{other}\" is none of {}",
            USAGE_LEVELS.join(", ")
        )),
    }
}

async fn used(ask: &Ask<'_>) -> Result<String, Failure> {
    let session = shown(ask).await?.map(|shown| shown.session);
    let session = session.unwrap_or_default();
    let used = session.tokens;
    let key = &ask.run.key;
    Ok(format!(
        "📊 Usage of {key}\nInput: {} tokens\nOutput: {} tokens\nCache: {} read, {} written\n\
         Context: {} tokens\nCost: {}",
        used.input,
        used.output,
        used.cache_read,
        used.cache_write,
        used.context,
        cost(ask, &session),
    ))
}

/// The cost of a session, as far as prices are configured.
fn cost(ask: &Ask<'_>, session: &Session) -> String {
    let settings = ask.turns.configuration.settings();
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
    ask: &Ask<'_>,
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
            let shown = shown(ask).await?;
            let entry = shown.map(|shown| shown.entry).unwrap_or_default();
            let level = entry.get(field).and_then(Value::as_str);
            // Without a level thinking is shown to clients that show it.
            let unset = match field {
                "reasoningLevel" if !ask.sender.follows_levels => "on",
                _ => "off",
            };
            Ok(format!("Current {what} level: {}.", level.unwrap_or(unset)))
        }
        level if levels.contains(&level) && !is_shown(ask) => Ok(NOT_SHOWN.to_owned()),
        level if levels.contains(&level) => {
            set(ask, field, json!(argument)).await?;
            Ok(format!("⚙️ The {what} level is {argument}."))
        }
        other => Ok(format!(
            "⚠️ \"{other}\" is no {what} level; there are {}",
            levels.join(", ")
        )),
    }
}

/// `/model`: shows or sets the session's model.
pub(super) async fn model(ask: &Ask<'_>, argument: &str) -> Result<String, Failure> {
    match argument {
        "" | "status" | "list" => {
            let session = shown(ask).await?.map(|shown| shown.session);
            let current = model_in_use(ask, session.as_ref());
            Ok(format!(
                "Current: {current}\nSession: /model <provider/model>\nDefault again: /model default"
            ))
        }
        "default" | "reset" => {
            set(ask, "model", Value::Null).await?;
            Ok("⚙️ Model reset to default.".to_owned())
        }
        model => {
            set(ask, "model", json!(model)).await?;
            Ok(format!("⚙️ Model set to {model}."))
        }
    }
}

/// `/think`: shows or sets the session's thinking level.
pub(super) async fn think(ask: &Ask<'_>, argument: &str) -> Result<String, Failure> {
    match argument {
        "" | "status" => {
            let shown = ask.turns.sessions.get(&ask.run.key).await;
            let level = shown.ok().map(|shown| shown.session.thinking_level);
            let level = level.filter(|level| !level.is_empty());
            Ok(format!(
                "Current thinking level: {}.",
                level.as_deref().unwrap_or("default")
            ))
        }
        "default" | "reset" => {
            set(ask, "thinkingLevel", Value::Null).await?;
            Ok("⚙️ Thinking level reset to default.".to_owned())
        }
        level => {
            set(ask, "thinkingLevel", json!(level)).await?;
            Ok(format!("⚙️ Thinking level set to {level}."))
        }
    }
}

async fn set(ask: &Ask<'_>, field: &'static str, value: Value) -> Result<(), Failure> {
    set_all(ask, &[(field, value)]).await
}

async fn set_all(ask: &Ask<'_>, changes: &[Change]) -> Result<(), Failure> {
    let mut patch = Patch::default();
    for (field, value) in changes {
        patch.change(field, value).map_err(Refusal::Patch)?;
    }
    ask.turns.sessions.set(&ask.run.key, patch).await?;
    ask.turns.bus.publish(&DomainEvent::SessionChanged {
        key: &ask.run.key,
        reason: "patch",
    });
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
