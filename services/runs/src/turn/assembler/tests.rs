use openclaw_proto::event::{Code, Done, Failed, ToolFailure, ToolResult};
use openclaw_settings::provider;
use serde_json::Value;

use super::*;

const NOW: i64 = 1_795_219_200_000;

fn text(text: &str) -> Kind {
    Kind::TextDelta {
        text: text.to_owned(),
    }
}

fn call(id: &str) -> Kind {
    Kind::ToolCall {
        id: id.to_owned(),
        name: "read_file".to_owned(),
        arguments: json!({ "path": "a" }),
    }
}

fn result(id: &str, output: &str) -> Kind {
    Kind::ToolResult(ToolResult {
        call_id: id.to_owned(),
        success: true,
        output: output.to_owned(),
        error: None,
    })
}

fn usage(input: u64, output: u64) -> Kind {
    Kind::Usage(event::Usage {
        input,
        output,
        ..event::Usage::default()
    })
}

fn done() -> Kind {
    Kind::Done(Done {
        stop_reason: "stop".to_owned(),
        provider: "anthropic".to_owned(),
        model: "m".to_owned(),
        backend_session: None,
        backend: "native".to_owned(),
    })
}

#[test]
fn api_is_the_one_that_the_provider_is_configured_with() {
    let apis = [
        ("anthropic", Api::Anthropic),
        ("gate", Api::Anthropic),
        ("lm", Api::OpenAi),
    ];
    let apis = apis.map(|(id, api)| (id.to_owned(), api));
    for (backend, provider, api) in [
        ("native", "anthropic", "anthropic-messages"),
        ("native", "gate", "anthropic-messages"),
        ("native", "lm", "openai-completions"),
        ("native", "gone", "openai-completions"),
        ("native", "", ""),
        ("codex-cli", "openai", "codex-cli"),
    ] {
        let assembler = Assembler::new("r", apis.clone().into());
        let done = Kind::Done(Done {
            stop_reason: "stop".to_owned(),
            provider: provider.to_owned(),
            model: "m".to_owned(),
            backend_session: None,
            backend: backend.to_owned(),
        });
        let ended = assembler.finish(&done, NOW).messages;
        let [Message::Assistant(message)] = ended.as_slice() else {
            panic!("{ended:?}");
        };
        assert_eq!(message.api, api, "{backend} {provider}");
    }
}

/// The batches in which a run's entries are appended, the last at its end.
fn batches(events: &[Kind], outcome: &Kind) -> (Vec<Vec<Value>>, Assembly) {
    let mut assembler = Assembler::new("r1", provider::apis(&Default::default()));
    let mut batches: Vec<Vec<Message>> = events
        .iter()
        .filter_map(|kind| assembler.add(kind, NOW))
        .collect();
    let assembly = assembler.finish(outcome, NOW);
    batches.push(assembly.messages.clone());
    let values = |batch: &Vec<Message>| batch.iter().map(|message| json!(message)).collect();
    (batches.iter().map(values).collect(), assembly)
}

#[test]
fn plain_reply_is_one_entry_as_recorded() {
    let events = [
        Kind::Thinking {
            text: "hm".to_owned(),
        },
        text("Hel"),
        text("lo"),
        usage(10, 2),
    ];
    let (batches, _) = batches(&events, &done());
    assert_eq!(
        batches,
        [[json!({
            "role": "assistant",
            "content": [
                { "type": "thinking", "thinking": "hm" },
                { "type": "text", "text": "Hello" },
            ],
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "m",
            "usage": {
                "input": 10, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12,
            },
            "stopReason": "stop",
            "timestamp": NOW,
            "__openclaw": { "runId": "r1" },
        })]]
    );
}

