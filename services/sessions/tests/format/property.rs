//! Properties of seed 002, by their numbers.

use std::collections::HashSet;

use openclaw_sessions::history::{self, Said};
use openclaw_sessions::store::Store;
use openclaw_sessions::transcript::{
    self, AssistantMessage, Block, Content, Line, Message, StopReason, ToolResultMessage, Usage,
    UserMessage,
};
use openclaw_sessions::{AgentId, SessionKey};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{NOW, open};

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,40}", any::<String>()]
}

fn arguments() -> impl Strategy<Value = Value> {
    (text(), any::<i64>(), vec(text(), 0..3))
        .prop_map(|(path, n, list)| json!({ "path": path, "n": n, "list": list }))
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        text().prop_map(Block::text),
        text().prop_map(Block::thinking),
        (text(), text(), arguments()).prop_map(|(id, name, a)| Block::tool_call(id, name, a)),
    ]
}

fn stop_reason() -> impl Strategy<Value = StopReason> {
    prop_oneof![
        Just(StopReason::Stop),
        Just(StopReason::ToolUse),
        Just(StopReason::Length),
        Just(StopReason::Error),
        Just(StopReason::Aborted),
    ]
}

fn assistant() -> impl Strategy<Value = Message> {
    let usage = (0..1u64 << 40, 0..1u64 << 40).prop_map(|(a, b)| Usage::new(a, b, a / 2, b / 2));
    let fields = (
        vec(block(), 0..4),
        text(),
        usage,
        stop_reason(),
        proptest::option::of(text()),
    );
    fields.prop_map(|(content, model, usage, stop_reason, error_message)| {
        Message::Assistant(AssistantMessage {
            content: Content::Blocks(content),
            api: "anthropic-messages".to_owned(),
            provider: "anthropic".to_owned(),
            model,
            usage,
            stop_reason,
            timestamp: NOW,
            error_message,
            ..AssistantMessage::default()
        })
    })
}

fn message() -> impl Strategy<Value = Message> {
    let user = (text(), text(), any::<i64>())
        .prop_map(|(run, text, at)| Message::User(UserMessage::of_run(&run, text, at)));
    let result = (text(), text(), text(), any::<bool>()).prop_map(|(id, name, out, is_error)| {
        let mut message = Message::ToolResult(ToolResultMessage {
            tool_call_id: id,
            tool_name: name,
            content: Content::Blocks(vec![Block::text(out)]),
            is_error,
            timestamp: NOW,
            ..ToolResultMessage::default()
        });
        message.set_run_id("run");
        message
    });
    prop_oneof![user, assistant(), result]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Feature: openclaw-mvp, Property 3: loading a session reconstructs the
    /// exact sequence of entries that was appended, whatever the batches.
    #[test]
    fn property_3_transcript_round_trip(batches in vec(vec(message(), 1..4), 1..5)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut ids = Vec::new();
        for batch in &batches {
            let mut transcript = open(&path).transcript;
            ids.extend(transcript.append(batch.clone(), NOW).unwrap());
        }
        let reading = transcript::read(&path).unwrap();
        prop_assert!(reading.corrupt.is_empty());
        let mut parent = reading.lines[1].id().map(str::to_owned);
        let mut messages = Vec::new();
        for line in &reading.lines[2..] {
            let Line::Message(entry) = line else {
                panic!("not a message: {line:?}");
            };
            prop_assert_eq!(&entry.parent_id, &parent);
            parent = Some(entry.id.clone());
            messages.push(entry.message.clone());
        }
        prop_assert_eq!(messages, batches.concat());
        let unique: HashSet<_> = reading.lines.iter().filter_map(Line::id).collect();
        prop_assert_eq!(unique.len(), ids.len() + 1);
    }

    /// Feature: openclaw-mvp, Property 2: session ids are unique.
    #[test]
    fn property_2_session_ids_are_unique(names in proptest::collection::hash_set("[a-z]{1,8}", 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open(dir.path(), AgentId::main(), NOW).unwrap();
        let keys: HashSet<_> = names
            .iter()
            .map(|name| SessionKey::parse(name, &AgentId::main()).unwrap())
            .collect();
        let ids: HashSet<_> = keys
            .iter()
            .map(|key| store.resolve_or_create(key, NOW).0.session_id().to_owned())
            .collect();
        prop_assert_eq!(ids.len(), keys.len());
    }

    #[test]
    fn keys_are_canonical_after_one_pass(raw in prop_oneof!["\\PC{0,40}", "[a-z:+A-Z0-9 .()-]{0,40}"]) {
        if let Ok(once) = SessionKey::parse(&raw, &AgentId::main()) {
            let twice = SessionKey::parse(once.as_str(), &"other".parse().unwrap()).unwrap();
            prop_assert_eq!(&once, &twice);
            let bare = ["global", "unknown"].contains(&once.as_str());
            prop_assert!(bare || once.as_str().starts_with("agent:"));
        }
    }

    #[test]
    fn a_history_fits_and_is_well_formed(messages in vec(message(), 0..20), tokens in 0usize..200) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        open(&path).transcript.append(messages, NOW).unwrap();
        let history = history::load(&path, tokens, &HashSet::new()).unwrap();
        let cost: usize = history.messages.iter().map(|past| past.said.characters()).sum();
        prop_assert!(cost <= tokens * 4);
        if let Some(first) = history.messages.first() {
            let begins_with_user = matches!(first.said, Said::User { .. });
            prop_assert!(begins_with_user);
        }
    }

    #[test]
    fn no_bytes_make_reading_fail(bytes in vec(any::<u8>(), 0..400)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        transcript::read(&path).unwrap();
        history::load(&path, 100, &HashSet::new()).unwrap();
        let mut transcript = open(&path).transcript;
        let ids = transcript.append(vec![crate::user("x")], NOW).unwrap();
        let reading = transcript::read(&path).unwrap();
        prop_assert_eq!(reading.lines.last().and_then(Line::id), Some(ids[0].as_str()));
    }
}
