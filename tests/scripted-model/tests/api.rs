//! The server as its clients see it.

// The attribute tells clippy that this is test code, where unwrapping is allowed.
#[cfg(test)]
mod client;

use std::time::Duration;

use client::{Answer, ask, ask_raw};
use scripted_model::{Ending, Outcome, Scenario, Server, ToolCall, Usage};
use serde_json::{Value, json};

fn anthropic(text: &str) -> Value {
    json!({"model": "m", "max_tokens": 100, "stream": true, "messages": [{"role": "user", "content": text}]})
}

fn openai(text: &str) -> Value {
    json!({"model": "m", "stream": true, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": text}]})
}

async fn say(server: &Server, text: &str) -> Answer {
    ask(server, "/v1/messages?beta=true", &anthropic(text)).await
}

async fn chat(server: &Server, text: &str) -> Answer {
    ask(server, "/v1/chat/completions", &openai(text)).await
}

#[tokio::test]
async fn events_come_in_the_order_of_the_real_api() {
    let server = Server::start().await.unwrap();
    server.push(Scenario::text("Hello there").thinking("hm").usage(Usage {
        input: 7,
        output: 3,
        cache_read: 2,
        cache_write: 1,
    }));
    let answer = say(&server, "hi").await;
    let mut kinds: Vec<_> = answer
        .events()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    kinds.dedup();
    let expected = [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(answer.text(), "Hello there");
    let start = &answer.events()[0]["message"]["usage"];
    assert_eq!(
        (
            start["input_tokens"].as_u64(),
            start["cache_read_input_tokens"].as_u64()
        ),
        (Some(7), Some(2))
    );
}

#[tokio::test]
async fn openai_streams_end_with_usage_and_done() {
    let server = Server::start().await.unwrap();
    let answer = chat(&server, "hi").await;
    assert_eq!(answer.text(), "You said: hi");
    assert!(answer.body.ends_with("data: [DONE]\n\n"));
    let events = answer.events();
    assert!(
        events.last().unwrap()["usage"]["total_tokens"]
            .as_u64()
            .unwrap()
            > 0
    );
    assert!(
        events
            .iter()
            .any(|event| event["choices"][0]["finish_reason"] == "stop")
    );
}

#[tokio::test]
async fn api_without_a_stream_the_whole_message_comes() {
    let server = Server::start().await.unwrap();
    let mut body = anthropic("hi");
    body["stream"] = json!(false);
    let message: Value =
        serde_json::from_str(&ask(&server, "/v1/messages", &body).await.body).unwrap();
    assert_eq!(message["content"][0]["text"], "You said: hi");
    assert_eq!(message["stop_reason"], "end_turn");
    let mut body = openai("hi");
    body["stream"] = json!(false);
    let message: Value =
        serde_json::from_str(&ask(&server, "/v1/chat/completions", &body).await.body).unwrap();
    assert_eq!(message["choices"][0]["message"]["content"], "You said: hi");
}

#[tokio::test]
async fn tool_result_is_told_back_in_both_apis() {
    let server = Server::start().await.unwrap();
    server.push(Scenario::tool("clock", json!({"zone": "UTC"})));
    let call = say(&server, "what time").await.tool_calls();
    assert_eq!(call[0].1, "clock");
    assert_eq!(call[0].2, json!({"zone": "UTC"}));
    let mut body = anthropic("what time");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": call[0].0, "name": "clock", "input": {}}]}));
    messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call[0].0, "content": "noon"}]}));
    assert_eq!(
        ask(&server, "/v1/messages", &body).await.text(),
        "The tool said: noon"
    );

    server.push(Scenario::tool("clock", json!({})).then(Scenario::text("It is {result}.")));
    let call = chat(&server, "what time").await.openai_calls();
    let mut body = openai("what time");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": call[0].0, "type": "function", "function": {"name": "clock", "arguments": "{}"}}]}));
    messages.push(json!({"role": "tool", "tool_call_id": call[0].0, "content": "noon"}));
    assert_eq!(
        ask(&server, "/v1/chat/completions", &body).await.text(),
        "It is noon."
    );
}

#[tokio::test]
async fn parallel_calls_have_their_own_ids_and_endless_ones_repeat() {
    let server = Server::start().await.unwrap();
    let call = |name: &str| ToolCall {
        name: name.to_owned(),
        arguments: json!({"n": name}),
    };
    server.push(Scenario::tools([call("a"), call("b")]));
    let calls = say(&server, "go").await.tool_calls();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].0, calls[1].0);

    server.push(Scenario::tool_forever("again", json!({})));
    let first = say(&server, "go").await.tool_calls();
    let mut body = anthropic("go");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": first[0].0, "name": "again", "input": {}}]}));
    messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": first[0].0, "content": "1"}]}));
    assert_eq!(
        ask(&server, "/v1/messages", &body).await.tool_calls()[0].1,
        "again"
    );
}

