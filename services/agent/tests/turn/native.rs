//! The native backend over the Anthropic protocol.

use serde_json::json;

use crate::common::{
    Answer, anthropic, anthropic_call, anthropic_start, anthropic_stop, anthropic_text, request,
    turn,
};

#[tokio::test]
async fn text_answer_streams_and_ends_with_done() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = turn(
        request(folder.path(), "anthropic", "hi"),
        vec![anthropic_text("Hello, wörld")],
        vec![],
    )
    .await;
    assert!(outcome.status.success(), "{}", outcome.log);
    assert_eq!(outcome.text(), "Hello, wörld");
    assert_eq!(
        *outcome.end(),
        json!({"type": "done", "stop_reason": "stop", "model": "claude-test"})
    );
    assert_eq!(
        *outcome.of("usage")[0],
        json!({"type": "usage", "input": 11, "output": 7, "cache_read": 3, "cache_write": 0})
    );
    assert_eq!(outcome.log, "");
}

#[tokio::test]
async fn request_is_small_and_what_the_api_expects() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = turn(
        request(folder.path(), "anthropic", "hi"),
        vec![anthropic_text("x")],
        vec![],
    )
    .await;
    assert!(
        outcome.sent.bytes[0] < 3000,
        "{} bytes",
        outcome.sent.bytes[0]
    );
    let (path, body) = &outcome.sent.posts[0];
    assert_eq!(path, "/model/v1/messages");
    assert_eq!(
        (&body["model"], &body["stream"], &body["max_tokens"]),
        (&json!("test-model"), &json!(true), &json!(1024))
    );
    assert_eq!(body["system"][0]["text"], "You are a test.");
    assert_eq!(body["system"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(body["tools"].as_array().unwrap().len(), 5);
    assert_eq!(body["tools"][4]["name"], "memory_search");
    assert_eq!(body["messages"][0]["role"], "user");
    assert_eq!(body["messages"][0]["content"][0]["text"], "hi");
}

/// Feature: openclaw-mvp, Property 21: Tool Execution Flow
#[tokio::test]
async fn tool_call_runs_and_its_result_goes_back_to_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = json!({"path": "notes.txt", "content": "from the model"}).to_string();
    let answers = vec![
        anthropic_call("toolu_1", "write_file", &arguments),
        anthropic_text("Written."),
    ];
    let outcome = turn(
        request(folder.path(), "anthropic", "write"),
        answers,
        vec![],
    )
    .await;
    assert_eq!(
        std::fs::read_to_string(folder.path().join("notes.txt")).unwrap(),
        "from the model"
    );
    let kinds: Vec<&str> = outcome
        .events
        .iter()
        .map(|e| e["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "usage",
            "tool_call",
            "tool_result",
            "text_delta",
            "usage",
            "done"
        ]
    );
    let call = outcome.of("tool_call")[0];
    assert_eq!(
        (&call["id"], &call["name"]),
        (&json!("toolu_1"), &json!("write_file"))
    );
    assert_eq!(call["arguments"]["path"], "notes.txt");
    let result = outcome.of("tool_result")[0];
    assert_eq!(
        (&result["call_id"], &result["success"]),
        (&json!("toolu_1"), &json!(true))
    );

    let second = outcome.model_requests()[1];
    let messages = second["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[1]["content"][0]["type"], "tool_use");
    assert_eq!(
        messages[1]["content"][0]["input"]["content"],
        "from the model"
    );
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "toolu_1");
    assert!(
        messages[2]["content"][0]["content"]
            .as_str()
            .unwrap()
            .starts_with("wrote 14 bytes")
    );
}

