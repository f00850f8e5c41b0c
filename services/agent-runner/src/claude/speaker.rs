//! What is said to the CLI over its standard input: the message, and answers
//! to its questions whether it may use a tool.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;

use crate::approvals::{Approvals, Question};

/// Lines that may wait for a CLI that does not read.
const LINES: usize = 32;

/// The CLI's standard input. It ends when this is dropped and nothing is asked
/// any more.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    lines: mpsc::Sender<String>,
    approvals: Arc<Approvals>,
}

impl Speaker {
    /// Says `message` first.
    pub(crate) fn new(mut stdin: ChildStdin, message: String, approvals: Arc<Approvals>) -> Self {
        let (lines, mut waiting) = mpsc::channel::<String>(LINES);
        tokio::spawn(async move {
            // A CLI that ended without reading says so by its exit.
            if stdin.write_all(message.as_bytes()).await.is_err() {
                return;
            }
            while let Some(line) = waiting.recv().await {
                if stdin.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        Self { lines, approvals }
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
            // A CLI that is gone wants no answer.
            let _ = speaker.lines.send(format!("{line}\n")).await;
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
