//! Answers to the CLI's questions: what the policy says, and where that asks
//! people, what they say.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::item;
use crate::approvals::{Approvals, Question};
use crate::cli::Mouth;
use crate::tools::{self, CodexTools};

/// JSON-RPC's "method not found".
const NOT_KNOWN: i32 = -32601;

/// Answers the CLI's questions.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) mouth: Mouth,
    pub(super) approvals: Arc<Approvals>,
    pub(super) own: CodexTools,
    /// Where it may change files.
    pub(super) writable: Vec<PathBuf>,
}

impl Asked {
    /// Answers a request; `about` is the item that it is about, as it began.
    pub(super) fn answer(&self, request: &Value, about: Option<&Value>) {
        let this = self.clone();
        let (request, about) = (request.clone(), about.cloned());
        tokio::spawn(async move {
            let id = &request["id"];
            let answer = match this.decide(&request, about.as_ref()).await {
                Some(result) => json!({"id": id, "result": result}),
                None => {
                    let message = format!("{} is not known here", request["method"]);
                    json!({"id": id, "error": {"code": NOT_KNOWN, "message": message}})
                }
            };
            this.mouth.say(&answer).await;
        });
    }

    async fn decide(&self, request: &Value, about: Option<&Value>) -> Option<Value> {
        let parameters = &request["params"];
        let allowed = match request["method"].as_str()? {
            "item/commandExecution/requestApproval" => self.may_run(parameters).await,
            "item/fileChange/requestApproval" => about.is_some_and(|item| self.may_change(item)),
            "mcpServer/elicitation/request" => return Some(json!({"action": "decline"})),
            _ => return None,
        };
        let decision = if allowed { "accept" } else { "decline" };
        Some(json!({ "decision": decision }))
    }

    async fn may_run(&self, parameters: &Value) -> bool {
        // What a command that runs is given to read is not asked about, as
        // with our own tool.
        if !self.own.commands || parameters["kind"] == "writeStdin" {
            return self.own.commands;
        }
        let command = parameters["command"].as_str().map(item::command);
        let arguments = json!({"command": command, "workdir": parameters["cwd"]});
        let question = Question {
            call_id: parameters["itemId"].as_str().unwrap_or_default(),
            tool: tools::COMMANDS,
            arguments: &arguments,
            only_reads: false,
        };
        self.approvals.ask(question).await.is_ok()
    }

    /// As far as our own tools that change files reach.
    fn may_change(&self, item: &Value) -> bool {
        let changes = item["changes"].as_array();
        let mut paths = changes.into_iter().flatten().flat_map(|change| {
            let moved = change["kind"]["move_path"].as_str();
            [change["path"].as_str(), moved.or(change["path"].as_str())]
        });
        self.own.changes && paths.all(|path| path.is_some_and(|path| self.is_writable(path)))
    }

    fn is_writable(&self, path: &str) -> bool {
        let path = Path::new(path);
        let is_plain = !path.components().any(|part| part == Component::ParentDir);
        // Relative ones begin at the workspace, which is the first.
        let path = self
            .writable
            .first()
            .map_or(path.into(), |workspace| workspace.join(path));
        is_plain && self.writable.iter().any(|folder| path.starts_with(folder))
    }
}
