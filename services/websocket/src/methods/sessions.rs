//! `sessions.*`: the index, its sessions, and who follows what.

pub(super) mod change;
pub(super) mod compact;
pub(super) mod list;
pub(super) mod look;

use crate::refused::refused;
use openclaw_conversations::storage::TurnOptions;
use openclaw_proto::gateway::Message;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::SessionKey;
use serde::Deserialize;
use serde_json::json;

use openclaw_runs::Extra;
use openclaw_runs::queue::QueueRequest;

use super::attachments::{self, Attachment};
use super::run::{self, Started, Which};
use super::{Answer, Call};
use crate::client::CHANNEL;

pub(super) use look::exists;

methods! {
    "sessions.abort" => WRITE, abort;
    "sessions.messages.subscribe" => READ, follow;
    "sessions.messages.unsubscribe" => READ, unfollow;
    "sessions.send" => WRITE, send;
    "sessions.subscribe" => READ, subscribe;
    "sessions.unsubscribe" => READ, unsubscribe;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Send {
    key: Filled,
    agent_id: Option<Filled>,
    message: String,
    idempotency_key: Option<Filled>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    thinking: Option<String>,
}

/// `sessions.send`: a message to a session.
async fn send(mut call: Call) -> Result<Answer, Failure> {
    let params: Send = call.session_params("key")?;
    let text = attachments::joined(params.message, &params.attachments)?;
    if text.trim().is_empty() {
        return Err(Failure::invalid("message or attachment required"));
    }
    let key = call.key(&params.key, params.agent_id.as_deref())?;
    let run_id = params.idempotency_key.map(|key| key.0);
    let run_id = run_id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let turn = TurnOptions {
        thinking_level: run::thinking(call.method, params.thinking)?,
        deadline: run::deadline(params.timeout_ms),
        ..TurnOptions::default()
    };
    let status = match send_text(&call, &key, text, run_id.clone(), turn).await? {
        Started::New(..) => "started",
        Started::Going(..) => "in_flight",
        Started::Ended(_) => "ok",
    };
    Ok(json!({ "runId": run_id, "status": status, "sessionKey": key.as_str() }).into())
}

/// Sends a message to a session and lets the clients hear of its run.
async fn send_text(
    call: &Call,
    key: &SessionKey,
    text: String,
    run_id: String,
    turn: TurnOptions,
) -> Result<Started, Failure> {
    let message = Message {
        text,
        session_key: key.to_string(),
        idempotency_key: run_id,
        channel: CHANNEL.to_owned(),
        ..Message::default()
    };
    let extra = Extra {
        queue: Some(QueueRequest::default()),
        turn,
        sender: call.sender(),
        ..Extra::default()
    };
    let started = run::start(call, message, extra).await?;
    if let Started::New(run, ..) = &started {
        call.context.reporter.report(run);
    }
    Ok(started)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Abort {
    key: Option<Filled>,
    run_id: Option<Filled>,
    agent_id: Option<Filled>,
    #[serde(default)]
    clear_queued: bool,
}

/// `sessions.abort`: what runs in a session, with `clearQueued` what waits there too,
/// or one run.
async fn abort(mut call: Call) -> Result<Answer, Failure> {
    let params: Abort = call.params()?;
    let agent = params.agent_id.as_deref().unwrap_or_default();
    let id = params.run_id.as_deref();
    let key = match (
        &params.key,
        id.and_then(|id| call.context.core.runs.find_public(id)),
    ) {
        (Some(key), _) => call.context.core.key(key, agent).map_err(refused)?,
        (None, Some(run)) => run.key.clone(),
        (None, None) => return Err(Failure::invalid("key or runId of a live run required")),
    };
    let ended = run::abort(
        &call.context.core,
        &call.context.reporter.reported,
        &key,
        match id {
            Some(id) => Which::One(id),
            None if params.clear_queued => Which::All,
            None => Which::Running,
        },
    )
    .await?;
    let status = if ended.is_empty() {
        "no-active-run"
    } else {
        "aborted"
    };
    Ok(json!({
        "ok": true,
        "abortedRunId": ended.first(),
        "runIds": ended,
        "status": status,
    })
    .into())
}

/// `sessions.subscribe`: changes of the index are told from now on.
async fn subscribe(call: Call) -> Result<Answer, Failure> {
    call.client.follow_index(true);
    Ok(json!({ "subscribed": true }).into())
}

/// `sessions.unsubscribe`
async fn unsubscribe(call: Call) -> Result<Answer, Failure> {
    call.client.follow_index(false);
    Ok(json!({ "subscribed": false }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Follow {
    key: Filled,
    agent_id: Option<Filled>,
    #[serde(rename = "includeApprovals")]
    _include_approvals: Option<bool>,
}

/// `sessions.messages.subscribe`: the messages of a session are told.
async fn follow(mut call: Call) -> Result<Answer, Failure> {
    let key = followed(&mut call)?;
    call.client.follow(&key)?;
    Ok(json!({ "subscribed": true, "key": key }).into())
}

/// `sessions.messages.unsubscribe`
async fn unfollow(mut call: Call) -> Result<Answer, Failure> {
    let key = followed(&mut call)?;
    call.client.unfollow(&key);
    Ok(json!({ "subscribed": false, "key": key }).into())
}

fn followed(call: &mut Call) -> Result<String, Failure> {
    let params: Follow = call.params()?;
    let key = call.key(&params.key, params.agent_id.as_deref())?;
    Ok(key.to_string())
}