#[test]
fn response_is_complete_when_the_next_one_begins() {
    let events = [
        text("let me look"),
        call("c1"),
        call("c2"),
        usage(10, 2),
        result("c1", "one"),
        result("c2", "two"),
        text("there"),
        usage(20, 3),
    ];
    let (batches, assembly) = batches(&events, &done());
    assert_eq!(batches.len(), 2);
    let roles = |batch: &[Value]| -> Vec<String> {
        batch
            .iter()
            .map(|m| m["role"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        roles(&batches[0]),
        ["assistant", "toolResult", "toolResult"]
    );
    assert_eq!(batches[0][0]["stopReason"], "toolUse");
    assert_eq!(batches[0][0]["usage"]["totalTokens"], 12);
    assert_eq!(batches[0][2]["toolName"], "read_file");
    assert_eq!(roles(&batches[1]), ["assistant"]);
    assert_eq!(batches[1][0]["content"][0]["text"], "there");
    assert_eq!(assembly.usage.input, 30);
    assert_eq!(assembly.context_tokens, 23);
}

#[test]
fn partial_text_is_kept_whatever_ends_the_run() {
    let aborted = Kind::Aborted {
        reason: "user".to_owned(),
        backend_session: None,
        backend: "native".to_owned(),
    };
    let failed = Kind::Failed(Failed {
        code: Code::Crashed,
        message: "the agent died".to_owned(),
        retry_after_ms: None,
        backend_session: None,
        backend: "native".to_owned(),
    });
    for (outcome, reason, words) in [
        (aborted, "aborted", "user"),
        (failed, "error", "the agent died"),
    ] {
        let (batches, _) = batches(&[text("half a sen")], &outcome);
        let entry = &batches[0][0];
        assert_eq!(entry["content"][0]["text"], "half a sen");
        assert_eq!(entry["stopReason"], reason);
        assert_eq!(entry["errorMessage"], words);
    }
}

#[test]
fn last_entry_says_how_the_run_ended_also_after_a_result() {
    let (batches, _) = batches(&[call("c1"), result("c1", "one")], &done());
    let last = &batches[0];
    assert_eq!(last.len(), 3);
    assert_eq!(last[0]["stopReason"], "toolUse");
    assert_eq!(last[2]["stopReason"], "stop");
    assert_eq!(last[2]["content"], json!([]));
}

#[test]
fn failed_tool_keeps_tool_type_and_message() {
    let failure = Kind::ToolResult(ToolResult {
        call_id: "c1".to_owned(),
        success: false,
        output: String::new(),
        error: Some(ToolFailure {
            tool: "read_file".to_owned(),
            kind: "not_found".to_owned(),
            message: "there is no a".to_owned(),
        }),
    });
    let (batches, _) = batches(&[call("c1"), failure], &done());
    let entry = &batches[0][1];
    assert_eq!(entry["isError"], true);
    assert_eq!(entry["content"][0]["text"], "there is no a");
    assert_eq!(
        entry["details"]["error"],
        json!({ "tool": "read_file", "type": "not_found", "message": "there is no a" })
    );
}

#[test]
fn very_long_reply_goes_on_in_another_entry() {
    let piece = "x".repeat(ENTRY_LIMIT / 2 + 1);
    let (batches, _) = batches(&[text(&piece), text(&piece), text("end")], &done());
    assert_eq!(batches.len(), 2);
    assert_eq!(batches[1][0]["content"][0]["text"], "end");
}

#[test]
fn assembler_what_is_said_before_steering_is_an_entry_and_no_end() {
    let mut assembler = Assembler::new("r", Default::default());
    let steered = Kind::Steered {
        run_ids: vec!["other".to_owned()],
    };
    assert_eq!(assembler.add(&steered, 1), None, "nothing was said");
    assert_eq!(assembler.add(&text("first"), 1), None);
    let entries = assembler.add(&steered, 2).unwrap();
    let [Message::Assistant(first)] = entries.as_slice() else {
        panic!("{entries:?}");
    };
    assert_eq!(first.content.to_text(), "first");
    // As a stop it would be taken for the run's end after a crash.
    assert_eq!(first.stop_reason, StopReason::ToolUse);
    let answers = |message: &Message| {
        message
            .also_answers()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(answers(&entries[0]), ["other"]);
    assert_eq!(assembler.add(&text("second"), 3), None);
    let rest = assembler.finish(&done(), 4).messages;
    assert_eq!(answers(&rest[0]), ["other"]);
    assert_eq!(rest[0].run_id(), Some("r"));
}

fn thought(text: &str) -> Kind {
    Kind::Thinking {
        text: text.to_owned(),
    }
}

fn signed(signature: &str, redacted: bool) -> Kind {
    Kind::ThinkingSigned(ThinkingSigned {
        signature: signature.to_owned(),
        redacted,
        provider: "mirror".to_owned(),
        model: "asked".to_owned(),
    })
}

#[test]
fn assembler_each_block_of_thinking_has_its_signature_and_the_entry_its_maker() {
    let events = [
        thought("o"),
        thought("ne"),
        signed("s1", false),
        thought("two"),
        signed("s2", false),
        signed("s3", true),
        signed("s4", false),
        text("words"),
    ];
    let (batches, _) = batches(&events, &done());
    let entry = &batches[0][0];
    let hidden = "[Reasoning redacted]";
    assert_eq!(
        entry["content"],
        json!([
            {"type": "thinking", "thinking": "one", "thinkingSignature": "s1"},
            {"type": "thinking", "thinking": "two", "thinkingSignature": "s2"},
            {"type": "thinking", "thinking": hidden, "thinkingSignature": "s3", "redacted": true},
            {"type": "thinking", "thinking": "", "thinkingSignature": "s4"},
            {"type": "text", "text": "words"},
        ])
    );
    let maker = ["api", "provider", "model", "responseModel"].map(|name| entry[name].clone());
    assert_eq!(maker, ["anthropic-messages", "mirror", "asked", "m"]);
}

#[test]
fn signed_thinking_alone_begins_the_next_response() {
    let events = [
        call("c1"),
        result("c1", "one"),
        signed("s", true),
        text("x"),
    ];
    let (batches, _) = batches(&events, &done());
    assert_eq!(batches.len(), 2);
    assert_eq!(batches[1][0]["content"][0]["thinkingSignature"], "s");
}
