//! What a model thought is kept with its signature, and sent back to it alone.

use std::fs;

use integration_tests::socket::Socket;
use integration_tests::{Setup, Suite, asked, transcript};
use scripted_model::{Scenario, Server, signature};
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-5";
const KEY: &str = "agent:main:main";

/// A suite whose session has been spoken to and thinks.
async fn thinking(model: &Server) -> Suite {
    let suite = Setup::anthropic(model)
        .set("agents.defaults.model", format!("anthropic/{MODEL}"))
        .start()
        .await;
    suite.say("hello").await;
    think(&suite, "low").await;
    suite
}

async fn think(suite: &Suite, level: &str) {
    let set = format!("thinkingLevel={level}");
    let patch = ["sessions", "patch", "main", "--set", set.as_str()];
    suite.ctl(&patch).await.ok();
}

async fn ask_model(suite: &Suite, model: &str) {
    let patch = ["sessions", "patch", "main", "--model", model];
    suite.ctl(&patch).await.ok();
}

/// A block of thinking as the API has it.
fn block(model: &str, thinking: &str) -> Value {
    let signature = signature(model, thinking);
    json!({"type": "thinking", "thinking": thinking, "signature": signature})
}

/// The blocks of thinking in the last request, in their order.
fn sent(model: &Server) -> Vec<Value> {
    let turns = model.turns();
    let request = turns.last().expect("a request").json();
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let blocks = messages.iter().flat_map(|message| {
        let blocks = message["content"].as_array().cloned();
        blocks.unwrap_or_default()
    });
    let is_thinking = |block: &Value| {
        let kind = block["type"].as_str().unwrap_or_default();
        ["thinking", "redacted_thinking"].contains(&kind)
    };
    blocks.filter(is_thinking).collect()
}

/// Says something, which is answered after this thought.
async fn say_after(suite: &Suite, model: &Server, thought: &str) {
    model.push(Scenario::text("Well.").thinking(thought));
    suite.say("go on").await;
}

#[tokio::test]
async fn thinking_is_kept_with_its_signature_and_sent_back() {
    let model = Server::start().await.unwrap();
    let suite = thinking(&model).await;
    say_after(&suite, &model, "one").await;
    assert!(sent(&model).is_empty());
    let messages = suite.messages();
    let kept = messages.last().unwrap();
    let stored = json!({
        "type": "thinking", "thinking": "one", "thinkingSignature": signature(MODEL, "one"),
    });
    assert_eq!(kept["content"][0], stored);
    assert_eq!(kept["content"][1]["text"], "Well.");
    let maker = [&kept["api"], &kept["provider"], &kept["model"]];
    assert_eq!(maker, ["anthropic-messages", "anthropic", MODEL]);

    say_after(&suite, &model, "two").await;
    assert_eq!(sent(&model), [block(MODEL, "one")]);
    let request = model.turns().last().unwrap().json();
    let answer = request["messages"].as_array().unwrap();
    let mut answer = answer.iter().filter(|it| it["role"] == "assistant");
    let said = &answer.next_back().unwrap()["content"];
    assert_eq!(said[0], block(MODEL, "one"), "it comes before the words");
    assert_eq!(said[1]["text"], "Well.");

    // Where nothing is to be thought, nothing is sent; it is kept all the same.
    think(&suite, "off").await;
    suite.say("and now?").await;
    assert!(sent(&model).is_empty());
    think(&suite, "high").await;
    suite.say("and now?").await;
    assert_eq!(sent(&model), [block(MODEL, "one"), block(MODEL, "two")]);
}

#[tokio::test]
async fn thinking_is_sent_to_no_other_model() {
    let model = Server::start().await.unwrap();
    let suite = thinking(&model).await;
    let other = "claude-opus-4-6";
    say_after(&suite, &model, "one").await;
    ask_model(&suite, &format!("anthropic/{other}")).await;
    say_after(&suite, &model, "two").await;
    assert!(sent(&model).is_empty());
    suite.say("again").await;
    assert_eq!(sent(&model), [block(other, "two")]);
    ask_model(&suite, &format!("anthropic/{MODEL}")).await;
    suite.say("back").await;
    assert_eq!(sent(&model), [block(MODEL, "one")]);
}

#[tokio::test]
async fn thinking_is_sent_to_no_other_provider_of_the_same_model() {
    let model = Server::start().await.unwrap();
    let other = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set(
            "agents.defaults.model",
            json!({"primary": format!("anthropic/{MODEL}"), "fallbacks": [format!("mirror/{MODEL}")]}),
        )
        .set(
            "models.providers.mirror",
            json!({
                "baseUrl": other.url(), "api": "anthropic-messages", "apiKey": "sk-mirror",
                "models": [{"id": MODEL, "name": "The same"}],
            }),
        )
        .start()
        .await;
    suite.say("hello").await;
    think(&suite, "low").await;
    say_after(&suite, &model, "one").await;
    model.push(Scenario::failure(401));
    other.push(Scenario::text("Mirrored.").thinking("two"));
    suite.say("and now?").await;
    assert_eq!(asked::turns(&other, 1).await.len(), 1);
    assert!(sent(&other).is_empty());
    let messages = suite.messages();
    let kept = messages.last().unwrap();
    assert_eq!(kept["provider"], "mirror", "{kept}");
    assert_eq!(kept["api"], "anthropic-messages", "{kept}");
    // The key that was refused is left alone.
    suite.say("and again?").await;
    assert_eq!(sent(&other), [block(MODEL, "two")]);
}

