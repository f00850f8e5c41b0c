use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use openclaw_agent_clis::codex::CodexTools;
use openclaw_proto::event::{Code, Kind};
use serde_json::{Value, json};

use super::*;
use crate::translate::Translate as _;

const LIMITS: Limits = Limits {
    steps: 50,
    identical_calls: 2,
    output_tokens: 1000,
    cost_per_turn: 5.0,
    cost_per_day: 25.0,
    spent_today: 0.0,
};

fn conversation() -> Conversation {
    let dialogue = CodexDialogue {
        thread: json!({}),
        resumed: None,
        words: "hi".to_owned(),
        effort: None,
        own: CodexTools {
            commands: true,
            changes: true,
            images: true,
            search: true,
        },
    };
    Conversation::new(dialogue, None, None, LIMITS)
}

/// Reads what the CLI writes.
pub(crate) fn reader() -> Conversation {
    conversation()
}

fn news(method: &str, parameters: Value) -> String {
    json!({"method": method, "params": parameters}).to_string()
}

fn delta(message: &str, text: &str) -> String {
    news(
        "item/agentMessage/delta",
        json!({"itemId": message, "delta": text}),
    )
}

fn message(id: &str, text: &str) -> String {
    let item = json!({"type": "agentMessage", "id": id, "text": text});
    news("item/completed", json!({ "item": item }))
}

fn over(turn: Value) -> String {
    news("turn/completed", json!({ "turn": turn }))
}

fn kinds(conversation: &mut Conversation, lines: &[String]) -> Vec<Kind> {
    let kinds = lines.iter().flat_map(|line| conversation.line(line));
    kinds.collect()
}

fn said(kinds: &[Kind]) -> String {
    let texts = kinds.iter().filter_map(|kind| match kind {
        Kind::TextDelta { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn streamed_words_are_not_said_twice_and_messages_are_paragraphs() {
    let opened = json!({"id": 2, "result": {"thread": {"id": "t1"}, "model": "gpt-x"}});
    let kinds = kinds(
        &mut conversation(),
        &[
            opened.to_string(),
            delta("m1", "He"),
            delta("m1", "llo"),
            message("m1", "Hello"),
            message("m2", "again"),
            over(json!({"status": "completed"})),
        ],
    );
    assert_eq!(said(&kinds), "Hello\n\nagain");
    let Some(Kind::Done(done)) = kinds.last() else {
        panic!("{kinds:?}");
    };
    assert_eq!(done.backend_session.as_deref(), Some("t1"));
    assert_eq!(done.model, "gpt-x");
}

#[test]
fn calls_of_its_tools_and_of_ours_are_told_with_what_they_came_to() {
    let begun = json!({"type": "commandExecution", "id": "c1", "command": "/bin/bash -lc 'cat a; ls'",
        "cwd": "/w", "status": "inProgress"});
    let mut ended = begun.clone();
    ended["status"] = "failed".into();
    ended["exitCode"] = 3.into();
    ended["aggregatedOutput"] = "no".into();
    let ours = json!({"type": "mcpToolCall", "id": "c2", "server": "openclaw", "tool": "read_file",
        "status": "completed", "arguments": {"path": "a"}, "result": {"content": [{"text": "one"}]}});
    let kinds = kinds(
        &mut conversation(),
        &[
            news("item/started", json!({ "item": begun })),
            news(
                "item/commandExecution/outputDelta",
                json!({"itemId": "c1", "delta": "n"}),
            ),
            news("item/completed", json!({ "item": ended })),
            news("item/completed", json!({ "item": ours })),
        ],
    );
    let [
        Kind::ToolCall {
            name, arguments, ..
        },
        Kind::ToolOutput { text, .. },
        Kind::ToolResult(failed),
        Kind::ToolCall { name: second, .. },
        Kind::ToolResult(read),
    ] = kinds.as_slice()
    else {
        panic!("{kinds:?}");
    };
    assert_eq!((name.as_str(), text.as_str()), ("exec_command", "n"));
    assert_eq!(arguments["command"], "cat a; ls");
    assert!(!failed.success && failed.output == "no");
    assert_eq!(second, "mcp__openclaw__read_file");
    assert!(read.success && read.output == "one");
}

#[test]
fn same_call_again_and_again_is_a_loop_and_too_many_words_are_an_end() {
    let item = |id: u32| {
        let item = json!({"type": "webSearch", "id": id.to_string(), "query": "q"});
        news("item/completed", json!({ "item": item }))
    };
    let looped = kinds(&mut conversation(), &[item(1), item(2), item(3)]);
    assert!(
        matches!(looped.last(), Some(Kind::Failed(failed)) if failed.code == Code::LoopDetected)
    );
    let used = json!({"tokenUsage": {"last": {"inputTokens": 10, "cachedInputTokens": 4, "outputTokens": 1000}}});
    let long = kinds(
        &mut conversation(),
        &[news("thread/tokenUsage/updated", used), item(1)],
    );
    assert!(matches!(&long[0], Kind::Usage(usage) if usage.input == 6 && usage.cache_read == 4));
    assert!(matches!(&long[1], Kind::Failed(failed) if failed.code == Code::ResourceLimit));
}

#[test]
fn codex_what_went_wrong_becomes_what_to_do() {
    let status = |kind: &str, status: u16| json!({kind: {"httpStatusCode": status}});
    for (info, code) in [
        (status("httpConnectionFailed", 401), Code::Auth),
        (
            status("responseTooManyFailedAttempts", 429),
            Code::RateLimited,
        ),
        (status("httpConnectionFailed", 502), Code::Network),
        (json!("internalServerError"), Code::Overloaded),
        (json!("contextWindowExceeded"), Code::ContextOverflow),
        (json!("other"), Code::ModelError),
    ] {
        let error = json!({"message": "so it is", "codexErrorInfo": info});
        let turn = over(json!({"status": "failed", "error": error}));
        let kinds = kinds(&mut conversation(), &[turn]);
        let [Kind::Failed(failed)] = kinds.as_slice() else {
            panic!("{kinds:?}");
        };
        assert_eq!(failed.code, code, "{info}");
        assert!(failed.message.contains("so it is"), "{}", failed.message);
    }
}

#[test]
fn line_that_is_not_json_is_noted_and_decides_only_a_crash() {
    let mut conversation = conversation();
    let noted = conversation.line("Segfault at 0x0");
    assert!(matches!(noted.as_slice(), [Kind::Note { .. }]));
    let failed = conversation.gone(ExitStatus::from_raw(0), "");
    assert_eq!(failed.code, Code::MalformedOutput);
    assert!(failed.message.contains("Segfault at 0x0"));
    let crashed = self::conversation().gone(
        ExitStatus::from_raw(9),
        "\u{1b}[2m2026 WARN x\u{1b}[0m\nError: no such thing\n2026 WARN y",
    );
    assert_eq!(crashed.code, Code::Crashed);
    assert!(
        crashed.message.ends_with("Error: no such thing"),
        "{}",
        crashed.message
    );
}
