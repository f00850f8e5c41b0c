//! Streams that no sound server sends.

use serde_json::{Value, json};

use crate::common::{
    Answer, Outcome, anthropic, anthropic_start, anthropic_text, chunk, openai, request, turn,
};

async fn ask(api: &str, answers: Vec<Answer>) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    turn(request(folder.path(), api, "hi"), answers, vec![]).await
}

fn started(index: Value, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn ended(reason: &str) -> [Value; 2] {
    let delta = json!({"stop_reason": reason});
    let last = json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}});
    [last, json!({"type": "message_stop"})]
}

fn stream(events: impl IntoIterator<Item = Value>, reason: &str) -> Answer {
    let events = [anthropic_start()].into_iter().chain(events);
    let events: Vec<Value> = events.chain(ended(reason)).collect();
    Answer::sse(&anthropic(&events))
}

/// Calls with these ids, in one answer.
fn calls(ids: &[&str]) -> Answer {
    let call = |(index, id)| {
        let block = json!({"type": "tool_use", "id": id, "name": "list_directory", "input": {"path": format!("d{index}")}});
        started(json!(index), block)
    };
    stream(ids.iter().enumerate().map(call), "tool_use")
}

#[tokio::test]
async fn hostile_stream_that_is_no_answer_is_refused_with_what_is_wrong() {
    let text = |index: Value| started(index, json!({"type": "text", "text": "x"}));
    let parts = (0..5000).map(|index| text(json!(index)));
    let deep = format!("data: {}\n\n", "[".repeat(100_000));
    for (answer, why) in [
        (stream([text(json!(-1))], "end_turn"), "`-1`"),
        (stream([text(json!(1e30))], "end_turn"), "1e+30"),
        (
            stream([text(json!(0)), text(json!(0))], "end_turn"),
            "started twice",
        ),
        (stream(parts, "end_turn"), "more than 2048 parts"),
        (Answer::sse(&deep), "cannot understand"),
        (
            stream(
                [
                    json!({"type": "content_block_delta", "index": 4_294_967_295_u32, "delta": {"type": "text_delta", "text": "x"}}),
                ],
                "end_turn",
            ),
            "4294967295 was never started",
        ),
    ] {
        let outcome = ask("anthropic", vec![answer]).await;
        let end = outcome.end();
        assert_eq!(end["code"], "malformed_output", "{end}");
        let message = end["message"].as_str().unwrap();
        assert!(message.contains(why) && message.len() < 1000, "{message}");
        assert!(outcome.status.success());
    }
    let pieces = (0..5000).map(|index| {
        let call = json!({"index": index, "id": format!("c{index}"), "function": {"name": "f"}});
        chunk(json!({"tool_calls": [call]}), None)
    });
    let answer = Answer::sse(&openai(&pieces.collect::<Vec<_>>()));
    let outcome = ask("openai", vec![answer]).await;
    let message = outcome.end()["message"].as_str().unwrap();
    assert!(message.contains("more than 2048 parts"), "{message}");
}

#[tokio::test]
async fn hostile_pieces_in_which_there_is_nothing_are_not_told() {
    let text = |text: &str| json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": text}});
    let thought = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": ""}});
    let mut events = vec![
        started(json!(0), json!({"type": "thinking", "thinking": ""})),
        started(json!(1), json!({"type": "text", "text": ""})),
    ];
    events.extend(std::iter::repeat_n(thought, 1000));
    events.extend(std::iter::repeat_n(text(""), 1000));
    events.push(text("there"));
    let outcome = ask("anthropic", vec![stream(events, "end_turn")]).await;
    assert_eq!(outcome.text(), "there");
    assert!(outcome.events.len() < 10, "{}", outcome.events.len());
}

