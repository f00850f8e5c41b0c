//! The Anthropic Messages API: event order and error bodies as documented at docs.anthropic.com ("Streaming Messages",
//! "Errors").

use bytes::Bytes;
use serde_json::{Value, json};

use crate::reply::{Call, Piece, Reply, chunks};
use crate::scenario::Usage;

/// The streamed form of `reply`.
pub(crate) fn stream(reply: &Reply) -> Vec<Piece> {
    let mut pieces = vec![frame(
        json!({"type": "message_start", "message": envelope(reply, json!([]), None)}),
    )];
    let mut index = 0;
    if let Some(thinking) = &reply.thinking {
        let signature = signature(&reply.model, thinking);
        thinking_block(&mut pieces, index, (thinking, &signature), reply.chunk);
        index += 1;
    }
    if let Some(data) = &reply.redacted {
        start(&mut pieces, index, redacted_block(data));
        stop(&mut pieces, index);
        index += 1;
    }
    if !reply.text.is_empty() || reply.calls.is_empty() {
        text_block(&mut pieces, index, &reply.text, reply.chunk);
        index += 1;
    }
    for call in &reply.calls {
        tool_block(&mut pieces, index, call);
        index += 1;
    }
    pieces.push(frame(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
        "usage": usage(&reply.usage, reply.usage.output),
    })));
    pieces.push(frame(json!({"type": "message_stop"})));
    pieces
}

/// The form of `reply` for a client that asked for no stream.
pub(crate) fn whole(reply: &Reply) -> Value {
    let mut content = Vec::new();
    if let Some(thinking) = &reply.thinking {
        let signature = signature(&reply.model, thinking);
        content.push(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
    }
    content.extend(reply.redacted.as_deref().map(redacted_block));
    if !reply.text.is_empty() || reply.calls.is_empty() {
        content.push(json!({"type": "text", "text": reply.text}));
    }
    let calls = reply.calls.iter();
    content.extend(calls.map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})));
    envelope(reply, Value::Array(content), Some(stop_reason(reply)))
}

/// The body of an HTTP error.
pub(crate) fn error(status: u16, message: Option<&str>, serial: u64) -> Value {
    let (kind, usual) = match status {
        400 => ("invalid_request_error", "The request was malformed"),
        401 => ("authentication_error", "invalid x-api-key"),
        402 => (
            "billing_error",
            "Your credit balance is too low to access the Anthropic API",
        ),
        403 => (
            "permission_error",
            "Your API key does not have permission to use the specified resource",
        ),
        404 => (
            "not_found_error",
            "The requested resource could not be found",
        ),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => (
            "rate_limit_error",
            "This request would exceed your organization's rate limit",
        ),
        529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    };
    let error = json!({"type": kind, "message": message.unwrap_or(usual)});
    json!({"type": "error", "error": error, "request_id": format!("req_{serial:024}")})
}

/// The error event of a stream that has begun.
pub(crate) fn error_event() -> Piece {
    frame(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))
}

/// What `model` signs its thinking with: another thought, or another model's, has another signature.
pub fn signature(model: &str, thinking: &str) -> String {
    let said = format!("{model}: {thinking}");
    let code: String = said.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("Sig{code}==")
}

fn redacted_block(data: &str) -> Value {
    json!({"type": "redacted_thinking", "data": data})
}

fn envelope(reply: &Reply, content: Value, stop_reason: Option<&str>) -> Value {
    let output = if stop_reason.is_some() {
        reply.usage.output
    } else {
        1
    };
    json!({
        "id": format!("msg_{:024}", reply.serial),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(&reply.usage, output),
    })
}

fn usage(usage: &Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": output,
    })
}

fn stop_reason(reply: &Reply) -> &str {
    let fitting = if reply.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    reply.stop_reason.as_deref().unwrap_or(fitting)
}

fn thinking_block(
    pieces: &mut Vec<Piece>,
    index: usize,
    (thinking, signature): (&str, &str),
    chunk: usize,
) {
    start(
        pieces,
        index,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
    );
    // Frames, not deltas: "the middle" of an answer is the middle of what the user sees.
    for part in chunks(thinking, chunk) {
        pieces.push(frame(delta_event(
            index,
            json!({"type": "thinking_delta", "thinking": part}),
        )));
    }
    // Whoever takes the first part for the whole has a signature that is none.
    for part in chunks(signature, signature.len().div_ceil(2)) {
        pieces.push(frame(delta_event(
            index,
            json!({"type": "signature_delta", "signature": part}),
        )));
    }
    stop(pieces, index);
}

fn text_block(pieces: &mut Vec<Piece>, index: usize, text: &str, chunk: usize) {
    start(pieces, index, json!({"type": "text", "text": ""}));
    for part in chunks(text, chunk) {
        pieces.push(delta(delta_event(
            index,
            json!({"type": "text_delta", "text": part}),
        )));
    }
    stop(pieces, index);
}

fn tool_block(pieces: &mut Vec<Piece>, index: usize, call: &Call) {
    start(
        pieces,
        index,
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
    );
    let arguments = call.arguments.to_string();
    // The real API opens with an empty part.
    for part in std::iter::once("").chain(chunks(&arguments, TOOL_CHUNK)) {
        pieces.push(delta(delta_event(
            index,
            json!({"type": "input_json_delta", "partial_json": part}),
        )));
    }
    stop(pieces, index);
}

/// Characters per part of a tool call's arguments; small, so that they arrive in several parts as they do in life.
const TOOL_CHUNK: usize = 24;

fn start(pieces: &mut Vec<Piece>, index: usize, block: Value) {
    pieces.push(frame(
        json!({"type": "content_block_start", "index": index, "content_block": block}),
    ));
    if index == 0 {
        pieces.push(frame(json!({"type": "ping"})));
    }
}

fn stop(pieces: &mut Vec<Piece>, index: usize) {
    pieces.push(frame(json!({"type": "content_block_stop", "index": index})));
}

fn delta_event(index: usize, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn delta(event: Value) -> Piece {
    Piece::Delta(encode(&event))
}

fn frame(event: Value) -> Piece {
    Piece::Frame(encode(&event))
}

fn encode(event: &Value) -> Bytes {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n").into()
}