#[tokio::test]
async fn failures_carry_the_apis_own_bodies() {
    let server = Server::start().await.unwrap();
    let limited = say(&server, "[[scenario:429 7]]").await;
    assert_eq!(
        (limited.status, limited.header("retry-after")),
        (429, Some("7"))
    );
    assert_eq!(limited.json()["error"]["type"], "rate_limit_error");
    assert_eq!(
        say(&server, "[[scenario:529]]").await.json()["error"]["type"],
        "overloaded_error"
    );
    assert_eq!(
        chat(&server, "[[scenario:401]]").await.json()["error"]["code"],
        "invalid_api_key"
    );
    let unknown = say(&server, "[[scenario:nonsense]]").await;
    assert_eq!(unknown.status, 400);
    assert!(
        unknown.body.contains("unknown scenario"),
        "{}",
        unknown.body
    );
}

#[tokio::test]
async fn cut_off_answer_breaks_the_connection_after_some_text() {
    let server = Server::start().await.unwrap();
    for path in ["/v1/messages", "/v1/chat/completions"] {
        let body = if path.ends_with("messages") {
            anthropic("[[scenario:cut]]")
        } else {
            openai("[[scenario:cut]]")
        };
        let answer = ask(&server, path, &body).await;
        assert!(answer.broken, "{path}");
        assert!(answer.text().starts_with("One two"), "{:?}", answer.body);
        assert!(!answer.text().contains("sixteen"));
    }
}

#[tokio::test]
async fn malformed_answers_end_cleanly_after_some_text() {
    let server = Server::start().await.unwrap();
    for (ending, mark) in [
        (Ending::MalformedSse, "502 Bad Gateway"),
        (Ending::MalformedJson, "content_blo\n"),
        (Ending::ErrorEvent, "Overloaded"),
    ] {
        server.push(Scenario::text("some words that are long enough").ending(ending));
        let answer = say(&server, "hi").await;
        assert!(!answer.broken);
        assert!(answer.body.contains(mark), "{}", answer.body);
        assert!(!answer.body.contains("message_stop"));
        assert!(answer.body.contains("some words"));
    }
}

#[tokio::test]
async fn held_answer_waits_for_its_gate() {
    let server = Server::start().await.unwrap();
    server.push(Scenario::held("first and second half", "gate"));
    let mut stream = ask_raw(&server, "/v1/messages", &anthropic("hi")).await;
    let before = stream.until("first and").await;
    assert!(!before.contains("half"));
    assert_eq!(server.turns()[0].outcome, Outcome::Open);
    server.release("gate");
    stream.until("message_stop").await;
    assert_eq!(server.wait_for_outcome(0).await, Outcome::Sent);
}

#[tokio::test]
async fn client_that_leaves_is_recorded() {
    let server = Server::start().await.unwrap();
    server.push(Scenario::held("first and second half", "never"));
    let mut stream = ask_raw(&server, "/v1/messages", &anthropic("hi")).await;
    stream.until("first and").await;
    drop(stream);
    let outcome = tokio::time::timeout(Duration::from_secs(5), server.wait_for_outcome(0)).await;
    assert_eq!(outcome, Ok(Outcome::Abandoned));
}

#[tokio::test]
async fn requests_are_recorded_with_headers_body_and_size() {
    let server = Server::start().await.unwrap();
    say(&server, "remember me").await;
    let turns = server.wait_for_turns(1).await;
    assert_eq!(turns[0].header("x-api-key"), Some("made-up"));
    assert_eq!(turns[0].json()["messages"][0]["content"], "remember me");
    assert_eq!(turns[0].size, anthropic("remember me").to_string().len());
    assert_eq!(turns[0].path, "/v1/messages?beta=true");
}

#[tokio::test]
async fn housekeeping_leaves_the_queue_alone() {
    let server = Server::start().await.unwrap();
    server.push(Scenario::text("for the turn"));
    let probe =
        json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]});
    assert_eq!(ask(&server, "/v1/messages", &probe).await.status, 200);
    assert_eq!(server.queued(), 1);
    assert!(server.turns().is_empty());
    assert_eq!(say(&server, "hi").await.text(), "for the turn");
}

#[tokio::test]
async fn control_paths_script_and_report() {
    let server = Server::start().await.unwrap();
    let queued = ask(&server, "/_script", &json!(["text one", {"text": "two"}])).await;
    assert_eq!(queued.json()["queued"], 2);
    assert_eq!(
        ask(&server, "/_default", &json!("text rest")).await.status,
        200
    );
    for expected in ["one", "two", "rest", "rest"] {
        assert_eq!(say(&server, "hi").await.text(), expected);
    }
    assert_eq!(ask(&server, "/_script", &json!("bogus")).await.status, 400);
    let requests = client::get(&server, "/_requests").await.json();
    assert_eq!(requests.as_array().unwrap().len(), 4);
    assert_eq!(requests[0]["body"]["messages"][0]["content"], "hi");
}

#[tokio::test]
async fn probes_are_answered() {
    let server = Server::start().await.unwrap();
    let tokens = ask(&server, "/v1/messages/count_tokens", &anthropic("hi"))
        .await
        .json();
    assert!(tokens["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(
        client::get(&server, "/v1/models").await.json()["data"][0]["id"],
        "scripted"
    );
    assert_eq!(client::get(&server, "/nowhere").await.status, 404);
}

#[tokio::test]
async fn api_what_the_real_api_refuses_is_refused() {
    let server = Server::start().await.unwrap();
    let answer = ask(
        &server,
        "/v1/messages",
        &json!({"model": "m", "messages": [{"role": "user", "content": "x"}]}),
    )
    .await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("max_tokens"));
}
