//! Answers to the CLI's questions whether it may use a tool.

use std::sync::Arc;

use openclaw_agent_clis::claude::STARTING;
use serde_json::{Value, json};

use crate::approvals::{Approvals, Judged, Open, Question};
use crate::cli_input::CliInput;

/// Bytes of a field's name that an error tells.
const NAME_BYTES: usize = 64;
/// What a call that starts an agent may say: what is to be done, and by whom. With others it chooses where the
/// agent works (`isolation`: the CLI then has git make a working tree, and git runs what the
/// workspace's own files name) and what it may do unasked (`mode`).
const PLAIN: [&str; 6] = [
    "description",
    "model",
    "prompt",
    "resume",
    "run_in_background",
    "subagent_type",
];

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
                Judged::Open(open) => return self.answer_later(id, &request["input"], *open),
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
        // As a text it takes no more than it came with, however long somebody takes.
        let (approver, input) = (self.clone(), input.to_string());
        tokio::spawn(async move {
            let settled = approver.approvals.wait(open).await;
            let input = serde_json::from_str(&input).unwrap_or_default();
            let line = line(decided(id, &input, settled));
            approver.cli_input.say(&line).await;
        });
    }

    fn judge(&self, request: &Value) -> Judged {
        let tool = request["tool_name"].as_str().unwrap_or_default();
        // What such an agent does is asked about itself.
        if STARTING.contains(&tool) {
            return Judged::Settled(starts_plainly(&request["input"]));
        }
        self.approvals.judge(&Question {
            call_id: request["tool_use_id"].as_str().unwrap_or_default(),
            tool,
            arguments: &request["input"],
            only_reads: false,
            reach: String::new(),
        })
    }
}

/// Whether an agent is started as every agent of a turn is: in the workspace, asked about
/// alike. The error is for the model.
fn starts_plainly(input: &Value) -> Result<(), String> {
    let fields = input.as_object().into_iter().flatten();
    let strange =
        fields.filter(|(name, value)| !PLAIN.contains(&name.as_str()) && !value.is_null());
    let strange: Vec<String> = strange
        .map(|(name, _)| openclaw_escape::cut(name, NAME_BYTES))
        .collect();
    if strange.is_empty() {
        return Ok(());
    }
    Err(format!(
        "an agent works in this workspace and may what you may: start it without {}",
        strange.join(", ")
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_is_started_in_the_workspace_and_with_no_other_permissions() {
        let plain = json!({"description": "d", "prompt": "p", "subagent_type": "Explore", "isolation": null});
        assert_eq!(starts_plainly(&plain), Ok(()));
        for (name, value) in [
            ("isolation", json!("worktree")),
            ("mode", json!("bypassPermissions")),
            ("cwd", json!("/")),
            ("name", json!("n")),
        ] {
            let mut call = plain.clone();
            call[name] = value;
            let why = starts_plainly(&call).unwrap_err();
            assert!(why.ends_with(&format!("without {name}")), "{why}");
        }
    }
}
