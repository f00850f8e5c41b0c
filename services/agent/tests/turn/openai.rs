//! The native backend over chat completions, with the habits of several servers.

use serde_json::{Value, json};

use crate::common::{Answer, chunk, openai, request, turn};

fn call_piece(piece: Value) -> Value {
    chunk(json!({"tool_calls": [piece]}), None)
}

fn text_answer() -> Answer {
    Answer::sse(&openai(&[chunk(json!({"content": "ok"}), Some("stop"))]))
}

#[tokio::test]
async fn text_reasoning_and_usage_come_through() {
    let folder = tempfile::tempdir().unwrap();
    let stream = openai(&[
        chunk(json!({"role": "assistant", "content": ""}), None),
        chunk(
            json!({"reasoning_content": "think", "reasoning": "think"}),
            None,
        ),
        chunk(json!({"content": "Hel"}), None),
        chunk(json!({"content": "lo"}), Some("stop")),
        json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8}}}),
    ]);
    // Cut inside of everything.
    let pieces: Vec<&[u8]> = stream.as_bytes().chunks(7).collect();
    let outcome = turn(
        request(folder.path(), "openai", "hi"),
        vec![Answer::pieces(&pieces)],
        vec![],
    )
    .await;
    assert_eq!(outcome.text(), "Hello");
    assert_eq!(outcome.of("thinking")[0]["text"], "think");
    assert_eq!(
        *outcome.of("usage")[0],
        json!({"type": "usage", "input": 12, "output": 5, "cache_read": 8, "cache_write": 0})
    );
    assert_eq!(
        *outcome.end(),
        json!({"type": "done", "stop_reason": "stop", "model": "gpt-test"})
    );
    let (path, body) = &outcome.sent.posts[0];
    assert_eq!(path, "/model/v1/chat/completions");
    assert_eq!(body["stream_options"]["include_usage"], true);
    assert_eq!(
        body["messages"][0],
        json!({"role": "system", "content": "You are a test."})
    );
    assert_eq!(body["tools"][0]["function"]["name"], "read_file");
    assert!(
        outcome.sent.bytes[0] < 3000,
        "{} bytes",
        outcome.sent.bytes[0]
    );
}

#[tokio::test]
async fn openai_two_calls_in_interleaved_pieces() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "AAA").unwrap();
    let stream = openai(&[
        call_piece(
            json!({"index": 0, "id": "c0", "type": "function", "function": {"name": "read_file", "arguments": ""}}),
        ),
        call_piece(
            json!({"index": 1, "id": "c1", "function": {"name": "list_directory", "arguments": "{}"}}),
        ),
        call_piece(json!({"index": 0, "function": {"arguments": "{\"path\":"}})),
        call_piece(json!({"index": 0, "function": {"arguments": "\"a\"}"}})),
        chunk(json!({}), Some("tool_calls")),
    ]);
    let outcome = turn(
        request(folder.path(), "openai", "x"),
        vec![Answer::sse(&stream), text_answer()],
        vec![],
    )
    .await;
    let results = outcome.of("tool_result");
    assert_eq!(
        (&results[0]["call_id"], &results[0]["output"]),
        (&json!("c0"), &json!("AAA"))
    );
    assert_eq!(
        (&results[1]["call_id"], &results[1]["output"]),
        (&json!("c1"), &json!("file 3 a\n"))
    );
    let second = outcome.model_requests()[1]["messages"].clone();
    assert_eq!(second[2]["content"], Value::Null);
    assert_eq!(
        second[2]["tool_calls"][0]["function"]["arguments"],
        "{\"path\":\"a\"}"
    );
    assert_eq!(
        second[3],
        json!({"role": "tool", "tool_call_id": "c0", "content": "AAA"})
    );
    assert_eq!(second[4]["tool_call_id"], "c1");
}

