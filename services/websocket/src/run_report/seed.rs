//! Seed 002's `GatewayEvent {type, sessionId, payload, timestamp}`, sent as it
//! stands there to clients that ask for `gateway-events-v1`.

use openclaw_proto::event::{Event, Kind};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::audience::Audience;
use super::RunReport;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GatewayEvent<'a> {
    r#type: &'static str,
    session_id: &'a str,
    payload: Value,
    /// Unix milliseconds.
    timestamp: i64,
}

impl RunReport<'_> {
    pub(super) fn seed_event(&self, event: &Event) {
        let audience = Audience::Seed(self.key);
        if self.silent || !self.hub.has(audience) {
            return;
        }
        let Some((kind, payload)) = self.seed_payload(&event.kind) else {
            return;
        };
        let frame = GatewayEvent {
            r#type: kind,
            session_id: self.session_id,
            payload,
            timestamp: event.at_ms,
        };
        // Maps with text keys always serialise.
        if let Ok(text) = serde_json::to_string(&frame) {
            self.hub.send_text(audience, &text);
        }
    }

    fn seed_payload(&self, kind: &Kind) -> Option<(&'static str, Value)> {
        let run = self.run_id;
        Some(match kind {
            Kind::TextDelta { text } => (
                "message",
                json!({ "role": "assistant", "delta": text, "done": false, "runId": run }),
            ),
            Kind::ToolCall {
                id,
                name,
                arguments,
            } => (
                "tool_call",
                json!({ "id": id, "name": name, "arguments": arguments, "runId": run }),
            ),
            Kind::ToolResult(result) => {
                let mut payload = json!(result);
                payload["runId"] = json!(run);
                ("tool_result", payload)
            }
            Kind::Failed(failed) => (
                "error",
                json!({ "code": failed.code, "message": failed.message, "runId": run }),
            ),
            Kind::Aborted { reason, .. } => (
                "session_update",
                json!({ "key": self.key, "status": "aborted", "reason": reason, "runId": run }),
            ),
            Kind::Done(_) => (
                "message",
                json!({
                    "role": "assistant",
                    "content": self.text,
                    "done": true,
                    "runId": run,
                }),
            ),
            Kind::Thinking { .. }
            | Kind::ThinkingSigned(_)
            | Kind::Usage(_)
            | Kind::Note { .. }
            | Kind::Resources(_)
            | Kind::Steered { .. }
            | Kind::ApprovalRequested(_)
            | Kind::ApprovalResolved(_)
            | Kind::ToolOutput { .. } => return None,
        })
    }
}
