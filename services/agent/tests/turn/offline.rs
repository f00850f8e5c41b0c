//! The offline backend.

use serde_json::{Value, json};

use crate::common::{Outcome, request, turn};

async fn say(text: &str, tool: Vec<Value>) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", text);
    asked["mode"] = json!("offline");
    turn(asked, vec![], tool).await
}

#[tokio::test]
async fn the_best_passages_come_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", "what do I like?");
    asked["mode"] = json!("offline");
    asked["hits"] = json!([{"path": "USER.md", "start_line": 3, "end_line": 4, "score": 0.9, "snippet": "I like cats\nand tea"}]);
    let outcome = turn(asked, vec![], vec![]).await;
    assert!(
        outcome
            .text()
            .contains("USER.md:3-4\n> I like cats\n> and tea\n"),
        "{}",
        outcome.text()
    );
    assert!(outcome.text().contains("Connect a model: see the README."));
    assert_eq!(
        *outcome.end(),
        json!({"type": "done", "stop_reason": "stop", "model": "offline"})
    );
    assert!(outcome.sent.posts.is_empty());
}

#[tokio::test]
async fn no_passages_is_friendly_and_still_helps() {
    let outcome = say("anything?", vec![]).await;
    assert!(outcome.text().contains("nothing about that"));
    assert!(outcome.text().contains("Connect a model"));
}

#[tokio::test]
async fn remember_and_search_go_to_the_runner() {
    let outcome = say(
        "/remember buy milk",
        vec![json!({"ok": true, "output": r#"{"path": "memory/2026-01-02.md", "line": 5}"#})],
    )
    .await;
    assert_eq!(
        outcome.sent.posts[0],
        ("/tool/memory_write".to_owned(), json!({"text": "buy milk"}))
    );
    assert_eq!(outcome.text(), "Noted in memory/2026-01-02.md:5.\n");
    let found = json!({"results": [
        {"path": "memory/x.md", "startLine": 5, "endLine": 6, "score": 0.5, "snippet": "buy milk"}
    ], "warnings": ["no vectors"]});
    let outcome = say(
        "/search milk",
        vec![json!({"ok": true, "output": found.to_string()})],
    )
    .await;
    assert_eq!(
        outcome.sent.posts[0],
        ("/tool/memory_search".to_owned(), json!({"query": "milk"}))
    );
    assert_eq!(
        outcome.text(),
        "memory/x.md:5-6\n> buy milk\n\n(no vectors)\n"
    );
    let refused =
        json!({"ok": false, "error": {"type": "unavailable", "message": "memory is down"}});
    let outcome = say("/remember x", vec![refused]).await;
    assert!(outcome.text().contains("memory is down"));
    assert_eq!(outcome.end()["type"], "done");
}

#[tokio::test]
async fn run_uses_the_tool_with_its_events() {
    let outcome = say("/run echo hi; exit 4", vec![]).await;
    let call = outcome.of("tool_call")[0];
    assert_eq!(
        (&call["name"], &call["arguments"]),
        (
            &json!("execute_shell"),
            &json!({"command": "echo hi; exit 4"})
        )
    );
    assert_eq!(outcome.of("tool_result")[0]["call_id"], call["id"]);
    assert!(
        outcome
            .text()
            .contains("```\nexit code: 4\nstdout (3 bytes):\nhi\n"),
        "{}",
        outcome.text()
    );
}

#[tokio::test]
async fn status_help_and_mistakes_are_answered() {
    let outcome = say(
        "/status",
        vec![json!({"ok": true, "output": "all is well"})],
    )
    .await;
    assert_eq!(outcome.text(), "all is well\n");
    for (text, needle) in [
        ("/help", "/remember TEXT"),
        ("/frobnicate", "There is no command /frobnicate"),
        ("/run", "Usage: /run COMMAND"),
    ] {
        let outcome = say(text, vec![]).await;
        assert!(outcome.text().contains(needle), "{}", outcome.text());
        assert_eq!(outcome.end()["stop_reason"], "stop");
    }
    assert!(say("/frobnicate", vec![]).await.text().contains("/search"));
}
