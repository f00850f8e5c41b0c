//! What the Claude Code CLI may write, and what it is answered.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use openclaw_proto::event::Kind;
use serde_json::Value;

use super::*;
use crate::fuzz::{LIMITS, Scene, assert_bounded};
use crate::translate::Translate as _;

/// Any lines of its output. What they cost is a sum of money; no event says more
/// than its line; each question is answered once, and as nobody allows
/// anything, no command is allowed.
pub fn claude_output(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let scene = Scene::new();
    let (cli_input, mut said) = CliInput::heard();
    let _inside = scene.runtime.enter();
    let approver = ClaudeApprover::new(cli_input, Arc::clone(&scene.approvals));
    let mut output = Output::new("s".to_owned(), None, LIMITS).answering(Some(approver));
    let mut asked = Vec::new();
    let mut is_over = false;
    for line in text.lines() {
        let value = serde_json::from_str::<Value>(line).unwrap_or_default();
        is_over |= value["type"] == "result";
        if value["type"] == "control_request" && !is_over {
            asked.push(value);
        }
        let kinds = output.line(line);
        assert_bounded(line, &kinds);
        assert!(
            output
                .cost()
                .is_none_or(|cost| cost.is_finite() && cost >= 0.0)
        );
        let notes = kinds
            .iter()
            .filter(|kind| matches!(kind, Kind::Note { .. }));
        assert!(notes.count() <= 1);
    }
    let failed = output.gone(ExitStatus::from_raw(9), &text);
    assert!(!failed.message.is_empty());
    drop(output);
    let answers = scene.runtime.block_on(async {
        let mut answers = Vec::new();
        while let Some((line, _)) = said.recv().await {
            answers.push(serde_json::from_str(&line).expect("an answer is a line of JSON"));
        }
        answers
    });
    answered(&asked, &answers);
}

fn answered(asked: &[Value], answers: &[Value]) {
    let id = |value: &Value| value["request_id"].to_string();
    let mut wanted: Vec<String> = asked.iter().map(id).collect();
    let mut given: Vec<String> = answers.iter().map(|it| id(&it["response"])).collect();
    wanted.sort();
    given.sort();
    assert_eq!(given, wanted);
    for answer in answers.iter().map(|answer| &answer["response"]) {
        let of_it = asked.iter().filter(|it| id(it) == id(answer));
        let mut tools = of_it.map(|it| it["request"]["tool_name"].as_str().unwrap_or_default());
        let is_allowed = answer["response"]["behavior"] == "allow";
        assert!(!is_allowed || tools.any(|tool| !openclaw_tools::catalog::is_command(tool)));
    }
}
