//! `agent` and `agent.wait`.

use crate::refused::refused;
use std::time::Duration;

use openclaw_conversations::storage::TurnOptions;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Accepted, Message};
use openclaw_proto::runner::ContextFile;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_protocol::scope::Scope;
use openclaw_runs::Extra;
use openclaw_runs::queue::QueueRequest;
use openclaw_sessions::{now_ms, silence};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::attachments::{self, Attachment};
use super::run::{self, End, Started};
use super::{Answer, Call};
use crate::client::CHANNEL;

methods! {
    "agent" => Looks, agent;
    "agent.wait" => WRITE, wait;
}

/// How long `agent.wait` waits when the client does not say, in milliseconds.
const WAIT_MS: u64 = 30_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    message: Filled,
    agent_id: Option<Filled>,
    session_key: Option<String>,
    idempotency_key: Filled,
    channel: Option<String>,
    extra_system_prompt: Option<String>,
    /// Seconds; 0: no limit beside the agent's own.
    timeout: Option<u64>,
    model: Option<String>,
    thinking: Option<String>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    session_id: Option<Filled>,
}

/// The name of an added system prompt among the bootstrap files.
const ADDED_PROMPT: &str = "client instructions";

/// `agent`: answers twice, when the message is accepted and when the run has
/// ended.
async fn agent(mut call: Call) -> Result<Answer, Failure> {
    call.client.need(Scope::Write)?;
    let params: Params = call.params()?;
    let model = params.model.filter(|model| !model.is_empty());
    let instructions = params.extra_system_prompt.filter(|text| !text.is_empty());
    let limit_ms = params.timeout.map(|seconds| seconds.saturating_mul(1000));
    let extra = Extra {
        turn: TurnOptions {
            instructions: instructions.map(instructions_file).into_iter().collect(),
            model: run::model(call.method, model)?,
            thinking_level: run::thinking(call.method, params.thinking)?,
            deadline: run::deadline(limit_ms),
            ..TurnOptions::default()
        },
        queue: Some(QueueRequest::default()),
        sender: call.sender(),
        ..Extra::default()
    };
    let key = params.idempotency_key.0;
    let agent_id = params.agent_id.map(|id| id.0).unwrap_or_default();
    let session_key = params.session_key.unwrap_or_default();
    let session_key = match params.session_id {
        Some(id) => session_of(&call, session_key, &agent_id, &id).await?,
        None => session_key,
    };
    let message = Message {
        text: attachments::joined(params.message.0, &params.attachments)?,
        session_key,
        agent_id,
        idempotency_key: key.clone(),
        channel: params
            .channel
            .filter(|channel| !channel.is_empty() && channel != "last")
            .unwrap_or(CHANNEL.to_owned()),
        route: None,
    };
    let accepted_ms = now_ms();
    let (run, accepted, held) = match run::start(&call, message, extra).await? {
        Started::New(run, accepted, held) => (run, accepted, Some(held)),
        Started::Going(run, accepted) => (run, accepted, None),
        Started::Ended(record) => {
            let end = run::stored_end(&call.context.core.storage, &record.run_id).await?;
            let end = end.ok_or_else(|| Failure::unavailable("the run is not known any more"))?;
            return finish(&call, &key, &record.accepted(), &end);
        }
    };
    call.answer(Ok(&json!({
        "runId": key,
        "sessionKey": accepted.session_key,
        "agentId": accepted.agent_id,
        "status": "accepted",
        "acceptedAt": accepted_ms,
    })));
    if held.is_some() {
        call.context.reporter.report(&run);
    }
    let end = run::end_of(&run).await?;
    // The run's last events are told before its second answer.
    call.context.reporter.reported.told(&run).await;
    finish(&call, &key, &accepted, &end)
}

/// The key of the session that has the id `id`; it is begun where there is none.
async fn session_of(
    call: &Call,
    session_key: String,
    agent_id: &str,
    id: &str,
) -> Result<String, Failure> {
    let core = &call.context.core;
    if session_key.is_empty() {
        let named = core.sessions.resolve_or_begin(id, agent_id).await;
        return Ok(named.map_err(refused)?.to_string());
    }
    let key = core.key(&session_key, agent_id).map_err(refused)?;
    let begun = core.sessions.begin_with(&key, id).await;
    begun.map_err(refused)?;
    Ok(session_key)
}

fn instructions_file(content: String) -> ContextFile {
    ContextFile {
        name: ADDED_PROMPT.to_owned(),
        content,
    }
}

fn finish(call: &Call, run_id: &str, accepted: &Accepted, end: &End) -> Result<Answer, Failure> {
    match problem(&end.outcome) {
        None => Ok(json!({
            "runId": run_id,
            "status": "ok",
            "summary": "completed",
            "result": result(accepted, end),
        })
        .into()),
        Some(message) => {
            let payload = json!({ "runId": run_id, "status": "error", "summary": message });
            call.answer_failed(&payload, &Failure::unavailable(message));
            Ok(Answer::Given)
        }
    }
}

fn result(accepted: &Accepted, end: &End) -> Value {
    let payloads = match end.text.as_str() {
        "" => Vec::new(),
        text => vec![json!({ "text": text, "mediaUrl": null })],
    };
    let (provider, model, stop_reason) = match &end.outcome {
        Kind::Done(done) => (
            &*done.provider,
            &*done.model,
            silence::told(&done.stop_reason),
        ),
        _ => ("", "", "aborted"),
    };
    let (input, output) = end.tokens;
    json!({
        "payloads": payloads,
        "meta": {
            "durationMs": (end.ended_ms - end.started_ms).max(0),
            "stopReason": stop_reason,
            "aborted": matches!(end.outcome, Kind::Aborted { .. }),
            "agentMeta": {
                "sessionId": accepted.session_id,
                "provider": provider,
                "model": model,
                "usage": { "input": input, "output": output, "total": input + output },
            },
        },
    })
}

/// Why there is no whole reply.
fn problem(outcome: &Kind) -> Option<&str> {
    match outcome {
        Kind::Failed(failed) => Some(&failed.message),
        _ => None,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wait {
    run_id: Filled,
    timeout_ms: Option<u64>,
}

/// `agent.wait`: how a run ended, or that it has not.
async fn wait(mut call: Call) -> Result<Answer, Failure> {
    let params: Wait = call.params()?;
    let id = params.run_id.0;
    let patience = Duration::from_millis(params.timeout_ms.unwrap_or(WAIT_MS));
    let end = match call.context.core.runs.find_public(&id) {
        Some(run) => {
            let ended = async {
                let end = run::end_of(&run).await;
                call.context.reporter.reported.told(&run).await;
                end
            };
            match timeout(patience, ended).await {
                Ok(end) => end?,
                Err(_) => return Ok(json!({ "runId": id, "status": "timeout" }).into()),
            }
        }
        None => {
            let end = run::stored_end(&call.context.core.storage, &id).await?;
            end.ok_or_else(|| Failure::invalid(format!("run {id} is not known")))?
        }
    };
    Ok(ended(&id, &end).into())
}

fn ended(id: &str, end: &End) -> Value {
    let mut answer = json!({
        "runId": id,
        "status": "ok",
        "startedAt": end.started_ms,
        "endedAt": end.ended_ms,
    });
    match &end.outcome {
        Kind::Failed(failed) => {
            answer["status"] = json!("error");
            answer["error"] = json!(failed.message);
        }
        Kind::Aborted { reason, .. } => {
            answer["status"] = json!("error");
            answer["stopReason"] = json!(reason);
            answer["error"] = json!(format!("aborted: {reason}"));
        }
        _ => {}
    }
    answer
}
