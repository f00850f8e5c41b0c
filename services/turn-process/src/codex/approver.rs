//! Answers to the CLI's questions: what the policy says, and where that asks people, what they say.

use std::sync::Arc;

use openclaw_agent_clis::codex::CodexTools;
use openclaw_tools::catalog::COMMANDS;
use serde_json::{Value, json};

use super::item;
use crate::approvals::{Approvals, Judged, Open, Question};
use crate::cli_input::CliInput;
use crate::within;

/// JSON-RPC's "method not found".
const NOT_KNOWN: i32 = -32601;

/// Answers the CLI's questions.
#[derive(Debug, Clone)]
pub(super) struct CodexApprover {
    pub(super) cli_input: CliInput,
    pub(super) approvals: Arc<Approvals>,
    pub(super) own: CodexTools,
}

impl CodexApprover {
    /// Answers a request: at once, or when somebody has decided. `about` is the
    /// item that it is about, as it began.
    pub(super) fn answer(&self, request: &Value, about: Option<&Value>) {
        let id = request["id"].clone();
        let answer = match self.judge(request, about) {
            Some(Answer::Decision(Judged::Settled(settled))) => decided(&id, settled.is_ok()),
            Some(Answer::Decision(Judged::Open(open))) => return self.answer_later(id, *open),
            Some(Answer::Result(result)) => json!({"id": id, "result": result}),
            None => {
                let method = request["method"].as_str().unwrap_or_default();
                let message = format!("{} is not known here", within::name(method));
                json!({"id": id, "error": {"code": NOT_KNOWN, "message": message}})
            }
        };
        self.cli_input.say_now(&[answer]);
    }

    /// As many tasks as questions may be open.
    fn answer_later(&self, id: Value, open: Open) {
        let this = self.clone();
        tokio::spawn(async move {
            let settled = this.approvals.wait(open).await;
            this.cli_input.say(&decided(&id, settled.is_ok())).await;
        });
    }

    fn judge(&self, request: &Value, about: Option<&Value>) -> Option<Answer> {
        let parameters = &request["params"];
        let decision = match request["method"].as_str()? {
            "item/commandExecution/requestApproval" => self.may_run(parameters),
            "item/fileChange/requestApproval" => self.may_change(parameters, about),
            "mcpServer/elicitation/request" => {
                return Some(Answer::Result(json!({"action": "decline"})));
            }
            _ => return None,
        };
        Some(Answer::Decision(decision))
    }

    fn may_run(&self, parameters: &Value) -> Judged {
        if !self.own.commands {
            return refused();
        }
        // What a command that runs is given to read is not asked about, as with our own tool.
        if parameters["kind"] == "writeStdin" {
            return Judged::Settled(Ok(()));
        }
        let command = parameters["command"].as_str().map(item::command);
        let arguments = json!({"command": command, "workdir": parameters["cwd"]});
        self.question(COMMANDS, parameters, &arguments)
    }

    /// Treated as our own tools that change files: a change that is not described is not allowed.
    fn may_change(&self, parameters: &Value, about: Option<&Value>) -> Judged {
        match about {
            Some(item) if self.own.changes => {
                let arguments = json!({"changes": item["changes"]});
                self.question("apply_patch", parameters, &arguments)
            }
            _ => refused(),
        }
    }

    fn question(&self, tool: &str, parameters: &Value, arguments: &Value) -> Judged {
        self.approvals.judge(&Question {
            call_id: parameters["itemId"].as_str().unwrap_or_default(),
            tool,
            arguments,
            only_reads: false,
            reach: String::new(),
        })
    }
}

/// The answer to a request.
enum Answer {
    /// Whether it may.
    Decision(Judged),
    /// Always the same.
    Result(Value),
}

fn refused() -> Judged {
    Judged::Settled(Err("it has no such tool".to_owned()))
}

fn decided(id: &Value, is_allowed: bool) -> Value {
    let decision = if is_allowed { "accept" } else { "decline" };
    json!({"id": id, "result": {"decision": decision}})
}
