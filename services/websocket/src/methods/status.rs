//! `status`: how the gateway and its sessions are.

use crate::refused::refused;
use std::collections::BTreeMap;

use openclaw_proto::sessions::{Query, Session};
use openclaw_protocol::Failure;
use openclaw_sessions::now_ms;
use openclaw_settings::Settings;
use serde_json::{Map, Value, json};

use super::{Answer, Call};
use crate::{channels, heartbeat};
use openclaw_runs::Core;
use openclaw_runs::model;

methods! { "status" => READ, status; }

/// Sessions that are named, over all agents and of each.
const RECENT_LIMIT: usize = 10;

/// The fields of their entries that are shown.
const FIELDS: [&str; 3] = ["systemSent", "abortedLastRun", "totalTokensFresh"];

/// `status`
async fn status(call: Call) -> Result<Answer, Failure> {
    let core = &call.context.core;
    let settings = core.configuration.settings();
    let page = core
        .sessions
        .list(Query::default())
        .await
        .map_err(refused)?;
    let (running, waiting) = core.lanes.counts();
    let now = now_ms();
    let by_agent = by_agent(core, &settings, &page.sessions, now).await?;
    let recent = &page.sessions[..page.sessions.len().min(RECENT_LIMIT)];
    let recent = rows(core, &settings, recent, now).await?;
    let (_, model) = model::configured(&settings, &settings.default_agent);
    let paths: Vec<String> = settings
        .agents
        .keys()
        .map(|id| path(&settings, id))
        .collect();
    let main = core.key("", "").map_err(refused)?;
    let mut status = json!({
        "runtimeVersion": env!("CARGO_PKG_VERSION"),
        "heartbeat": {
            "defaultAgentId": settings.default_agent,
            "agents": settings.agents.keys().map(|id| heartbeat(&settings, id)).collect::<Vec<_>>(),
        },
        "channelSummary": channels::lines(&call.context.channels.states()),
        "queuedSystemEvents": core.system_events.waiting(&main),
        "turns": { "running": running, "waiting": waiting },
        "pid": std::process::id(),
        "sessions": {
            "paths": paths,
            "count": page.total,
            "defaults": { "model": model, "contextTokens": settings.context_window(settings.model_of(&settings.default_agent)) },
            "recent": recent,
            "byAgent": by_agent,
        },
    });
    if let Some(bytes) = openclaw_doors::resident() {
        status["processMemory"] = json!({ "rssBytes": bytes });
    }
    Ok(status.into())
}

fn heartbeat(settings: &Settings, agent: &str) -> Value {
    let mut shown = heartbeat::times(settings, agent);
    shown["agentId"] = json!(agent);
    shown
}

fn path(settings: &Settings, agent: &str) -> String {
    let index = settings.paths.sessions(agent).join("sessions.json");
    index.display().to_string()
}

async fn by_agent(
    core: &Core,
    settings: &Settings,
    sessions: &[Session],
    now: i64,
) -> Result<Vec<Value>, Failure> {
    let mut agents: BTreeMap<&str, Vec<Session>> = BTreeMap::new();
    for id in settings.agents.keys() {
        agents.entry(id).or_default();
    }
    for session in sessions {
        let own = agents.entry(&session.agent_id).or_default();
        own.push(session.clone());
    }
    let mut told = Vec::new();
    for (id, own) in agents {
        let recent = &own[..own.len().min(RECENT_LIMIT)];
        told.push(json!({
            "agentId": id,
            "path": path(settings, id),
            "count": own.len(),
            "recent": rows(core, settings, recent, now).await?,
        }));
    }
    Ok(told)
}

async fn rows(
    core: &Core,
    settings: &Settings,
    sessions: &[Session],
    now: i64,
) -> Result<Vec<Value>, Failure> {
    let entries = core
        .sessions
        .fields(sessions, &FIELDS)
        .await
        .map_err(refused)?;
    let pairs = sessions.iter().zip(&entries);
    Ok(pairs
        .map(|(session, entry)| {
            let mut row = row(settings, session, entry);
            row["age"] = json!((now - session.updated_at_ms).max(0));
            row
        })
        .collect())
}

fn row(settings: &Settings, session: &Session, entry: &Map<String, Value>) -> Value {
    let (provider, model) = model::configured(settings, &session.agent_id);
    let configured = name(&provider, &model);
    let used = name(&session.model_provider, &session.model);
    let chosen = Some(session.model_override.clone()).filter(|it| !it.is_empty());
    let model = chosen
        .as_deref()
        .or_else(|| settings.model_of(&session.agent_id));
    let window = settings.context_window(model);
    let tokens = session.tokens;
    let flag = |name: &str| entry.get(name).is_some_and(|it| it == true);
    json!({
        "agentId": session.agent_id,
        "key": session.key,
        "kind": if session.chat_type == "group" { "group" } else { "direct" },
        "sessionId": session.id,
        "updatedAt": session.updated_at_ms,
        "systemSent": flag("systemSent"),
        "abortedLastRun": flag("abortedLastRun"),
        "inputTokens": tokens.input,
        "outputTokens": tokens.output,
        "cacheRead": tokens.cache_read,
        "cacheWrite": tokens.cache_write,
        "totalTokens": tokens.context,
        "totalTokensFresh": flag("totalTokensFresh"),
        "remainingTokens": window.saturating_sub(tokens.context),
        "percentUsed": (tokens.context * 100).checked_div(window).unwrap_or(0),
        "model": session.model,
        "configuredModel": configured,
        "selectedModel": chosen.clone().or_else(|| configured.clone()).or(used),
        "modelSelectionReason": chosen.map(|_| "session override"),
        "contextTokens": window,
        "flags": [format!("id:{}", session.id)],
    })
}

/// `provider/model`, when both are known.
fn name(provider: &str, model: &str) -> Option<String> {
    (!model.is_empty()).then(|| format!("{provider}/{model}"))
}
