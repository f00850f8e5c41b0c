//! What the Codex CLI may write, and what it is answered.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::ExitStatus;

use openclaw_agent_clis::codex::{CodexThread, CodexTools};
use openclaw_proto::event::Kind;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::fuzz::{LIMITS, Scene, TEMPORARY, WORKSPACE, assert_bounded};
use crate::translate::Translate as _;

/// Any lines of `codex app-server`. No event says more than its line; a call
/// that begins ends with the turn; each question is answered once; as nobody
/// allows anything, no command is allowed; and files are changed in the
/// workspace alone.
pub fn codex_output(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let scene = Scene::new();
    let (cli_input, mut said) = CliInput::heard();
    let _inside = scene.runtime.enter();
    let mut conversation = conversation(&scene, cli_input);
    let mut story = Story::default();
    for line in text.lines() {
        story.hear(line);
        let kinds = conversation.line(line);
        story.note(line, &kinds);
        scene.runtime.block_on(tokio::task::yield_now());
        story.listen(&mut said);
    }
    let failed = conversation.gone(ExitStatus::from_raw(9), &text);
    assert!(!failed.message.is_empty());
    drop(conversation);
    while let Some((lines, _)) = scene.runtime.block_on(said.recv()) {
        story.answer(&lines);
    }
    story.check();
}

fn conversation(scene: &Scene, cli_input: CliInput) -> Conversation {
    let own = CodexTools {
        commands: true,
        changes: true,
        images: true,
        search: true,
    };
    let dialogue = CodexDialogue {
        thread: json!({}),
        resumed: Some(CodexThread {
            id: "t".to_owned(),
            words: "go on".to_owned(),
        }),
        words: "hi".to_owned(),
        effort: None,
        own,
    };
    let approver = CodexApprover {
        cli_input: cli_input.clone(),
        approvals: Arc::clone(&scene.approvals),
        own,
    };
    Conversation::new(dialogue, Some(cli_input), Some(approver), LIMITS)
        .with_model(Some("m".to_owned()))
}

/// What was heard and said of one turn.
#[derive(Default)]
struct Story {
    is_over: bool,
    asked: Vec<Value>,
    answers: Vec<Value>,
    /// Changes that were begun: the item's id and its paths.
    changes: Vec<(String, Vec<String>)>,
    open: BTreeSet<String>,
}

impl Story {
    fn hear(&mut self, line: &str) {
        let value = serde_json::from_str::<Value>(line).unwrap_or_default();
        let is_question = value["method"].is_string() && value["id"].is_u64();
        if is_question && !self.is_over {
            self.asked.push(value);
        } else if value["method"].is_string() && value["id"].as_u64().is_none() {
            self.is_over |= value["method"] == "turn/completed";
            self.begin(&value["params"]["item"]);
        }
    }

    fn begin(&mut self, item: &Value) {
        let changes = item["changes"].as_array().into_iter().flatten();
        let paths = changes.flat_map(|change| [&change["path"], &change["kind"]["move_path"]]);
        let paths = paths.filter_map(Value::as_str).map(str::to_owned).collect();
        let id = item["id"].as_str().unwrap_or_default();
        self.changes.push((id.to_owned(), paths));
    }

    fn note(&mut self, line: &str, kinds: &[Kind]) {
        // What commands said is told when the turn's end cuts them off.
        if !self.is_over {
            assert_bounded(line, kinds);
        }
        for kind in kinds {
            match kind {
                Kind::ToolCall { id, .. } => _ = self.open.insert(id.clone()),
                Kind::ToolResult(result) => _ = self.open.remove(&result.call_id),
                Kind::Done(_) => assert!(self.open.is_empty(), "{:?}", self.open),
                _ => {}
            }
        }
    }

    fn listen(&mut self, said: &mut mpsc::Receiver<crate::cli_input::Waiting>) {
        while let Ok((lines, _)) = said.try_recv() {
            self.answer(&lines);
        }
    }

    fn answer(&mut self, lines: &str) {
        for line in lines.lines() {
            let value: Value = serde_json::from_str(line).expect("what is said is JSON");
            if value["method"].is_null() {
                self.answers.push(value);
            }
        }
    }

    fn check(&self) {
        let ids = |values: &[Value]| {
            let mut ids: Vec<u64> = values.iter().filter_map(|it| it["id"].as_u64()).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ids(&self.answers), ids(&self.asked));
        let allowed = |answer: &&Value| answer["result"]["decision"] == "accept";
        for answer in self.answers.iter().filter(allowed) {
            let mut questions = self.asked.iter().filter(|it| it["id"] == answer["id"]);
            assert!(questions.any(|question| self.may_be_allowed(question)));
        }
    }

    fn may_be_allowed(&self, question: &Value) -> bool {
        match question["method"].as_str() {
            Some("item/commandExecution/requestApproval") => {
                question["params"]["kind"] == "writeStdin"
            }
            Some("item/fileChange/requestApproval") => {
                let id = question["params"]["itemId"].as_str().unwrap_or_default();
                let mut of_it = self.changes.iter().filter(|(item, _)| item == id);
                of_it.any(|(_, paths)| !paths.is_empty() && paths.iter().all(|it| is_inside(it)))
            }
            _ => false,
        }
    }
}

/// Whether a path is in the workspace, as the kernel would see it.
fn is_inside(path: &str) -> bool {
    let mut folders = PathBuf::new();
    for part in Path::new(WORKSPACE).join(path).components() {
        match part {
            Component::ParentDir => _ = folders.pop(),
            part => folders.push(part),
        }
    }
    folders.starts_with(WORKSPACE) || folders.starts_with(TEMPORARY)
}