/// What was used is told as far as it can be understood, and the answer is there.
#[tokio::test]
async fn hostile_counts_of_what_was_used_lose_no_answer() {
    for (told, input) in [
        (json!({"input_tokens": 7.0, "output_tokens": 3}), 7),
        (json!({"input_tokens": 1.5, "output_tokens": 3}), 0),
        (json!({"input_tokens": -1, "output_tokens": 3}), 0),
        (json!({"input_tokens": 1e300, "output_tokens": 3}), 0),
        (json!({"input_tokens": "7", "output_tokens": 3}), 0),
        (
            json!({"output_tokens": 3, "cache_read_input_tokens": []}),
            0,
        ),
    ] {
        let start = json!({"type": "message_start", "message": {"usage": null}});
        let delta = json!({"stop_reason": "end_turn"});
        let events = [
            start,
            started(json!(0), json!({"type": "text", "text": "here"})),
            json!({"type": "message_delta", "delta": delta, "usage": told}),
            json!({"type": "message_stop"}),
        ];
        let outcome = ask("anthropic", vec![Answer::sse(&anthropic(&events))]).await;
        assert_eq!(outcome.text(), "here", "{told}: {}", outcome.end());
        let usage = outcome.of("usage")[0];
        assert_eq!(
            (&usage["input"], &usage["output"]),
            (&json!(input), &json!(3))
        );
    }
    for (told, input) in [
        (
            json!({"prompt_tokens": 7.0, "completion_tokens": 3, "prompt_tokens_details": "none"}),
            7,
        ),
        (
            json!({"prompt_tokens": {}, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": -5}}),
            0,
        ),
    ] {
        let mut last = chunk(json!({"content": "here"}), Some("stop"));
        last["usage"] = told;
        let outcome = ask("openai", vec![Answer::sse(&openai(&[last]))]).await;
        assert_eq!(outcome.text(), "here", "{}", outcome.end());
        let usage = outcome.of("usage")[0];
        assert_eq!(
            (&usage["input"], &usage["output"]),
            (&json!(input), &json!(3))
        );
    }
    let mut last = chunk(json!({"content": "here"}), Some("stop"));
    last["usage"] = json!("unknown");
    let outcome = ask("openai", vec![Answer::sse(&openai(&[last]))]).await;
    assert_eq!(outcome.text(), "here", "{}", outcome.end());
}

/// Each call is told apart, and its result is its own.
#[tokio::test]
async fn hostile_ids_of_calls_are_replaced() {
    let long = "x".repeat(100_000);
    let longer = format!("{long}y");
    let ids = [
        long.as_str(),
        &longer,
        "",
        "a\u{1b}[2J\n",
        "a:b",
        "a.b",
        "a:b",
    ];
    let outcome = ask("anthropic", vec![calls(&ids), anthropic_text("done")]).await;
    assert_eq!(outcome.end()["type"], "done", "{}", outcome.end());
    let told: Vec<&str> = outcome
        .of("tool_call")
        .iter()
        .map(|call| call["id"].as_str().unwrap())
        .collect();
    let distinct: std::collections::BTreeSet<&&str> = told.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{told:?}");
    assert!(
        told.iter().all(|id| !id.is_empty() && id.len() < 100),
        "{told:?}"
    );
    assert_eq!(told[4..6], ["a:b", "a.b"]);
    assert_own_results(&outcome.model_requests()[1]["messages"]);
}

/// Of a server that begins to count its calls anew with each answer.
#[tokio::test]
async fn hostile_history_with_one_id_for_many_calls_is_sent_with_one_for_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", "and now?");
    let round = |number: usize| {
        let call = |id: &str| json!({"id": id, "name": "read_file", "arguments": {"path": format!("{id}{number}")}});
        let result = |id: &str| json!({"tool": {"call_id": id, "name": "read_file", "output": format!("{id}{number}"), "is_error": false}});
        let said = json!({"assistant": {"text": "look", "tool_calls": [call("c.0"), call("c:0"), call("c_0_2")]}});
        [
            json!({"user": {"text": "go on"}}),
            said,
            result("c.0"),
            result("c:0"),
            result("c_0_2"),
        ]
    };
    asked["history"] = (0..3).flat_map(round).collect();
    let outcome = turn(asked, vec![anthropic_text("ok")], vec![]).await;
    assert_own_results(&outcome.model_requests()[0]["messages"]);
}

/// Ids are there once and of plain characters, and results follow in the order of their calls.
fn assert_own_results(messages: &Value) {
    let blocks = |kind: &str| {
        let all = messages.as_array().unwrap().iter();
        let all = all.flat_map(|message| message["content"].as_array().unwrap());
        let kind = kind.to_owned();
        all.filter(move |block| block["type"] == kind.as_str())
            .cloned()
            .collect::<Vec<_>>()
    };
    let (calls, results) = (blocks("tool_use"), blocks("tool_result"));
    let ids: Vec<&str> = calls
        .iter()
        .map(|call| call["id"].as_str().unwrap())
        .collect();
    let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(
        (distinct.len(), results.len()),
        (ids.len(), ids.len()),
        "{ids:?}"
    );
    for (call, result) in calls.iter().zip(&results) {
        assert_eq!(call["id"], result["tool_use_id"]);
        let id = call["id"].as_str().unwrap();
        assert!(
            id.chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
            "{id}"
        );
        let path = call["input"]["path"].as_str().unwrap();
        assert!(
            result["content"].as_str().unwrap().contains(path),
            "{call} {result}"
        );
    }
}
