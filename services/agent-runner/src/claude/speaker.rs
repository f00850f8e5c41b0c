//! Answers to the CLI's questions whether it may use a tool.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::approvals::{Approvals, Question};
use crate::cli::Mouth;

/// Answers the CLI's questions. Its standard input ends when this is dropped
/// and nothing is asked any more.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    mouth: Mouth,
    approvals: Arc<Approvals>,
}

impl Speaker {
    pub(super) fn new(mouth: Mouth, approvals: Arc<Approvals>) -> Self {
        Self { mouth, approvals }
    }

    /// Answers a question of the CLI, when somebody has decided.
    pub(super) fn answer(&self, question: &Value) {
        let request = question["request"].clone();
        let id = question["request_id"].clone();
        let speaker = self.clone();
        tokio::spawn(async move {
            let response = match request["subtype"].as_str() {
                Some("can_use_tool") => json!({
                    "subtype": "success",
                    "request_id": id,
                    "response": speaker.may_use(&request).await,
                }),
                other => json!({
                    "subtype": "error",
                    "request_id": id,
                    "error": format!("{} is not known here", other.unwrap_or("this")),
                }),
            };
            let line = json!({"type": "control_response", "response": response});
            speaker.mouth.say(&line).await;
        });
    }

    async fn may_use(&self, request: &Value) -> Value {
        let tool = request["tool_name"].as_str().unwrap_or_default();
        let question = Question {
            call_id: request["tool_use_id"].as_str().unwrap_or_default(),
            tool,
            arguments: &request["input"],
            only_reads: false,
        };
        match self.approvals.ask(question).await {
            Ok(()) => json!({"behavior": "allow", "updatedInput": request["input"]}),
            Err(why) => json!({"behavior": "deny", "message": why}),
        }
    }
}
