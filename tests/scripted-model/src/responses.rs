//! OpenAI's Responses API: events and their order as documented at platform.openai.com ("Streaming API responses").

use bytes::Bytes;
use serde_json::{Value, json};

use crate::reply::{Call, Piece, Reply, chunks};
use crate::scenario::Usage;

/// A fixed time of creation, as for chat completions.
const CREATED: u64 = 1_750_000_000;
/// Characters per part of a call's arguments.
const TOOL_CHUNK: usize = 24;

/// The streamed form of `reply`.
pub(crate) fn stream(reply: &Reply) -> Vec<Piece> {
    let mut stream = Stream::default();
    stream.frame(
        "response.created",
        json!({"response": response(reply, "in_progress", &[])}),
    );
    for (index, item) in items(reply).iter().enumerate() {
        stream.item(reply, index, item);
    }
    let (kind, status) = match reply.stop_reason.as_deref() {
        Some("max_tokens" | "length") => ("response.incomplete", "incomplete"),
        _ => ("response.completed", "completed"),
    };
    stream.frame(
        kind,
        json!({"response": response(reply, status, &items(reply))}),
    );
    stream.pieces
}

/// The form of `reply` for a client that asked for no stream.
pub(crate) fn whole(reply: &Reply) -> Value {
    response(reply, "completed", &items(reply))
}

/// The error that ends a stream that has begun.
pub(crate) fn error_event() -> Piece {
    let error = json!({"code": "server_is_overloaded", "message": "The engine is currently overloaded, please try again later"});
    let response =
        json!({"id": "resp_failed", "object": "response", "status": "failed", "error": error});
    let event = json!({"type": "response.failed", "sequence_number": 0, "response": response});
    Piece::Frame(encode("response.failed", &event))
}

#[derive(Debug, Default)]
struct Stream {
    pieces: Vec<Piece>,
}

impl Stream {
    fn frame(&mut self, kind: &str, event: Value) {
        let event = self.event(kind, event);
        self.pieces.push(Piece::Frame(event));
    }

    fn delta(&mut self, kind: &str, event: Value) {
        let event = self.event(kind, event);
        self.pieces.push(Piece::Delta(event));
    }

    fn event(&self, kind: &str, mut event: Value) -> Bytes {
        event["type"] = kind.into();
        event["sequence_number"] = self.pieces.len().into();
        encode(kind, &event)
    }

    fn item(&mut self, reply: &Reply, index: usize, item: &Value) {
        let mut begun = item.clone();
        begun["status"] = "in_progress".into();
        let part = |value: Value| {
            let mut value = value;
            value["item_id"] = item["id"].clone();
            value["output_index"] = index.into();
            value
        };
        match item["type"].as_str() {
            Some("reasoning") => {
                begun["summary"] = json!([]);
                self.frame(
                    "response.output_item.added",
                    json!({"output_index": index, "item": begun}),
                );
                for text in chunks(reply.thinking.as_deref().unwrap_or_default(), reply.chunk) {
                    self.frame(
                        "response.reasoning_summary_text.delta",
                        part(json!({"summary_index": 0, "delta": text})),
                    );
                }
            }
            Some("message") => {
                begun["content"] = json!([]);
                self.frame(
                    "response.output_item.added",
                    json!({"output_index": index, "item": begun}),
                );
                let empty = json!({"type": "output_text", "text": "", "annotations": []});
                self.frame(
                    "response.content_part.added",
                    part(json!({"content_index": 0, "part": empty})),
                );
                for text in chunks(&reply.text, reply.chunk) {
                    self.delta(
                        "response.output_text.delta",
                        part(json!({"content_index": 0, "delta": text})),
                    );
                }
                self.frame(
                    "response.output_text.done",
                    part(json!({"content_index": 0, "text": reply.text})),
                );
            }
            _ => {
                begun["arguments"] = "".into();
                self.frame(
                    "response.output_item.added",
                    json!({"output_index": index, "item": begun}),
                );
                let arguments = item["arguments"].as_str().unwrap_or_default();
                for text in chunks(arguments, TOOL_CHUNK) {
                    self.delta(
                        "response.function_call_arguments.delta",
                        part(json!({"delta": text})),
                    );
                }
                self.frame(
                    "response.function_call_arguments.done",
                    part(json!({"arguments": arguments})),
                );
            }
        }
        self.frame(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        );
    }
}

fn items(reply: &Reply) -> Vec<Value> {
    let thinking = reply.thinking.as_ref().map(|thinking| {
        json!({"type": "reasoning", "id": format!("rs_{:024}", reply.serial), "encrypted_content": "made-up",
            "summary": [{"type": "summary_text", "text": thinking}]})
    });
    let message = (!reply.text.is_empty()).then(|| {
        json!({"type": "message", "id": format!("msg_{:024}", reply.serial), "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}]})
    });
    thinking
        .into_iter()
        .chain(message)
        .chain(reply.calls.iter().map(call))
        .collect()
}

/// `mcp__SERVER__TOOL` is a tool in a namespace, as Codex offers them.
fn call(call: &Call) -> Value {
    let mut item = json!({
        "type": "function_call", "id": call.id.replacen("call_", "fc_", 1), "call_id": call.id,
        "name": call.name, "arguments": call.arguments.to_string(), "status": "completed",
    });
    let spaced = call.name.starts_with("mcp__").then(|| {
        call.name
            .split_at_checked(5)
            .and_then(|(_, rest)| rest.split_once("__"))
    });
    if let Some((server, tool)) = spaced.flatten() {
        item["namespace"] = format!("mcp__{server}").into();
        item["name"] = tool.into();
    }
    item
}

fn response(reply: &Reply, status: &str, output: &[Value]) -> Value {
    let mut response = json!({
        "id": format!("resp_{:024}", reply.serial), "object": "response", "created_at": CREATED, "status": status,
        "model": reply.model, "output": output, "error": null, "incomplete_details": null,
    });
    if status != "in_progress" {
        response["usage"] = usage(&reply.usage);
    }
    if status == "incomplete" {
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    response
}

fn usage(usage: &Usage) -> Value {
    let input = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + usage.output,
    })
}

fn encode(kind: &str, event: &Value) -> Bytes {
    format!("event: {kind}\ndata: {event}\n\n").into()
}
