//! What a model thought, as it takes it back.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use openclaw_sessions::history::{self, HistoryMessage, Tail, Thinking};
use serde_json::{Value, json};

fn written(lines: &[Value]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let header = json!({ "type": "session", "version": 3, "id": "s" });
    fs::write(&path, format!("{header}\n")).unwrap();
    append(&path, lines);
    (dir, path)
}

fn append(path: &Path, lines: &[Value]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    for line in lines {
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

fn asked(id: &str, parent: Option<&str>) -> Value {
    json!({ "type": "message", "id": id, "parentId": parent,
        "message": { "role": "user", "content": "ask" } })
}

fn thought(words: &str, signature: &str) -> Value {
    json!({ "type": "thinking", "thinking": words, "thinkingSignature": signature })
}

/// An answer of one word after the blocks of thinking.
fn answered(id: &str, parent: &str, api: &str, thoughts: &[Value]) -> Value {
    let mut blocks = thoughts.to_vec();
    blocks.push(json!({ "type": "text", "text": "word" }));
    json!({ "type": "message", "id": id, "parentId": parent, "message": {
        "role": "assistant", "content": blocks,
        "api": api, "provider": "anthropic", "model": "m",
    } })
}

const SIGNING: &str = "anthropic-messages";

fn last_thinking(path: &Path) -> Option<Thinking> {
    let history = history::load(path, 1000, &HashSet::new()).unwrap();
    let last = history.messages.last()?;
    last.thinking.as_deref().cloned()
}

#[test]
fn signed_thinking_is_taken_back_in_its_order() {
    let redacted = json!({ "type": "thinking", "thinking": "[Reasoning redacted]",
        "thinkingSignature": "opaque", "redacted": true });
    let blocks = [
        thought("first", "s1"),
        thought("unsigned", ""),
        thought("unsigned", "  "),
        thought("unsigned", "reasoning_content"),
        json!({ "type": "thinking", "thinking": "unsigned" }),
        redacted,
        thought("last", "s3"),
    ];
    let (_dir, path) = written(&[asked("a", None), answered("b", "a", SIGNING, &blocks)]);
    let thinking = last_thinking(&path).unwrap();
    assert_eq!(
        (thinking.provider.as_str(), thinking.model.as_str()),
        ("anthropic", "m")
    );
    let thoughts: Vec<_> = thinking
        .thoughts
        .iter()
        .map(|one| (one.text.as_str(), one.signature.as_str(), one.redacted))
        .collect();
    let expected = [
        ("first", "s1", false),
        ("", "opaque", true),
        ("last", "s3", false),
    ];
    assert_eq!(thoughts, expected);
}

#[test]
fn thinking_that_no_model_takes_back_is_left_out() {
    let signed = [thought("first", "s1")];
    let unsigned = [thought("first", "")];
    let mut nameless = answered("b", "a", SIGNING, &signed);
    nameless["message"]["model"] = Value::Null;
    for answer in [
        answered("b", "a", "openai-completions", &signed),
        answered("b", "a", SIGNING, &unsigned),
        answered("b", "a", SIGNING, &[]),
        nameless,
    ] {
        let (_dir, path) = written(&[asked("a", None), answer]);
        assert_eq!(last_thinking(&path), None);
        let history = history::load(&path, 1000, &HashSet::new()).unwrap();
        assert_eq!(history.messages.len(), 2, "the answer is told");
    }
}

#[test]
fn thinking_costs_what_it_takes_of_the_budget() {
    // "ask" and "word" are counted as 10 characters, each of 100 short words as 4.
    let half = "ab ".repeat(50);
    let blocks = [thought(&half, "s"), thought(&half, "s")];
    let (_dir, path) = written(&[asked("a", None), answered("b", "a", SIGNING, &blocks)]);
    let told = |tokens| {
        history::load(&path, tokens, &HashSet::new())
            .unwrap()
            .messages
            .len()
    };
    assert_eq!((told(103), told(102)), (2, 0));
    let kept = Tail::read(&path, 1000, &HashSet::new()).unwrap();
    assert_eq!(kept.characters(), 410);
}

#[test]
fn thinking_before_a_compaction_is_forgotten() {
    let blocks = [thought("before", "s1")];
    let (_dir, path) = written(&[
        asked("a", None),
        answered("b", "a", SIGNING, &blocks),
        asked("c", Some("b")),
        answered("d", "c", SIGNING, &blocks),
    ]);
    let none = HashSet::new();
    let kept = Tail::read(&path, 1000, &none).unwrap();
    assert_eq!(kept.characters(), 2 * (10 + 8));
    let compaction = json!({ "type": "compaction", "id": "e", "parentId": "d",
        "summary": "short", "firstKeptEntryId": "c" });
    append(
        &path,
        &[
            compaction,
            asked("f", Some("e")),
            answered("g", "f", SIGNING, &blocks),
        ],
    );
    let kept = kept.caught_up(&path).unwrap().unwrap();
    let told = kept.history(1000, &none).unwrap();
    let read = history::load(&path, 1000, &none).unwrap();
    assert_eq!(told.messages, read.messages);
    let thinks: Vec<_> = told
        .messages
        .iter()
        .map(|past| past.thinking.is_some())
        .collect();
    assert_eq!(thinks, [false, false, false, false, true]);
    // Three questions and answers counted as 10 characters less one, one thought as 8.
    assert_eq!(kept.characters(), 2 * 10 + 8);
    let HistoryMessage::User { text } = &told.messages[0].said else {
        panic!("no summary: {told:?}");
    };
    assert!(text.ends_with("short"));
}
