//! What an index that is made anew knows of its sessions.

use std::fs;
use std::path::Path;

use openclaw_sessions::store::{INDEX, Known, Notice, SessionEntry, Store, known};
use openclaw_sessions::transcript::{
    AssistantMessage, Compaction, Draft, Marker, Message, Transcript, Usage,
};
use openclaw_sessions::{AgentId, SessionKey};
use serde_json::{Value, json};

use crate::{NOW, user};

fn key(name: &str) -> SessionKey {
    SessionKey::parse(name, &AgentId::main()).unwrap()
}

fn open(dir: &Path) -> (Store, Vec<Notice>) {
    Store::open(dir, AgentId::main(), NOW).unwrap()
}

/// Appends to the transcript of the session `name`, which no index has.
fn write(dir: &Path, name: &str, id: &str, drafts: Vec<Draft>) {
    let (mut store, _) = open(dir);
    let entry = store.create(&key(name), id.to_owned(), NOW);
    let origin = store.origin(&key(name), &entry, dir);
    let path = store.transcript_path(&entry);
    let mut transcript = Transcript::open(&path, origin).unwrap().transcript;
    transcript.append(drafts, NOW).unwrap();
}

fn rebuilt(dir: &Path) -> SessionEntry {
    let (store, _) = open(dir);
    store.get(&key("main")).unwrap().clone()
}

fn answer(model: &str, usage: Usage) -> Draft {
    let answer = AssistantMessage {
        provider: format!("{model}-provider"),
        model: model.to_owned(),
        usage,
        ..AssistantMessage::default()
    };
    Message::Assistant(answer).into()
}

#[test]
fn rebuilt_session_knows_its_model_its_tokens_and_its_messages() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "main",
        "a",
        vec![
            user("hi").into(),
            answer("first", Usage::new(1, 2, 3, 4)),
            answer("second", Usage::new(10, 20, 30, 40)),
            answer("", Usage::default()),
        ],
    );
    let entry = rebuilt(dir.path());
    assert_eq!(entry.text("model"), Some("second"));
    assert_eq!(entry.text("modelProvider"), Some("second-provider"));
    let tokens = [
        "inputTokens",
        "outputTokens",
        "cacheRead",
        "cacheWrite",
        "totalTokens",
    ];
    let tokens = tokens.map(|field| entry.get::<u64>(field).unwrap());
    assert_eq!(
        tokens,
        [11, 22, 33, 44, 0],
        "in all, and of the last answer"
    );
    assert_eq!(entry.last_interaction_at(), Some(NOW));
    assert_eq!(entry.counted().messages, 4);
    let length = fs::metadata(dir.path().join("a.jsonl")).unwrap().len();
    assert_eq!(entry.counted().bytes, length);
    assert!(entry.is_counted());
    assert_eq!(entry.started_at(), Some(NOW));
}

#[test]
fn rebuilt_session_counts_from_its_last_reset() {
    let dir = tempfile::tempdir().unwrap();
    let reset = Marker::Reset {
        reason: "new".to_owned(),
    };
    let compaction = || {
        Draft::from(Marker::Compaction(Compaction {
            summary: "short".to_owned(),
            ..Compaction::default()
        }))
    };
    let drafts = vec![
        answer("m", Usage::new(1, 2, 3, 4)),
        compaction(),
        reset.into(),
        answer("m", Usage::new(10, 20, 30, 40)),
        compaction(),
        compaction(),
    ];
    write(dir.path(), "main", "a", drafts);
    let entry = rebuilt(dir.path());
    assert_eq!(entry.get::<u64>("inputTokens"), Some(10));
    assert_eq!(entry.get::<u64>("compactionCount"), Some(2));
    assert_eq!(entry.get::<bool>("totalTokensFresh"), Some(false));
    let changed = fs::metadata(dir.path().join("a.jsonl")).unwrap().modified();
    let changed = changed
        .unwrap()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    assert_eq!(
        entry.updated_at(),
        changed.as_millis() as i64,
        "when its file was"
    );
}

#[test]
fn key_of_another_agent_or_of_no_form_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "main", "a", vec![user("hi").into()]);
    let path = dir.path().join("a.jsonl");
    let written = fs::read_to_string(&path).unwrap();
    for (named, expected) in [
        ("agent:main:other", "agent:main:other"),
        ("agent:ops:other", "agent:main:main"),
        ("a::b", "agent:main:main"),
    ] {
        fs::write(&path, written.replace("agent:main:main", named)).unwrap();
        let (store, notices) = open(dir.path());
        let keys: Vec<_> = store.sessions().map(|(key, _)| key).collect();
        assert_eq!(keys, [expected], "{named}");
        let guessed = usize::from(expected != named);
        assert_eq!(
            notices,
            [Notice::Rebuilt {
                sessions: 1,
                guessed
            }]
        );
    }
}

#[test]
fn index_says_what_it_misses_before_it_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let main = AgentId::main();
    let says = || known(dir.path(), &main).unwrap();
    assert_eq!(says(), Known::All, "there is nothing");
    write(dir.path(), "main", "a", vec![user("hi").into()]);
    assert_eq!(says(), Known::Nothing);
    let (mut store, _) = open(dir.path());
    store.flush().unwrap();
    assert_eq!(says(), Known::All);
    write(dir.path(), "other", "b", vec![user("hi").into()]);
    write(dir.path(), "third", "c", vec![user("hi").into()]);
    assert_eq!(says(), Known::Missing(2));
    let index = fs::read(dir.path().join(INDEX)).unwrap();
    assert_eq!(says(), Known::Missing(2), "nothing is changed");
    assert_eq!(fs::read(dir.path().join(INDEX)).unwrap(), index);
    let (_, notices) = open(dir.path());
    assert_eq!(notices, [Notice::Adopted { sessions: 2 }]);
    fs::write(dir.path().join(INDEX), "{").unwrap();
    assert!(matches!(says(), Known::Broken(reason) if reason.contains("line 1")));
    fs::write(dir.path().join(INDEX), "").unwrap();
    assert_eq!(says(), Known::Nothing);
    known(&dir.path().join("a.jsonl"), &main).unwrap_err();
}

#[test]
fn sessions_are_gone_or_kept_as_they_were_when_the_index_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path());
    assert_eq!(store.agent(), &AgentId::main());
    assert_eq!(store.dir(), dir.path());
    assert!(store.is_empty());
    store.create(&key("main"), "a".to_owned(), NOW);
    store.create(&key("other"), "b".to_owned(), NOW);
    assert_eq!((store.len(), store.is_empty()), (2, false));
    let removed = store.remove(&key("other")).unwrap();
    assert_eq!(removed.session_id(), "b");
    assert_eq!(store.remove(&key("other")), None);
    let before = store.insert(&key("main"), removed).unwrap();
    assert_eq!(before.session_id(), "a");
    store.flush().unwrap();
    assert!(!store.is_dirty());
    assert_eq!(store.remove(&key("none")), None);
    assert!(!store.is_dirty(), "nothing was removed");
    let index: Value = serde_json::from_slice(&fs::read(dir.path().join(INDEX)).unwrap()).unwrap();
    assert_eq!(index.as_object().unwrap().len(), 1);
    assert_eq!(index["agent:main:main"]["sessionId"], json!("b"));
    assert_eq!(store.transcript_path_of("x"), dir.path().join("x.jsonl"));
}
