//! `POST <path>/wake`: an agent's main session is told something.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use openclaw_runs::Woken;
use openclaw_sessions::SessionKey;
use openclaw_settings::gateway::hooks::Hooks;
use serde::Deserialize;
use serde_json::json;

use super::super::problem::Problem;
use super::super::{answer, body};
use super::{BODY_LIMIT, Mode, policy};
use crate::doors::Doors;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    text: String,
    #[serde(default)]
    mode: Mode,
    agent_id: Option<String>,
    session_key: Option<String>,
}

/// What happened, and who is to know.
pub(super) struct Event {
    pub(super) key: SessionKey,
    pub(super) text: String,
    pub(super) mode: Mode,
}

/// Tells the main session, or the one that the caller may name.
pub(super) async fn call(
    doors: Arc<Doors>,
    hooks: &Hooks,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let asked: Asked = body::json_of_any_type(request, BODY_LIMIT).await?;
    if asked.text.trim().is_empty() {
        return Err(Problem::invalid("text", "is empty; say what happened"));
    }
    let named = asked.agent_id.as_deref().filter(|id| !id.is_empty());
    let agent = policy::agent(&doors, hooks, named)?;
    let key = match &asked.session_key {
        None => policy::main_session(&doors, &agent)?,
        Some(key) => chosen(&doors, hooks, key, &agent, asked.mode)?,
    };
    let mode = asked.mode;
    let text = asked.text;
    let woken = tell(&doors, Event { key, text, mode }).await?;
    let mut document = json!({
        "ok": true,
        "mode": mode.as_str(),
        "eventOutcome": outcome(woken.is_new),
    });
    if let Some(accepted) = woken.run {
        document["runId"] = json!(accepted.run_id);
    }
    Ok(answer::json(StatusCode::OK, &document))
}

fn chosen(
    doors: &Doors,
    hooks: &Hooks,
    key: &str,
    agent: &str,
    mode: Mode,
) -> Result<SessionKey, Problem> {
    if mode != Mode::Now {
        let problem = "needs mode \"now\"; what waits is for the main session";
        return Err(Problem::invalid("sessionKey", problem));
    }
    policy::may_choose(hooks)?;
    let key = policy::admitted(hooks, key.to_owned())?;
    Ok(doors.core.key(&key, agent)?)
}

pub(super) async fn tell(doors: &Arc<Doors>, event: Event) -> Result<Woken, Problem> {
    let when = event.mode.when();
    Ok(doors
        .core
        .waker
        .wake(&event.key, &event.text, when, "hook")
        .await?)
}

/// OpenClaw's words: an event that is the last one waiting already is no new one.
pub(super) fn outcome(is_new: bool) -> &'static str {
    if is_new { "queued" } else { "coalesced" }
}