#[tokio::test]
async fn bad_arguments_go_back_as_errors_and_the_turn_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let answers = vec![
        anthropic_call("a", "read_file", r#"{"path": "#),
        anthropic_call("b", "read_file", r#"{"path": 7}"#),
        anthropic_call("c", "no_such_tool", "{}"),
        anthropic_text("Sorry."),
    ];
    let outcome = turn(request(folder.path(), "anthropic", "x"), answers, vec![]).await;
    assert_eq!(outcome.end()["type"], "done");
    let kinds: Vec<&str> = outcome
        .of("tool_result")
        .iter()
        .map(|result| result["error"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["invalid_arguments", "invalid_arguments", "unknown_tool"]
    );
    let last = outcome.model_requests()[3];
    let told = last["messages"][4]["content"][0].clone();
    assert_eq!(told["is_error"], true);
    assert!(
        told["content"].as_str().unwrap().contains("/path"),
        "{told}"
    );
}

#[tokio::test]
async fn host_tool_is_asked_of_the_runner() {
    let folder = tempfile::tempdir().unwrap();
    let answers = vec![
        anthropic_call("a", "memory_search", r#"{"query":"cats"}"#),
        anthropic_call("b", "memory_search", r#"{"query":"dogs"}"#),
        anthropic_text("ok"),
    ];
    let tools = vec![
        json!({"ok": true, "output": "USER.md:3 likes cats"}),
        json!({"ok": false, "error": {"type": "unavailable", "message": "no index"}}),
    ];
    let outcome = turn(request(folder.path(), "anthropic", "x"), answers, tools).await;
    assert_eq!(
        outcome.sent.posts[1],
        ("/tool/memory_search".to_owned(), json!({"query": "cats"}))
    );
    let results = outcome.of("tool_result");
    assert_eq!(results[0]["output"], "USER.md:3 likes cats");
    assert_eq!(
        results[1]["error"],
        json!({"tool": "memory_search", "type": "unavailable", "message": "no index"})
    );
    assert_eq!(outcome.end()["type"], "done");
}

#[tokio::test]
async fn signed_thinking_is_shown_and_sent_back_with_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let delta = |index: u32, delta: serde_json::Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let mut events = vec![
        anthropic_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig"})),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "list_directory", "input": {}}}),
    ];
    events.extend(anthropic_stop("tool_use"));
    let answers = vec![Answer::sse(&anthropic(&events)), anthropic_text("ok")];
    let outcome = turn(request(folder.path(), "anthropic", "x"), answers, vec![]).await;
    assert_eq!(outcome.of("thinking")[0]["text"], "hm");
    let sent_back = &outcome.model_requests()[1]["messages"][1]["content"];
    assert_eq!(
        sent_back[0],
        json!({"type": "thinking", "thinking": "hm", "signature": "sig"})
    );
    assert_eq!(sent_back[1]["type"], "tool_use");
    assert_eq!(outcome.of("tool_result")[0]["output"], "(empty folder)\n");
}

#[tokio::test]
async fn history_goes_along() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", "and now?");
    asked["history"] = json!([
        {"user": {"text": "first"}},
        {"assistant": {"text": "let me look", "tool_calls": [{"id": "x:1", "name": "read_file", "arguments": {"path": "f"}}]}},
        {"tool": {"call_id": "x:1", "name": "read_file", "output": "content", "is_error": false}},
        {"assistant": {"text": "it says content"}}
    ]);
    let outcome = turn(asked, vec![anthropic_text("ok")], vec![]).await;
    let messages = outcome.model_requests()[0]["messages"].clone();
    let roles: Vec<&str> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(messages[1]["content"][1]["id"], "x_1");
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "x_1");
    assert_eq!(messages[4]["content"][0]["text"], "and now?");
}

#[tokio::test]
async fn full_answer_ends_with_length() {
    let folder = tempfile::tempdir().unwrap();
    let mut events = vec![
        anthropic_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "cut"}}),
    ];
    events.extend(anthropic_stop("max_tokens"));
    let outcome = turn(
        request(folder.path(), "anthropic", "x"),
        vec![Answer::sse(&anthropic(&events))],
        vec![],
    )
    .await;
    assert_eq!(outcome.text(), "cut");
    assert_eq!(outcome.end()["stop_reason"], "length");
}
