//! Answers to the CLI's questions whether it may use a tool.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::approvals::{Approvals, Judged, Open, Question};
use crate::cli_input::CliInput;

/// Answers the CLI's questions. Its standard input ends when this is dropped
/// and nothing is asked any more.
#[derive(Debug, Clone)]
pub(crate) struct ClaudeApprover {
    cli_input: CliInput,
    approvals: Arc<Approvals>,
}

impl ClaudeApprover {
    pub(super) fn new(cli_input: CliInput, approvals: Arc<Approvals>) -> Self {
        Self {
            cli_input,
            approvals,
        }
    }

    /// Answers a question of the CLI: at once, or when somebody has decided.
    pub(super) fn answer(&self, question: &Value) {
        let request = &question["request"];
        let id = question["request_id"].clone();
        let response = match request["subtype"].as_str() {
            Some("can_use_tool") => match self.judge(request) {
                Judged::Settled(settled) => decided(id, &request["input"], settled),
                Judged::Open(open) => return self.answer_later(id, &request["input"], open),
            },
            other => json!({
                "subtype": "error",
                "request_id": id,
                "error": format!("{} is not known here", other.unwrap_or("this")),
            }),
        };
        self.cli_input.say_now(&[line(response)]);
    }

    /// As many tasks as questions may be open.
    fn answer_later(&self, id: Value, input: &Value, open: Open) {
        let (approver, input) = (self.clone(), input.clone());
        tokio::spawn(async move {
            let settled = approver.approvals.wait(open).await;
            let line = line(decided(id, &input, settled));
            approver.cli_input.say(&line).await;
        });
    }

    fn judge(&self, request: &Value) -> Judged {
        self.approvals.judge(&Question {
            call_id: request["tool_use_id"].as_str().unwrap_or_default(),
            tool: request["tool_name"].as_str().unwrap_or_default(),
            arguments: &request["input"],
            only_reads: false,
        })
    }
}

fn decided(id: Value, input: &Value, settled: Result<(), String>) -> Value {
    let response = match settled {
        Ok(()) => json!({"behavior": "allow", "updatedInput": input}),
        Err(why) => json!({"behavior": "deny", "message": why}),
    };
    json!({"subtype": "success", "request_id": id, "response": response})
}

fn line(response: Value) -> Value {
    json!({"type": "control_response", "response": response})
}
