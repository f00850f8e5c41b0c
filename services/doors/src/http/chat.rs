//! `POST /v1/chat/completions` (OpenAI's API reference, "Chat").

mod request;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::{Response, StatusCode};
use openclaw_sessions::now_ms;
use serde_json::{Value, json};

use super::authorized::Authorized;
use super::conversation;
use super::problem::Problem;
use super::sse::{Gone, Next, Sink};
use super::target::Target;
use super::turn::{self, Abandoned, Reply, Turn};
use super::{answer, body, sse};
use crate::doors::Doors;
use request::Request;

/// Bytes of a request. Clients send the whole conversation every time; what is
/// longer than this fits into no model's context.
pub(super) const BODY_LIMIT: usize = 8 * 1024 * 1024;

/// Part of the keys of sessions that this API makes, as in OpenClaw.
const FAMILY: &str = "openai";

/// Answers the conversation with one turn of the agent.
pub(super) async fn complete(
    State(doors): State<Arc<Doors>>,
    _: Authorized,
    request: HttpRequest,
) -> Result<Response<Body>, Problem> {
    let settings = doors.front.settings();
    if !settings.gateway.chat_completions {
        return Err(Problem::not_found("/v1/chat/completions"));
    }
    let headers = request.headers().clone();
    let request: Request = body::json(request, BODY_LIMIT).await?;
    request.check()?;
    let user = request.user.as_deref();
    let target = Target::of(&headers, &request.model, user, FAMILY, &settings)?;
    let conversation = request.conversation()?;
    let (message, extra) = conversation::submission(conversation, target, "messages")?;
    let turn = Turn::start(&doors, message, extra, Abandoned::Ends).await?;
    let head = Head {
        id: format!("chatcmpl_{}", turn.accepted.run_id),
        created: now_ms() / 1000,
        model: request.model.clone(),
    };
    if request.stream {
        let usage = request.wants_usage();
        return Ok(sse::answer(|sink| stream(sink, turn, head, usage)));
    }
    let reply = turn.whole().await?;
    Ok(answer::json(StatusCode::OK, &head.completion(&reply)))
}

/// What every chunk repeats.
struct Head {
    id: String,
    created: i64,
    model: String,
}

impl Head {
    fn completion(&self, reply: &Reply) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": reply.text, "refusal": null},
                "logprobs": null,
                "finish_reason": finish_reason(reply),
            }],
            "usage": usage(reply),
        })
    }

    fn chunk(&self, delta: Value, finish_reason: Option<&str>) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        })
    }

    fn usage_chunk(&self, reply: &Reply) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [],
            "usage": usage(reply),
        })
    }
}

async fn stream(sink: Sink, mut turn: Turn, head: Head, wants_usage: bool) -> Result<(), Gone> {
    let first = json!({"role": "assistant", "content": ""});
    sink.data(&head.chunk(first, None)).await?;
    loop {
        match sink.next(&mut turn).await? {
            Next::Piece(piece) => {
                let delta = json!({"content": piece});
                sink.data(&head.chunk(delta, None)).await?;
            }
            Next::Whole => break,
            Next::Problem(problem) => {
                sink.data(&problem.document()).await?;
                return sink.done().await;
            }
        }
    }
    let reply = turn.reply();
    let last = head.chunk(json!({}), Some(finish_reason(&reply)));
    sink.data(&last).await?;
    if wants_usage {
        sink.data(&head.usage_chunk(&reply)).await?;
    }
    sink.done().await
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply.done.stop_reason.as_str() {
        "length" | "step_limit" => "length",
        _ => "stop",
    }
}

fn usage(reply: &Reply) -> Value {
    let sent = turn::sent(&reply.usage);
    json!({
        "prompt_tokens": sent,
        "completion_tokens": reply.usage.output,
        "total_tokens": sent + reply.usage.output,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cache_read},
    })
}
