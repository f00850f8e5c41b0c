//! Files that OpenClaw 2026.6.11 and 2026.9.6 wrote or imported.

use std::fs;

use openclaw_sessions::history::{self, Said};
use openclaw_sessions::store::Store;
use openclaw_sessions::transcript::{self, Line, Message, StopReason, Transcript};
use openclaw_sessions::{AgentId, SessionKey};

use crate::{NOW, recorded, user};

/// After the recorded session was written.
const LATER: i64 = NOW + 3_600_000;

const LEGACY: &str = "31348d15-9635-4fe5-9615-a6c8062c57db.jsonl";

#[test]
fn a_recorded_transcript_is_written_back_with_nothing_lost() {
    for (dir, file) in [
        ("legacy", LEGACY),
        ("minimal", "22222222-2222-4222-8222-222222222222.jsonl"),
    ] {
        let dir = recorded(dir);
        let path = dir.path().join(file);
        let reading = transcript::read(&path).unwrap();
        assert!(reading.corrupt.is_empty());
        let mut written = Vec::new();
        for line in &reading.lines {
            line.encode(&mut written).unwrap();
        }
        let recorded = fs::read_to_string(&path).unwrap();
        let values = |text: &str| -> Vec<serde_json::Value> {
            text.lines()
                .map(|l| serde_json::from_str(l).unwrap())
                .collect()
        };
        assert_eq!(
            values(&String::from_utf8(written).unwrap()),
            values(&recorded)
        );
    }
}

#[test]
fn the_recorded_messages_are_understood() {
    let dir = recorded("legacy");
    let reading = transcript::read(&dir.path().join(LEGACY)).unwrap();
    let messages: Vec<_> = reading
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Message(entry) => Some(&entry.message),
            _ => None,
        })
        .collect();
    assert_eq!(messages.len(), 6);
    assert_eq!(messages[0].content().to_text(), "Hello legacy");
    assert_eq!(
        messages[0].run_id(),
        Some("64d3e7cc-bc6e-4c14-b0c0-547637a25bf4")
    );
    let Message::Assistant(call) = messages[3] else {
        panic!("not an assistant message: {:?}", messages[3]);
    };
    assert_eq!(call.stop_reason, StopReason::ToolUse);
    assert_eq!(call.usage.total_tokens, 21413);
    let Message::ToolResult(result) = messages[4] else {
        panic!("not a tool result: {:?}", messages[4]);
    };
    assert_eq!(result.tool_name, "exec");
    assert_eq!(result.content.to_text(), "hi-from-exec");
}

#[test]
fn a_recorded_session_survives_a_turn_appended_to_it() {
    let dir = recorded("legacy");
    let agent = AgentId::main();
    let (mut store, notices) = Store::open(dir.path(), agent.clone(), NOW).unwrap();
    assert!(notices.is_empty(), "{notices:?}");
    let key = SessionKey::main(&agent);
    let entry = store.get(&key).unwrap().clone();
    let path = store.transcript_path(&entry);
    assert_eq!(
        path,
        dir.path().join(LEGACY),
        "the recorded path is of another machine"
    );
    let before = fs::read(&path).unwrap();

    let origin = store.origin(&key, &entry, dir.path());
    let mut transcript = Transcript::open(&path, origin).unwrap().transcript;
    let ids = transcript.append(vec![user("and now?")], NOW).unwrap();
    transcript.sync().unwrap();
    store.get_mut(&key).unwrap().touch(LATER);
    store.flush().unwrap();

    let after = fs::read(&path).unwrap();
    assert!(after.starts_with(&before), "recorded lines were changed");
    let reading = transcript::read(&path).unwrap();
    let Some(Line::Message(last)) = reading.lines.last() else {
        panic!("no message at the end");
    };
    assert_eq!(last.id, ids[0]);
    assert_eq!(last.parent_id.as_deref(), Some("6af3d125"));
    let index: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.path().join("sessions.json")).unwrap()).unwrap();
    assert_eq!(
        index[key.as_str()]["skillsSnapshot"]["promptFormatVersion"],
        1
    );
    assert_eq!(index[key.as_str()]["estimatedCostUsd"], 0.042897);
    assert_eq!(index[key.as_str()]["updatedAt"], LATER);
}

#[test]
fn the_minimal_import_lists_and_reads() {
    let dir = recorded("minimal");
    let (store, _) = Store::open(dir.path(), AgentId::main(), NOW).unwrap();
    let keys: Vec<_> = store.sessions().map(|(key, _)| key.to_owned()).collect();
    assert_eq!(
        keys,
        ["agent:main:main", "agent:main:telegram:direct:123456789"]
    );
    let telegram = SessionKey::parse("telegram:123456789", &AgentId::main()).unwrap();
    let path = store.transcript_path(store.get(&telegram).unwrap());
    let count = transcript::count(&path, Default::default()).unwrap();
    assert_eq!(count.messages, 1);
    let main = store.get(&SessionKey::main(&AgentId::main())).unwrap();
    let path = store.transcript_path(main);
    let history = history::load(&path, 1000, &Default::default()).unwrap();
    let said: Vec<_> = history.messages.iter().map(|past| &past.said).collect();
    let user = Said::User {
        text: "my cat is called Mourek".to_owned(),
    };
    let assistant = Said::Assistant {
        text: "Noted: Mourek.".to_owned(),
        calls: Vec::new(),
    };
    assert_eq!(said, [&user, &assistant]);
}
