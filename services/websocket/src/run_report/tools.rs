//! Tool calls, told three times: as an item, as a tool with its arguments and
//! result, and as what a command printed.

use openclaw_proto::approval::{ApprovalRequested, ApprovalResolved};
use openclaw_proto::event::ToolResult;
use openclaw_sessions::now_ms;
use serde_json::{Value, json};

use super::RunReport;

/// Bytes of a tool's output that are told to clients. The whole is in the transcript.
const OUTPUT_LIMIT: usize = 64 * 1024;

/// Characters of a call's summary.
const SUMMARY_LIMIT: usize = 80;

/// A call that is under way.
pub(super) struct Tool {
    name: String,
    summary: String,
    started_ms: i64,
    is_command: bool,
}

impl RunReport<'_> {
    pub(super) fn tool_call(&mut self, id: String, name: String, arguments: Value) {
        let tool = Tool::new(name, &arguments);
        let mut item = tool.item(&id, "start", "running");
        item["startedAt"] = json!(tool.started_ms);
        self.agent("item", item);
        let data = json!({
            "phase": "start",
            "name": tool.name,
            "toolCallId": id,
            "args": arguments,
        });
        self.tool(data);
        self.tools.insert(id, tool);
        self.next_item();
    }

    /// More of what a tool says while it runs.
    pub(super) fn tool_output(&mut self, id: &str, text: &str) {
        let Some(tool) = self.tools.get(id) else {
            return;
        };
        let (name, title, is_command) = (
            tool.name.clone(),
            format!("command {}", tool.summary),
            tool.is_command,
        );
        let data = json!({
            "phase": "update",
            "name": name,
            "toolCallId": id,
            "partialResult": { "content": [{ "type": "text", "text": text }] },
        });
        self.tool(data);
        if is_command {
            let data = json!({
                "itemId": format!("command:{id}"),
                "phase": "delta",
                "title": title,
                "toolCallId": id,
                "name": name,
                "output": text,
                "status": "running",
            });
            self.agent("command_output", data);
        }
    }

    pub(super) fn approval_requested(&mut self, request: &ApprovalRequested) {
        let data = json!({
            "phase": "waiting-approval",
            "approvalId": request.id,
            "toolCallId": request.call_id,
        });
        self.lifecycle(data);
        let (id, call) = (request.id.clone(), request.call_id.clone());
        self.approvals.insert(id, call);
    }

    pub(super) fn approval_resolved(&mut self, resolved: &ApprovalResolved) {
        let call = self.approvals.remove(&resolved.id).unwrap_or_default();
        self.lifecycle(json!({
            "phase": "approval-resolved",
            "approvalId": resolved.id,
            "toolCallId": call,
        }));
    }

    pub(super) fn tool_result(&mut self, result: &ToolResult) {
        let id = &result.call_id;
        let tool = self
            .tools
            .remove(id)
            .unwrap_or_else(|| Tool::new("tool".to_owned(), &Value::Null));
        let status = if result.success {
            self.tools_done.push(tool.name.clone());
            "completed"
        } else {
            "failed"
        };
        let output = cut(match &result.error {
            Some(error) if result.output.is_empty() => &error.message,
            _ => &result.output,
        });
        let ended_ms = now_ms();
        let took_ms = (ended_ms - tool.started_ms).max(0);
        let data = json!({
            "phase": "result",
            "name": tool.name,
            "toolCallId": id,
            "meta": tool.summary,
            "isError": !result.success,
            "result": {
                "content": [{ "type": "text", "text": output }],
                "details": { "status": status, "durationMs": took_ms, "error": result.error },
            },
        });
        self.tool(data);
        let mut item = tool.item(id, "end", status);
        item["startedAt"] = json!(tool.started_ms);
        item["endedAt"] = json!(ended_ms);
        self.agent("item", item);
        if tool.is_command {
            let data = json!({
                "itemId": format!("command:{id}"),
                "phase": "end",
                "title": format!("command {}", tool.summary),
                "toolCallId": id,
                "name": tool.name,
                "output": output,
                "status": status,
                "durationMs": took_ms,
            });
            self.agent("command_output", data);
        }
    }
}

impl Tool {
    fn new(name: String, arguments: &Value) -> Self {
        let is_command = matches!(name.as_str(), "execute_shell" | "exec" | "Bash");
        Self {
            summary: summary(arguments),
            name,
            started_ms: now_ms(),
            is_command,
        }
    }

    fn item(&self, id: &str, phase: &str, status: &str) -> Value {
        json!({
            "itemId": format!("tool:{id}"),
            "toolCallId": id,
            "name": self.name,
            "kind": "tool",
            "phase": phase,
            "title": format!("{} {}", self.name, self.summary).trim_end(),
            "status": status,
            "meta": self.summary,
            "commandBearing": self.is_command,
        })
    }
}

/// The one argument that says what it is about.
fn summary(arguments: &Value) -> String {
    let telling = ["command", "path", "file_path", "query", "pattern", "url"];
    let text = telling
        .iter()
        .find_map(|name| arguments.get(name)?.as_str())
        .unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(SUMMARY_LIMIT).collect()
}

fn cut(output: &str) -> &str {
    let mut end = output.len().min(OUTPUT_LIMIT);
    while !output.is_char_boundary(end) {
        end -= 1;
    }
    &output[..end]
}
