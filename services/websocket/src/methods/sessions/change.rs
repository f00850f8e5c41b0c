//! Changing sessions: `sessions.patch`, `reset`, `delete`, `create`.

use crate::refused::refused;
use openclaw_proto::sessions::Session;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_protocol::scope::Scope;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::Patch;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::NewSession;
use openclaw_conversations::storage::{Leftover, TurnOptions};
use openclaw_doors::auth_profile;
use openclaw_runs::{Core, model};

use super::super::{Answer, Call, by_effect};
use crate::session_change::{tell_changed, tell_shown};

methods! {
    "sessions.create" => Looks, create;
    "sessions.delete" => Looks, delete;
    "sessions.patch" => Looks, patch;
    "sessions.reset" => ADMIN, reset;
}

/// Parameters of `sessions.patch` that say which session, or under which
/// condition, and change nothing themselves.
const CONDITIONS: [&str; 5] = [
    "key",
    "agentId",
    "expectedSessionId",
    "expectedLifecycleRevision",
    "expectedMarkedUnreadAt",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    key: Filled,
    agent_id: Option<Filled>,
    expected_session_id: Option<Filled>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl Target {
    fn key(&self, core: &Core) -> Result<SessionKey, Refusal> {
        core.key(&self.key, self.agent_id.as_deref().unwrap_or_default())
    }

    /// The session must be the one the client thinks it is.
    async fn check(&self, core: &Core, key: &SessionKey) -> Result<(), Failure> {
        let Some(expected) = &self.expected_session_id else {
            return Ok(());
        };
        let shown = core.sessions.get(key).await.map_err(refused)?;
        if shown.session.id == expected.0 {
            return Ok(());
        }
        Err(Failure::invalid(
            "the session has changed since; read it again and retry",
        ))
    }
}

/// `sessions.patch`: null clears a field.
async fn patch(mut call: Call) -> Result<Answer, Failure> {
    call.client.need(Scope::Write)?;
    let target: Target = call.session_params("key")?;
    let key = target.key(&call.context.core).map_err(refused)?;
    target.check(&call.context.core, &key).await?;
    let mut patch = Patch::default();
    for (name, value) in &target.fields {
        if !CONDITIONS.contains(&name.as_str()) {
            patch
                .change(name, value)
                .map_err(|error| refused(Refusal::Patch(error)))?;
        }
    }
    call.client.need(by_effect::of_patch(&patch))?;
    auth_profile::check(&call.context.core.runner, key.agent(), &patch)
        .await
        .map_err(refused)?;
    let session = call
        .context
        .core
        .sessions
        .set(&key, patch)
        .await
        .map_err(refused)?;
    changed(&call, &key, &session, "patch").await
}

/// `sessions.reset`: begins the conversation anew under the same id.
async fn reset(mut call: Call) -> Result<Answer, Failure> {
    let target: Target = call.session_params("key")?;
    let key = target.key(&call.context.core).map_err(refused)?;
    let reason = match target.fields.get("reason").and_then(Value::as_str) {
        None | Some("reset") => "reset",
        Some("new") => "new",
        Some(_) => {
            let problem = "at /reason: must be equal to one of the allowed values";
            return Err(Failure::params(call.method, problem));
        }
    };
    let session = call
        .context
        .core
        .sessions
        .reset(&key, reason)
        .await
        .map_err(refused)?;
    call.context.core.release(&key);
    changed(&call, &key, &session, reason).await
}

/// The answer that tells the session as it is now.
async fn changed(
    call: &Call,
    key: &SessionKey,
    session: &Session,
    reason: &str,
) -> Result<Answer, Failure> {
    tell_changed(&call.context.core, &call.context.hub, key, reason).await;
    let shown = call.context.core.sessions.get(key).await.map_err(refused)?;
    let settings = call.context.core.configuration.settings();
    let path = settings.paths.sessions(key.agent().as_str());
    let (provider, model) = match session.model_override.split_once('/') {
        Some((provider, model)) => (provider.to_owned(), model.to_owned()),
        None => model::configured(&settings, key.agent().as_str()),
    };
    Ok(json!({
        "ok": true,
        "path": path.join("sessions.json").display().to_string(),
        "key": key.as_str(),
        "entry": shown.entry,
        "resolved": { "modelProvider": provider, "model": model },
    })
    .into())
}

/// `sessions.delete`: the transcript is archived, unless it is to go too.
async fn delete(mut call: Call) -> Result<Answer, Failure> {
    call.client.need(Scope::Admin)?;
    let target: Target = call.session_params("key")?;
    let key = target.key(&call.context.core).map_err(refused)?;
    target.check(&call.context.core, &key).await?;
    let leftover = match target.fields.get("deleteTranscript") {
        Some(Value::Bool(true)) => Leftover::Removed,
        _ => Leftover::Archived,
    };
    let before = call.context.core.sessions.get(&key).await;
    let deleted = match call.context.core.sessions.delete(&key, leftover).await {
        Ok(deleted) => deleted,
        Err(Refusal::UnknownSession(_)) => {
            let key = key.as_str();
            return Ok(json!({ "ok": true, "key": key, "deleted": false, "archived": [] }).into());
        }
        Err(refusal) => return Err(refused(refusal)),
    };
    call.context.core.release(&key);
    if let Ok(shown) = before {
        tell_shown(&call.context.core, &call.context.hub, &shown, "delete");
    }
    let archived: Vec<String> = deleted.archive_path.into_iter().collect();
    Ok(json!({
        "ok": true,
        "key": key.as_str(),
        "deleted": true,
        "archived": archived,
    })
    .into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Create {
    key: Option<Filled>,
    agent_id: Option<Filled>,
    parent_session_key: Option<Filled>,
    message: Option<String>,
    idempotency_key: Option<Filled>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// The fields that a session can be created with.
const INITIAL: [&str; 5] = ["label", "displayName", "category", "model", "thinkingLevel"];

/// Fields that would make another kind of session. A session that would begin otherwise than asked
/// does not begin.
const NOT_OFFERED: [&str; 9] = [
    "agentRuntime",
    "contextWindow",
    "execNode",
    "worktree",
    "fork",
    "forkFrom",
    "permissionMode",
    "toolOverrides",
    "incognito",
];

/// The session that `params` ask for.
fn new_session(call: &Call, params: &Create) -> Result<NewSession, Failure> {
    let asked = NOT_OFFERED.into_iter().find(|name| {
        let value = params.fields.get(*name);
        value.is_some_and(|value| !value.is_null() && value != false)
    });
    if let Some(name) = asked {
        let problem = format!("at /{name}: is not offered; leave it out");
        return Err(Failure::params(call.method, &problem));
    }
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let key = |name: &str| call.context.core.key(name, agent).map_err(refused);
    let own = || format!("explicit:{}", uuid::Uuid::new_v4());
    let mut patch = Patch::default();
    for name in INITIAL {
        if let Some(value) = params.fields.get(name) {
            patch
                .change(name, value)
                .map_err(|error| refused(Refusal::Patch(error)))?;
        }
    }
    Ok(NewSession {
        key: match params.key.as_deref() {
            Some(name) => Some(key(name)?),
            None if !agent.is_empty() => Some(key(&own())?),
            None => None,
        },
        patch,
        spawned_by: params.parent_session_key.as_deref().map(key).transpose()?,
    })
}

/// `sessions.create`: with a first message when there is one.
async fn create(mut call: Call) -> Result<Answer, Failure> {
    call.client.need(Scope::Write)?;
    let params: Create = call.params()?;
    let core = &call.context.core;
    let new = new_session(&call, &params)?;
    let session = core.sessions.create(new).await.map_err(refused)?;
    let key = core.key(&session.key, "").map_err(refused)?;
    tell_changed(core, &call.context.hub, &key, "create").await;
    let shown = core.sessions.get(&key).await.map_err(refused)?;
    let mut answer = json!({
        "ok": true,
        "key": session.key,
        "sessionId": session.id,
        "entry": shown.entry,
        "runStarted": false,
    });
    if let Some(message) = params.message.filter(|text| !text.trim().is_empty()) {
        let run_id = params.idempotency_key.map(|key| key.0);
        let run_id = run_id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        super::send_text(&call, &key, message, run_id.clone(), TurnOptions::default()).await?;
        answer["runStarted"] = json!(true);
        answer["runId"] = json!(run_id);
    }
    Ok(answer.into())
}
