//! `chat.*`: messages to a session and what was said in it.

pub(crate) mod history;

use openclaw_conversations::storage::TurnOptions;
use openclaw_proto::gateway::Message;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use serde::Deserialize;
use serde_json::json;

use openclaw_runs::queue::{Mode, QueueRequest};
use openclaw_runs::{Extra, Sender};

use super::attachments::{self, Attachment};
use super::run::{self, Started, Which};
use super::{Answer, Call};
use crate::client::CHANNEL;

methods! {
    "chat.abort" => WRITE, abort;
    "chat.inject" => ADMIN, inject;
    "chat.send" => WRITE, send;
}

/// Parameters that clients send and that change nothing here: they are about
/// channels that deliver, and about features of OpenClaw's own interface.
const WITHOUT_EFFECT: [&str; 17] = [
    "sessionId",
    "intent",
    "fastMode",
    "fastAutoOnSeconds",
    "deliver",
    "originatingChannel",
    "originatingTo",
    "originatingAccountId",
    "originatingThreadId",
    "replyToId",
    "toolBindings",
    "systemInputProvenance",
    "systemProvenanceReceipt",
    "expectedLeafEntryId",
    "expectedSessionRoutingContract",
    "expectedPermissionMode",
    "expectedToolOverrides",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Send {
    session_key: Filled,
    agent_id: Option<Filled>,
    message: String,
    idempotency_key: Filled,
    queue_mode: Option<Mode>,
    thinking: Option<String>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    suppress_command_interpretation: bool,
    #[serde(default)]
    attachments: Vec<Attachment>,
}

/// `chat.send`
async fn send(mut call: Call) -> Result<Answer, Failure> {
    call.ignore(&WITHOUT_EFFECT);
    let params: Send = call.session_params("sessionKey")?;
    let key = params.idempotency_key.0;
    let message = Message {
        text: attachments::joined(params.message, &params.attachments)?,
        session_key: params.session_key.0,
        agent_id: params.agent_id.map(|id| id.0).unwrap_or_default(),
        idempotency_key: key.clone(),
        channel: CHANNEL.to_owned(),
        route: None,
    };
    if message.text.trim().is_empty() {
        return Err(Failure::invalid("message or attachment required"));
    }
    let status = |status: &str| json!({ "runId": key, "status": status });
    let sender = if params.suppress_command_interpretation {
        Sender::program()
    } else {
        call.sender()
    };
    let extra = Extra {
        queue: Some(QueueRequest {
            mode: params.queue_mode,
            ..QueueRequest::default()
        }),
        turn: TurnOptions {
            thinking_level: run::thinking(call.method, params.thinking)?,
            deadline: run::deadline(params.timeout_ms),
            ..TurnOptions::default()
        },
        sender,
        ..Extra::default()
    };
    match run::start(&call, message, extra).await? {
        Started::New(run, _, _held) => {
            // The answer first, then the run's events.
            call.answer(Ok(&status("started")));
            call.context.reporter.report(&run);
            Ok(Answer::Given)
        }
        Started::Going(..) => Ok(status("in_flight").into()),
        Started::Ended(_) => Ok(status("ok").into()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Abort {
    session_key: Filled,
    agent_id: Option<Filled>,
    run_id: Option<Filled>,
    #[serde(rename = "preserveSideRuns")]
    _preserve_side_runs: Option<bool>,
}

/// `chat.abort`: one run, or all of the session. Answers when they have ended.
async fn abort(mut call: Call) -> Result<Answer, Failure> {
    let params: Abort = call.session_params("sessionKey")?;
    let key = call.key(&params.session_key, params.agent_id.as_deref())?;
    let ended = super::run::abort(
        &call.context.core,
        &call.context.reporter.reported,
        &key,
        params.run_id.as_deref().map_or(Which::All, Which::One),
    )
    .await?;
    Ok(json!({ "ok": true, "aborted": !ended.is_empty(), "runIds": ended }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Inject {
    session_key: Filled,
    agent_id: Option<Filled>,
    message: Filled,
    label: Option<String>,
}

/// Characters of a label.
const LABEL_LIMIT: usize = 100;

/// `chat.inject`: puts a message of the assistant's into the transcript.
async fn inject(mut call: Call) -> Result<Answer, Failure> {
    let params: Inject = call.session_params("sessionKey")?;
    let key = call.key(&params.session_key, params.agent_id.as_deref())?;
    let label = params.label.filter(|label| !label.is_empty());
    if label
        .as_ref()
        .is_some_and(|it| it.chars().count() > LABEL_LIMIT)
    {
        let problem = format!("at /label: must NOT have more than {LABEL_LIMIT} characters");
        return Err(Failure::params(call.method, &problem));
    }
    let text = match label {
        Some(label) => format!("[{label}]\n\n{}", params.message.0),
        None => params.message.0,
    };
    let id = call.say(&key, &text).await?;
    Ok(json!({ "ok": true, "messageId": id }).into())
}