#[tokio::test]
async fn thinking_before_a_call_goes_with_its_result_and_into_the_next_turn() {
    let model = Server::start().await.unwrap();
    let suite = thinking(&model).await;
    let done = Scenario::text("Seen.").thinking("that is all");
    let look = Scenario::tool("list_directory", json!({}))
        .thinking("I look")
        .redacted("hidden-data")
        .then(done);
    model.push(look);
    suite.say("look").await;
    let hidden = json!({"type": "redacted_thinking", "data": "hidden-data"});
    let first = [block(MODEL, "I look"), hidden.clone()];
    assert_eq!(sent(&model), first);
    suite.say("thanks").await;
    let all = [block(MODEL, "I look"), hidden, block(MODEL, "that is all")];
    assert_eq!(sent(&model), all);
    let request = model.turns().last().unwrap().json();
    let messages = request["messages"].as_array().unwrap();
    let called = messages.iter().find(|message| {
        let blocks = message["content"].as_array();
        blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_use"))
    });
    let kinds = called.unwrap()["content"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds.map(|block| block["type"].clone()).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "tool_use"]);

    let messages = suite.messages();
    let kept = messages.iter().find(|message| {
        let calls = message["content"].as_array();
        calls.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "toolCall"))
    });
    let stored = json!({
        "type": "thinking", "thinking": "[Reasoning redacted]",
        "thinkingSignature": "hidden-data", "redacted": true,
    });
    assert_eq!(kept.unwrap()["content"][1], stored);
}

#[tokio::test]
async fn thinking_of_an_imported_conversation_is_sent_back() {
    let model = Server::start().await.unwrap();
    let site = Setup::anthropic(&model)
        .set("agents.defaults.model", format!("anthropic/{MODEL}"))
        .site();
    let folder = site.state().join("agents/main/sessions");
    fs::create_dir_all(&folder).unwrap();
    let id = "3a1c36a5-6a50-4ad8-9f0b-4f0d6b8f1c11";
    let index = json!({(KEY): {
        "sessionId": id, "sessionFile": format!("{id}.jsonl"), "updatedAt": 1_780_000_000_000_u64,
        "thinkingLevel": "low",
    }});
    fs::write(folder.join("sessions.json"), index.to_string()).unwrap();
    let at = "2026-06-11T10:00:00.000Z";
    let answer = json!({
        "role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "model": MODEL,
        "content": [
            {"type": "thinking", "thinking": "greet", "thinkingSignature": signature(MODEL, "greet")},
            {"type": "thinking", "thinking": "[Reasoning redacted]", "thinkingSignature": "opaque", "redacted": true},
            {"type": "thinking", "thinking": "unsigned"},
            {"type": "text", "text": "Hello!"},
        ],
        "usage": {"input": 1, "output": 1}, "stopReason": "stop", "timestamp": 1_780_000_000_001_u64,
    });
    let lines = [
        json!({"type": "session", "version": 3, "id": id, "timestamp": at, "cwd": "/"}),
        json!({"type": "message", "id": "a1b2c3d4", "parentId": null, "timestamp": at,
            "message": {"role": "user", "content": "hi", "timestamp": 1_780_000_000_000_u64}}),
        json!({"type": "message", "id": "a1b2c3d5", "parentId": "a1b2c3d4", "timestamp": at, "message": answer}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    let suite = Suite::start(site).await;
    suite.say("and now?").await;
    let hidden = json!({"type": "redacted_thinking", "data": "opaque"});
    assert_eq!(sent(&model), [block(MODEL, "greet"), hidden]);
    let entries = transcript::entries(&suite, KEY);
    assert_eq!(entries[1]["message"], answer, "it stays as it was written");
}

#[tokio::test]
async fn thinking_whose_signature_is_refused_is_left_out() {
    let model = Server::start().await.unwrap();
    let suite = thinking(&model).await;
    say_after(&suite, &model, "one").await;
    let mut refusal = Scenario::failure(400);
    if let Some(failure) = &mut refusal.failure {
        failure.message =
            Some("messages.3.content.0: Invalid `signature` in `thinking` block".to_owned());
    }
    let before = model.turns().len();
    model.push(refusal);
    model.push(Scenario::text("All the same."));
    let run = suite.ask("and now?").await;
    assert_eq!(run["text"], "All the same.", "{run}");
    let turns = model.turns();
    assert_eq!(turns.len(), before + 2);
    assert!(turns[before].json().to_string().contains("\"signature\""));
    assert!(sent(&model).is_empty());
}

#[tokio::test]
async fn thinking_before_a_compaction_is_not_sent_back() {
    let model = Server::start().await.unwrap();
    let suite = thinking(&model).await;
    for thought in ["one", "two", "three"] {
        say_after(&suite, &model, thought).await;
    }
    let mut socket = Socket::enter(&suite).await;
    model.push(Scenario::text("The gist."));
    let compact = json!({"key": "main", "maxLines": 3});
    let done = socket.call("sessions.compact", compact).await;
    assert_eq!(done["compacted"], true, "{done}");
    let entries = suite.entries();
    assert!(
        entries.iter().any(|entry| entry["type"] == "compaction"),
        "{entries:?}"
    );
    // What is kept beside the summary has words of the third answer.
    say_after(&suite, &model, "four").await;
    let request = model.turns().last().unwrap().json().to_string();
    assert!(request.contains("The gist.") && request.contains("Well."));
    assert!(sent(&model).is_empty(), "{:?}", sent(&model));
    suite.say("and now?").await;
    assert_eq!(sent(&model), [block(MODEL, "four")]);
}
