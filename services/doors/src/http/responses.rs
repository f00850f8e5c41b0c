//! `POST /v1/responses` (OpenAI's API reference, "Responses"). The sequence of
//! a stream's events is the recorded one of OpenClaw.

mod request;
mod stream;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::{Response, StatusCode};
use openclaw_sessions::now_ms;
use serde_json::{Value, json};

use super::authorized::Authorized;
use super::problem::Problem;
use super::target::Target;
use super::turn::{self, Abandoned, Reply, Turn};
use super::{answer, body, chat, conversation, sse};
use crate::doors::Doors;
use openclaw_conversations::Refusal;
use request::Request;

/// Part of the keys of sessions that this API makes, as in OpenClaw.
const FAMILY: &str = "openresponses";
/// Before a run's id, the id of its response.
const PREFIX: &str = "resp_";

/// Answers the input with one turn of the agent.
pub(super) async fn create(
    State(doors): State<Arc<Doors>>,
    _: Authorized,
    request: HttpRequest,
) -> Result<Response<Body>, Problem> {
    let settings = doors.front.settings();
    if !settings.gateway.responses {
        return Err(Problem::not_found("/v1/responses"));
    }
    let headers = request.headers().clone();
    let request: Request = body::json(request, chat::BODY_LIMIT).await?;
    request.check()?;
    let user = request.user.as_deref();
    let mut target = Target::of(&headers, &request.model, user, FAMILY, &settings)?;
    if let Some(previous) = &request.previous_response_id {
        target.session_key = session_of(&doors, previous).await?;
        target.lasts = true;
    }
    let conversation = request.conversation()?;
    let (message, extra) = conversation::submission(conversation, target, "input")?;
    let turn = Turn::start(&doors, message, extra, Abandoned::Ends).await?;
    let head = Head::new(&turn.accepted.run_id, &request);
    if request.stream {
        return Ok(sse::answer(|sink| stream::stream(sink, turn, head)));
    }
    let reply = turn.whole().await?;
    Ok(answer::json(StatusCode::OK, &head.completed(&reply)))
}

/// The session of an earlier response: its id names its run, which the ledger has.
async fn session_of(doors: &Doors, response_id: &str) -> Result<String, Problem> {
    let unknown = || {
        let problem = format!("{response_id:?} is not known");
        Problem::invalid("previous_response_id", problem)
    };
    let run_id = response_id.strip_prefix(PREFIX).ok_or_else(unknown)?;
    let found = doors.core.storage.find(run_id).await;
    let found = found.map_err(Refusal::Unreadable)?.ok_or_else(unknown)?;
    Ok(found.record.session_key)
}

/// What every stage of a response repeats.
struct Head {
    id: String,
    message_id: String,
    created_at: i64,
    model: String,
    instructions: Option<String>,
    previous: Option<String>,
    user: Option<String>,
    metadata: Value,
}

impl Head {
    fn new(run_id: &str, request: &Request) -> Self {
        Self {
            id: format!("{PREFIX}{run_id}"),
            message_id: format!("msg_{run_id}"),
            created_at: now_ms() / 1000,
            model: request.model.clone(),
            instructions: request.instructions.clone(),
            previous: request.previous_response_id.clone(),
            user: request.user.clone(),
            metadata: request.metadata.clone().unwrap_or_else(|| json!({})),
        }
    }

    /// The response in some stage.
    fn response(&self, status: &str, output: Value, usage: Value) -> Value {
        json!({
            "id": self.id,
            "object": "response",
            "created_at": self.created_at,
            "status": status,
            "error": null,
            "incomplete_details": null,
            "instructions": self.instructions,
            "metadata": self.metadata,
            "model": self.model,
            "output": output,
            "parallel_tool_calls": false,
            "previous_response_id": self.previous,
            "tool_choice": "auto",
            "tools": [],
            "user": self.user,
            "usage": usage,
        })
    }

    fn completed(&self, reply: &Reply) -> Value {
        let message = self.message("completed", json!([part(&reply.text)]));
        let mut response = match reply.done.stop_reason.as_str() {
            "length" | "step_limit" => {
                let mut response = self.response("incomplete", json!([message]), usage(reply));
                response["incomplete_details"] = json!({"reason": "max_output_tokens"});
                response
            }
            _ => self.response("completed", json!([message]), usage(reply)),
        };
        response["completed_at"] = json!(now_ms() / 1000);
        response
    }

    fn message(&self, status: &str, content: Value) -> Value {
        json!({
            "type": "message",
            "id": self.message_id,
            "role": "assistant",
            "content": content,
            "status": status,
        })
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn usage(reply: &Reply) -> Value {
    let sent = turn::sent(&reply.usage);
    json!({
        "input_tokens": sent,
        "input_tokens_details": {
            "cached_tokens": reply.usage.cache_read,
            "cache_write_tokens": reply.usage.cache_write,
        },
        "output_tokens": reply.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + reply.usage.output,
    })
}
