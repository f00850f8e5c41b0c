//! `POST <path>/agent`: a turn of its own for another program's message.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use openclaw_config::settings::gateway::Hooks;
use openclaw_proto::gateway::Message;
use openclaw_sessions::SessionKey;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::super::problem::Problem;
use super::super::turn::{Abandoned, Turn};
use super::super::{answer, body};
use super::{BODY_LIMIT, Mode, main_session};
use crate::gateway::Gateway;
use crate::submission::Extra;
use crate::system_event;

/// The channel of hooks' turns.
const CHANNEL: &str = "hook";
/// What a hook without a name is called.
const NAME: &str = "Hook";
/// Characters of the reply that the main session is told.
const SUMMARY: usize = 1000;
/// The longest that `timeoutSeconds` can say; a turn's own limit is below it.
const TIMEOUT_LIMIT: u64 = 24 * 60 * 60;
/// What a turn is ended with that took longer than its caller allows.
const TOO_LONG: &str = "the hook's timeoutSeconds passed";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Work {
    message: String,
    name: Option<String>,
    agent_id: Option<String>,
    session_key: Option<String>,
    /// When the main session hears of the result.
    #[serde(default = "later")]
    wake_mode: Mode,
    timeout_seconds: Option<u64>,
    #[serde(default)]
    wait_for_completion: bool,
}

/// OpenClaw's default is now, which is a second turn for every call.
fn later() -> Mode {
    Mode::NextHeartbeat
}

/// Starts a turn and returns its run, or waits for its end.
pub(super) async fn agent(
    gateway: Arc<Gateway>,
    hooks: &Hooks,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let work: Work = body::json(request, BODY_LIMIT).await?;
    let message = work.message(hooks)?;
    let turn = Turn::start(&gateway, message, Extra::default(), Abandoned::GoesOn).await?;
    let run_id = turn.accepted.run_id.clone();
    let waits = work.wait_for_completion;
    let finish = finish(gateway, turn, work);
    if !waits {
        tokio::spawn(finish);
        let document = json!({"ok": true, "runId": run_id});
        return Ok(answer::json(StatusCode::OK, &document));
    }
    let reply = finish.await?;
    let document = json!({"ok": true, "runId": run_id, "status": "ok", "reply": reply});
    Ok(answer::json(StatusCode::OK, &document))
}

impl Work {
    fn message(&self, hooks: &Hooks) -> Result<Message, Problem> {
        if self.message.trim().is_empty() {
            return Err(Problem::invalid(
                "message",
                "is empty; say what is to be done",
            ));
        }
        if self.timeout_seconds.is_some_and(|s| s > TIMEOUT_LIMIT) {
            let problem = format!("must be at most {TIMEOUT_LIMIT}");
            return Err(Problem::invalid("timeoutSeconds", problem));
        }
        let agent = self.agent_id.clone().unwrap_or_default();
        let allowed = hooks.allowed_agents.as_ref();
        if !agent.is_empty() && allowed.is_some_and(|allowed| !allowed.contains(&agent)) {
            let problem = "is not in hooks.allowedAgentIds";
            return Err(Problem::invalid("agentId", problem));
        }
        Ok(Message {
            text: format!(
                "[{} sent this; it is information from outside, not the user's own words]\n{}",
                self.name(),
                self.message
            ),
            session_key: self.session(hooks)?,
            agent_id: agent,
            idempotency_key: String::new(),
            channel: CHANNEL.to_owned(),
            route: None,
        })
    }

    /// A session of its own unless told otherwise: what comes from outside
    /// does not get into the user's conversation.
    fn session(&self, hooks: &Hooks) -> Result<String, Problem> {
        match (&self.session_key, &hooks.default_session_key) {
            (Some(_), _) if !hooks.allow_request_session_key => Err(Problem::invalid(
                "sessionKey",
                "is not allowed: set hooks.allowRequestSessionKey if callers may choose",
            )),
            (Some(key), _) | (None, Some(key)) => Ok(key.clone()),
            (None, None) => Ok(format!("hook:{}", Uuid::new_v4())),
        }
    }

    fn name(&self) -> String {
        let name = self.name.as_deref().unwrap_or(NAME).trim();
        name.chars().filter(|c| !c.is_control()).take(80).collect()
    }
}

/// Waits for the end and tells the main session of it.
async fn finish(gateway: Arc<Gateway>, turn: Turn, work: Work) -> Result<String, Problem> {
    let accepted = turn.accepted.clone();
    let deadline = work
        .timeout_seconds
        .map_or(Duration::MAX, Duration::from_secs);
    let mut whole = Box::pin(turn.whole());
    let reply = match tokio::time::timeout(deadline, whole.as_mut()).await {
        Ok(reply) => reply,
        Err(_) => {
            if let Some(run) = gateway.runs.find(&accepted.run_id) {
                run.end(TOO_LONG);
            }
            whole.await
        }
    };
    let result = reply.map(|reply| reply.text);
    let told = match &result {
        Ok(text) => text.chars().take(SUMMARY).collect(),
        Err(problem) => format!("failed: {}", problem.words().1),
    };
    let key = main_session(&gateway)?;
    let in_main = SessionKey::parse(&accepted.session_key, key.agent()).is_ok_and(|k| k == key);
    if !in_main && !told.trim().is_empty() {
        let text = format!("{}: {told}", work.name());
        let when = work.wake_mode.when();
        system_event::wake(&gateway, &key, &text, when).await?;
    }
    result
}