#[tokio::test]
async fn servers_without_ids_indices_or_the_right_finish_reason() {
    let folder = tempfile::tempdir().unwrap();
    let stream = openai(&[
        call_piece(json!({"function": {"name": "list_directory", "arguments": {}}})),
        call_piece(
            json!({"function": {"name": "execute_shell", "arguments": {"command": "echo hi"}}}),
        ),
        chunk(json!({"content": null}), Some("stop")),
    ]);
    let outcome = turn(
        request(folder.path(), "openai", "x"),
        vec![Answer::sse(&stream), text_answer()],
        vec![],
    )
    .await;
    let calls = outcome.of("tool_call");
    assert_eq!(
        (calls.len(), &calls[1]["name"]),
        (2, &json!("execute_shell"))
    );
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert!(calls.iter().all(|call| call["id"] != ""));
    assert!(
        outcome.of("tool_result")[1]["output"]
            .as_str()
            .unwrap()
            .contains("hi\n")
    );
    assert_eq!(outcome.end()["type"], "done");
}

#[tokio::test]
async fn calls_that_all_claim_index_zero_are_told_apart_by_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    let stream = openai(&[
        call_piece(
            json!({"index": 0, "id": "c0", "function": {"name": "list_directory", "arguments": "{}"}}),
        ),
        call_piece(
            json!({"index": 0, "id": "c1", "function": {"name": "list_directory", "arguments": "{\"path\":\".\"}"}}),
        ),
        chunk(json!({}), Some("tool_calls")),
    ]);
    let outcome = turn(
        request(folder.path(), "openai", "x"),
        vec![Answer::sse(&stream), text_answer()],
        vec![],
    )
    .await;
    assert_eq!(outcome.of("tool_result").len(), 2);
    assert!(
        outcome
            .of("tool_result")
            .iter()
            .all(|result| result["success"] == true)
    );
}

#[tokio::test]
async fn plain_end_after_the_finish_reason_is_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let stream = format!(
        "data: {}\n\n",
        chunk(json!({"content": "ok"}), Some("length"))
    );
    let outcome = turn(
        request(folder.path(), "openai", "x"),
        vec![Answer::sse(&stream)],
        vec![],
    )
    .await;
    assert_eq!(outcome.end()["stop_reason"], "length");
    // Not even the last empty line.
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\ndata: [DONE]";
    let outcome = turn(
        request(folder.path(), "openai", "x"),
        vec![Answer::sse(stream)],
        vec![],
    )
    .await;
    assert_eq!(outcome.end()["stop_reason"], "stop");
}

#[tokio::test]
async fn reasoning_goes_back_with_the_tool_results() {
    let folder = tempfile::tempdir().unwrap();
    let stream = openai(&[
        chunk(json!({"reasoning_content": "I look."}), None),
        call_piece(
            json!({"index": 0, "id": "c", "function": {"name": "list_directory", "arguments": ""}}),
        ),
        chunk(json!({}), Some("tool_calls")),
    ]);
    let outcome = turn(
        request(folder.path(), "openai", "x"),
        vec![Answer::sse(&stream), text_answer()],
        vec![],
    )
    .await;
    let second = &outcome.model_requests()[1]["messages"];
    assert_eq!(second[2]["reasoning_content"], "I look.");
}

#[tokio::test]
async fn server_that_wants_other_parameters_gets_them() {
    let folder = tempfile::tempdir().unwrap();
    let refuse =
        |message: &str| Answer::status(400, &json!({"error": {"message": message}}).to_string());
    let answers = vec![
        refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refuse("unknown field stream_options"),
        text_answer(),
    ];
    let outcome = turn(request(folder.path(), "openai", "x"), answers, vec![]).await;
    assert_eq!(outcome.text(), "ok");
    let last = outcome.model_requests()[2];
    assert_eq!(last["max_completion_tokens"], 1024);
    assert!(last.get("max_tokens").is_none() && last.get("stream_options").is_none());
}

#[tokio::test]
async fn error_in_the_stream_ends_the_turn_with_its_message() {
    let folder = tempfile::tempdir().unwrap();
    let stream = format!(
        "data: {}\n\ndata: {}\n\n",
        chunk(json!({"content": "begun"}), None),
        json!({"error": {"code": 429, "message": "too much"}})
    );
    let outcome = turn(
        request(folder.path(), "openai", "x"),
        vec![Answer::sse(&stream)],
        vec![],
    )
    .await;
    assert_eq!(outcome.text(), "begun");
    assert_eq!(outcome.end()["code"], "rate_limited");
    assert!(
        outcome.end()["message"]
            .as_str()
            .unwrap()
            .contains("too much")
    );
}
