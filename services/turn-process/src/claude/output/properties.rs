//! Property 19 of seed 002 over generated responses.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

const LIMITS: Limits = Limits {
    steps: u32::MAX,
    identical_calls: u32::MAX,
    output_tokens: u64::MAX,
    cost_per_turn: f64::MAX,
    cost_per_day: f64::MAX,
    spent_today: 0.0,
};

/// A part of a response, as its reader understands it.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Call {
        id: String,
        name: String,
        arguments: Value,
    },
    Result {
        id: String,
        output: String,
        failed: bool,
    },
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let arguments = prop::collection::btree_map("[a-z]{1,8}", any_json(), 0..4);
    let part = prop_oneof![
        "(?s).{1,60}".prop_map(Part::Text),
        ("[A-Za-z_]{1,20}", arguments).prop_map(|(name, arguments)| Part::Call {
            id: String::new(),
            name,
            arguments: Value::Object(arguments.into_iter().collect()),
        }),
        ("(?s).{0,60}", any::<bool>()).prop_map(|(output, failed)| Part::Result {
            id: String::new(),
            output,
            failed,
        }),
    ];
    prop::collection::vec(part, 0..12).prop_map(|mut parts| {
        for (number, part) in parts.iter_mut().enumerate() {
            if let Part::Call { id, .. } | Part::Result { id, .. } = part {
                *id = format!("toolu_{number}");
            }
        }
        parts
    })
}

/// How the CLI writes a part: `chunk` characters at a time, or at once when 0.
fn lines(part: &Part, chunk: usize) -> Vec<String> {
    let event = |event: Value| json!({"type": "stream_event", "event": event}).to_string();
    let message = |role: &str, block: Value| {
        json!({"type": role, "message": {"content": [block]}}).to_string()
    };
    match part {
        Part::Text(text) => {
            let mut lines = vec![event(json!({"type": "message_start"}))];
            let characters: Vec<char> = text.chars().collect();
            for piece in characters.chunks(chunk.max(1)).filter(|_| chunk > 0) {
                let piece: String = piece.iter().collect();
                lines.push(event(json!({
                    "type": "content_block_delta", "delta": {"type": "text_delta", "text": piece},
                })));
            }
            lines.push(message("assistant", json!({"type": "text", "text": text})));
            lines
        }
        Part::Call {
            id,
            name,
            arguments,
        } => vec![message(
            "assistant",
            json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
        )],
        Part::Result { id, output, failed } => vec![message(
            "user",
            json!({
                "type": "tool_result", "tool_use_id": id, "is_error": failed,
                "content": [{"type": "text", "text": output}],
            }),
        )],
    }
}

/// The events that were read, neighbouring texts joined.
fn read(lines: &[String]) -> Vec<Part> {
    let mut output = Output::new("s".to_owned(), None, LIMITS);
    let mut parts: Vec<Part> = Vec::new();
    for kind in lines.iter().flat_map(|line| output.line(line)) {
        match kind {
            Kind::TextDelta { text } => match parts.last_mut() {
                Some(Part::Text(before)) => before.push_str(&text),
                _ => parts.push(Part::Text(text)),
            },
            Kind::ToolCall {
                id,
                name,
                arguments,
            } => parts.push(Part::Call {
                id,
                name,
                arguments,
            }),
            Kind::ToolResult(result) => parts.push(Part::Result {
                id: result.call_id,
                output: result.output,
                failed: !result.success,
            }),
            other => panic!("{other:?}"),
        }
    }
    parts
}

/// Neighbouring texts are one; each is a message of its own, and a paragraph
/// where no call came since the one before.
fn joined(parts: &[Part]) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    let mut spoke = false;
    for part in parts {
        let part = match part {
            Part::Text(text) if spoke && !text.starts_with('\n') => {
                Part::Text(format!("\n\n{text}"))
            }
            part => part.clone(),
        };
        spoke = match &part {
            Part::Text(_) => true,
            Part::Call { .. } => false,
            Part::Result { .. } => spoke,
        };
        match (joined.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => joined.push(part),
        }
    }
    joined
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 19: Agent Response Parsing Round-Trip.
    /// For any valid Claude Code CLI response, parsing and re-serializing SHALL
    /// produce an equivalent structure (text content and tool calls preserved).
    #[test]
    fn property_19_what_was_read_reads_the_same_written_again(
        parts in parts(),
        chunk in 0usize..9,
        other_chunk in 0usize..9,
    ) {
        let written: Vec<String> = parts.iter().flat_map(|part| lines(part, chunk)).collect();
        let first = read(&written);
        prop_assert_eq!(&first, &joined(&parts));
        let again: Vec<String> = first.iter().flat_map(|part| lines(part, other_chunk)).collect();
        prop_assert_eq!(read(&again), first);
    }
}
