//! What transcripts can hold, generated: any text, images, calls with any
//! arguments, fields that are not known here, and entries that are no messages.

use openclaw_sessions::transcript::{
    AssistantMessage, Block, Compaction, Content, Draft, Marker, Message, StopReason,
    ToolResultMessage, Usage, UserMessage,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "\\PC{0,40}",
        4 => any::<String>(),
        1 => Just("\u{0}\r\n\u{2028}\u{85}\u{feff}\u{1f468}\u{200d}\u{1f469}\u{fffd}".to_owned()),
        // Longer than what is read of a file at once.
        1 => ("\\PC", 2_000usize..20_000).prop_map(|(letter, times)| letter.repeat(times)),
    ]
}

/// Any JSON that a call's arguments or a tool's details can be.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Fields that another program put beside those that are known here.
fn rest() -> impl Strategy<Value = Map<String, Value>> {
    btree_map("x-[a-zA-Z_.]{1,6}", any_json(), 0..2).prop_map(|map| map.into_iter().collect())
}

/// An image, or a block of a kind that is not known here.
fn other_block() -> impl Strategy<Value = Block> {
    // The letters of base64.
    let image = "[A-Za-z0-9+/]{0,800}={0,2}"
        .prop_map(|data| json!({ "type": "image", "mimeType": "image/png", "data": data }));
    let unknown = any_json().prop_map(|data| json!({ "type": "x-unknown", "data": data }));
    prop_oneof![image, unknown].prop_map(Block::Other)
}

fn block() -> impl Strategy<Value = Block> {
    let arguments = btree_map(text(), any_json(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    let signed = (text(), option::of(text())).prop_map(|(thought, signature)| {
        let mut block = Block::thinking(thought);
        if let Some(signature) = signature {
            block.sign(&signature);
        }
        block
    });
    prop_oneof![
        (text(), rest()).prop_map(|(text, rest)| Block::Text { text, rest }),
        signed,
        text().prop_map(Block::redacted_thinking),
        (text(), text(), arguments, rest()).prop_map(|(id, name, arguments, rest)| {
            Block::ToolCall {
                id,
                name,
                arguments,
                rest,
            }
        }),
        other_block(),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        1 => text().prop_map(Content::Text),
        3 => vec(block(), 0..4).prop_map(Content::Blocks),
    ]
}

fn stop_reason() -> impl Strategy<Value = StopReason> {
    prop_oneof![
        Just(StopReason::Stop),
        Just(StopReason::ToolUse),
        Just(StopReason::Length),
        Just(StopReason::Error),
        Just(StopReason::Aborted),
        "x[a-z_]{0,8}".prop_map(StopReason::Other),
    ]
}

fn user() -> impl Strategy<Value = Message> {
    let fields = (content(), any::<i64>(), option::of(text()), rest());
    fields.prop_map(|(content, timestamp, run, rest)| {
        Message::User(UserMessage {
            content,
            timestamp,
            idempotency_key: run.map(|run| format!("{run}:user")),
            rest,
        })
    })
}

fn assistant() -> impl Strategy<Value = Message> {
    let usage = (0..1u64 << 40, 0..1u64 << 40, rest()).prop_map(|(a, b, rest)| Usage {
        rest,
        ..Usage::new(a, b, a / 2, b / 2)
    });
    let names = (text(), text(), text());
    let fields = (
        content(),
        names,
        usage,
        stop_reason(),
        any::<i64>(),
        option::of(text()),
        rest(),
    );
    fields.prop_map(
        |(content, (api, provider, model), usage, stop_reason, timestamp, error_message, rest)| {
            Message::Assistant(AssistantMessage {
                content,
                api,
                provider,
                model,
                usage,
                stop_reason,
                timestamp,
                error_message,
                rest,
            })
        },
    )
}

fn tool_result() -> impl Strategy<Value = Message> {
    let fields = (
        text(),
        text(),
        content(),
        any::<bool>(),
        any::<i64>(),
        rest(),
    );
    fields.prop_map(
        |(tool_call_id, tool_name, content, is_error, timestamp, rest)| {
            let mut message = Message::ToolResult(ToolResultMessage {
                tool_call_id,
                tool_name,
                content,
                is_error,
                timestamp,
                rest,
            });
            message.set_run_id("run");
            message
        },
    )
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    prop_oneof![user(), assistant(), tool_result()]
}

pub(crate) fn marker() -> impl Strategy<Value = Marker> {
    let compaction = (text(), text(), any::<u64>(), option::of(any_json())).prop_map(
        |(summary, first_kept_entry_id, tokens_before, details)| {
            Marker::Compaction(Compaction {
                summary,
                first_kept_entry_id,
                tokens_before,
                details,
            })
        },
    );
    prop_oneof![
        text().prop_map(|reason| Marker::Reset { reason }),
        compaction,
        (text(), text())
            .prop_map(|(provider, model_id)| Marker::ModelChange { provider, model_id }),
        text().prop_map(|thinking_level| Marker::ThinkingLevelChange { thinking_level }),
        text().prop_map(|name| Marker::SessionInfo { name }),
        (text(), any_json()).prop_map(|(custom_type, data)| Marker::Custom { custom_type, data }),
    ]
}

pub(crate) fn draft() -> impl Strategy<Value = Draft> {
    prop_oneof![
        3 => message().prop_map(Draft::from),
        1 => marker().prop_map(Draft::from),
    ]
}
