//! OpenAI chat completions: chunk order and error bodies as documented at platform.openai.com ("Chat completions").

use bytes::Bytes;
use serde_json::{Value, json};

use crate::reply::{Call, Piece, Reply, chunks};
use crate::scenario::Usage;

/// The streamed form of `reply`.
pub(crate) fn stream(reply: &Reply, with_usage: bool) -> Vec<Piece> {
    let mut pieces = vec![frame(chunk(
        reply,
        json!({"role": "assistant", "content": ""}),
        None,
    ))];
    for part in chunks(reply.thinking.as_deref().unwrap_or_default(), reply.chunk) {
        // Not OpenAI's own field, but what vLLM, llama-server and OpenRouter send.
        pieces.push(frame(chunk(
            reply,
            json!({"reasoning_content": part}),
            None,
        )));
    }
    for part in chunks(&reply.text, reply.chunk) {
        pieces.push(delta(chunk(reply, json!({"content": part}), None)));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        tool_pieces(&mut pieces, reply, index, call);
    }
    pieces.push(frame(chunk(reply, json!({}), Some(finish_reason(reply)))));
    if with_usage {
        let mut last = chunk(reply, json!({}), None);
        last["choices"] = json!([]);
        last["usage"] = usage(&reply.usage);
        pieces.push(frame(last));
    }
    pieces.push(Piece::Frame(Bytes::from_static(b"data: [DONE]\n\n")));
    pieces
}

/// The form of `reply` for a client that asked for no stream.
pub(crate) fn whole(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text, "refusal": null});
    if let Some(thinking) = &reply.thinking {
        message["reasoning_content"] = json!(thinking);
    }
    if !reply.calls.is_empty() {
        let calls = reply
            .calls
            .iter()
            .map(|call| tool_call(call, &call.arguments.to_string()));
        message["tool_calls"] = calls.collect();
        if reply.text.is_empty() {
            message["content"] = Value::Null;
        }
    }
    json!({
        "id": id(reply),
        "object": "chat.completion",
        "created": CREATED,
        "model": reply.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(reply)}],
        "usage": usage(&reply.usage),
    })
}

/// The body of an HTTP error.
pub(crate) fn error(status: u16, message: Option<&str>) -> Value {
    let (kind, code, usual) = match status {
        400 => (
            "invalid_request_error",
            Value::Null,
            "The request was malformed",
        ),
        401 => (
            "invalid_request_error",
            json!("invalid_api_key"),
            "Incorrect API key provided: made-up",
        ),
        403 => (
            "invalid_request_error",
            json!("permission_denied"),
            "You have no access to this resource",
        ),
        404 => (
            "invalid_request_error",
            json!("model_not_found"),
            "The model does not exist",
        ),
        429 => (
            "requests",
            json!("rate_limit_exceeded"),
            "Rate limit reached for requests",
        ),
        _ => (
            "server_error",
            Value::Null,
            "The server had an error while processing your request",
        ),
    };
    json!({"error": {"message": message.unwrap_or(usual), "type": kind, "param": null, "code": code}})
}

/// The error that servers of this API put into a stream that has begun.
pub(crate) fn error_event() -> Piece {
    frame(error(
        503,
        Some("The engine is currently overloaded, please try again later"),
    ))
}

/// A fixed time of creation: nothing depends on it, and equal requests get equal answers.
const CREATED: u64 = 1_750_000_000;

fn id(reply: &Reply) -> String {
    format!("chatcmpl-{:024}", reply.serial)
}

fn chunk(reply: &Reply, delta: Value, finish_reason: Option<&str>) -> Value {
    json!({
        "id": id(reply),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": reply.model,
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}],
    })
}

fn tool_pieces(pieces: &mut Vec<Piece>, reply: &Reply, index: usize, call: &Call) {
    let mut opening = tool_call(call, "");
    opening["index"] = json!(index);
    pieces.push(delta(chunk(reply, json!({"tool_calls": [opening]}), None)));
    for part in chunks(&call.arguments.to_string(), TOOL_CHUNK) {
        let part = json!({"index": index, "function": {"arguments": part}});
        pieces.push(delta(chunk(reply, json!({"tool_calls": [part]}), None)));
    }
}

/// Characters per part of a tool call's arguments; small, so that they arrive in several parts as they do in life.
const TOOL_CHUNK: usize = 24;

fn tool_call(call: &Call, arguments: &str) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn finish_reason(reply: &Reply) -> &str {
    match reply.stop_reason.as_deref() {
        // Scenarios are written once for both APIs.
        Some("max_tokens") => "length",
        Some(given) => given,
        None if reply.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn usage(usage: &Usage) -> Value {
    let prompt = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    })
}

fn delta(event: Value) -> Piece {
    Piece::Delta(encode(&event))
}

fn frame(event: Value) -> Piece {
    Piece::Frame(encode(&event))
}

fn encode(event: &Value) -> Bytes {
    format!("data: {event}\n\n").into()
}
