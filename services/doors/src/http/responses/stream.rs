//! A response as a stream of events, each with its number.

use serde_json::{Value, json};

use super::super::problem::Problem;
use super::super::sse::{Gone, Next, Sink};
use super::super::turn::{Reply, Turn};
use super::{Head, part};

/// Sends the events' numbers with them.
struct Numbered {
    sink: Sink,
    next: u64,
}

impl Numbered {
    async fn send(&mut self, kind: &str, mut event: Value) -> Result<(), Gone> {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(self.next);
        self.next += 1;
        self.sink.event(kind, &event).await
    }
}

/// Streams `turn` to its end.
pub(super) async fn stream(sink: Sink, mut turn: Turn, head: Head) -> Result<(), Gone> {
    let mut out = Numbered { sink, next: 0 };
    open(&mut out, &head).await?;
    loop {
        match out.sink.next(&mut turn).await? {
            Next::Piece(piece) => {
                let delta = head.of_part(json!({"delta": piece, "logprobs": []}));
                out.send("response.output_text.delta", delta).await?;
            }
            Next::Whole => return close(&mut out, &head, &turn.reply()).await,
            Next::Problem(problem) => return fail(&mut out, &head, &problem).await,
        }
    }
}

async fn open(out: &mut Numbered, head: &Head) -> Result<(), Gone> {
    let response = head.response("in_progress", json!([]), Value::Null);
    for kind in ["response.created", "response.in_progress"] {
        out.send(kind, json!({"response": response})).await?;
    }
    let item = head.message("in_progress", json!([]));
    let added = json!({"output_index": 0, "item": item});
    out.send("response.output_item.added", added).await?;
    let added = head.of_part(json!({"part": part("")}));
    out.send("response.content_part.added", added).await
}

async fn close(out: &mut Numbered, head: &Head, reply: &Reply) -> Result<(), Gone> {
    let done = head.of_part(json!({"text": reply.text, "logprobs": []}));
    out.send("response.output_text.done", done).await?;
    let done = head.of_part(json!({"part": part(&reply.text)}));
    out.send("response.content_part.done", done).await?;
    let item = head.message("completed", json!([part(&reply.text)]));
    let done = json!({"output_index": 0, "item": item});
    out.send("response.output_item.done", done).await?;
    let response = head.completed(reply);
    let kind = match response["status"].as_str() {
        Some("incomplete") => "response.incomplete",
        _ => "response.completed",
    };
    out.send(kind, json!({"response": response})).await
}

async fn fail(out: &mut Numbered, head: &Head, problem: &Problem) -> Result<(), Gone> {
    let (code, message) = problem.words();
    let mut response = head.response("failed", json!([]), Value::Null);
    response["error"] = json!({"code": code, "message": message});
    out.send("response.failed", json!({"response": response}))
        .await
}

impl Head {
    /// An event about the one part of the one message.
    fn of_part(&self, mut event: Value) -> Value {
        event["item_id"] = json!(self.message_id);
        event["output_index"] = json!(0);
        event["content_index"] = json!(0);
        event
    }
}
