//! Files that OpenClaw 2026.6.11 and 2026.9.6 wrote or imported.

use std::collections::HashMap;
use std::fs;

use openclaw_sessions::archive::{self, Why};
use openclaw_sessions::history::{self, HistoryMessage};
use openclaw_sessions::reading::{self, Item, Paged};
use openclaw_sessions::store::Store;
use openclaw_sessions::transcript::{self, Line, Message, StopReason, Transcript};
use openclaw_sessions::transfer::{self, Existing, StagedFile};
use openclaw_sessions::{AgentId, SessionKey};

use crate::{NOW, recorded, user};

/// After the recorded session was written.
const LATER: i64 = NOW + 3_600_000;

const LEGACY: &str = "31348d15-9635-4fe5-9615-a6c8062c57db.jsonl";

const ARCHIVED: &str = "48a78773-6eca-4341-ad12-7fb0c94142cd.jsonl";

#[test]
fn recorded_transcript_is_written_back_with_nothing_lost() {
    for (dir, file) in [
        ("legacy", LEGACY),
        ("minimal", "22222222-2222-4222-8222-222222222222.jsonl"),
        ("archive", ARCHIVED),
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
fn recorded_messages_are_understood() {
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
fn recorded_session_survives_a_turn_appended_to_it() {
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
fn minimal_import_lists_and_reads() {
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
    let user = HistoryMessage::User {
        text: "my cat is called Mourek".to_owned(),
    };
    let assistant = HistoryMessage::Assistant {
        text: "Noted: Mourek.".to_owned(),
        calls: Vec::new(),
    };
    assert_eq!(said, [&user, &assistant]);
}

#[test]
fn archived_transcript_is_read_as_people_do() {
    let dir = recorded("archive");
    let path = dir.path().join(ARCHIVED);
    let wanted = |all| reading::Wanted {
        skip: 0,
        limit: 100,
        all,
    };
    // It ends in a reset: nothing is said in the conversation as it is.
    assert!(
        reading::page(&path, wanted(false))
            .unwrap()
            .entries
            .is_empty()
    );
    let page = reading::page(&path, wanted(true)).unwrap();
    let items: Vec<_> = page
        .entries
        .iter()
        .flat_map(|entry| match entry {
            Paged::Message(entry) => reading::items(&entry.message),
            _ => Vec::new(),
        })
        .collect();
    let tool = |name: &str, argument: &str| Item::Tool {
        name: name.to_owned(),
        argument: Some(argument.to_owned()),
    };
    assert!(items.contains(&tool("exec", "echo hi-from-exec; uname -s")));
    assert!(items.contains(&tool("write", "notes.txt")));
    assert!(items.contains(&Item::Assistant(
        "Tool finished: alpha beta\ngamma\n".to_owned()
    )));
    assert_eq!(page.entries.last(), Some(&Paged::Reset));
    // A version 4 file is continued with the ids it has.
    let before = fs::read(&path).unwrap();
    let origin = crate::origin();
    let mut transcript = Transcript::open(&path, origin).unwrap().transcript;
    transcript.append(vec![user("and now?")], NOW).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(&before));
    let reading = transcript::read(&path).unwrap();
    let Some(Line::Message(last)) = reading.lines.last() else {
        panic!("no message at the end");
    };
    assert_eq!(last.parent_id.as_deref(), Some("7ef8df3a"));
    let page = reading::page(&path, wanted(false)).unwrap();
    assert_eq!(page.entries.len(), 1);
}

fn staged(dir: &std::path::Path) -> Vec<StagedFile> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap());
    let mut staged: Vec<_> = files
        .map(|file| StagedFile {
            agent: AgentId::main(),
            name: file.file_name().into_string().unwrap(),
            path: file.path(),
            modified_ms: NOW,
        })
        .collect();
    staged.sort_by(|a, b| a.name.cmp(&b.name));
    staged
}

#[test]
fn recorded_folders_are_taken_over_and_told_apart() {
    let legacy = recorded("legacy");
    let archive = recorded("archive");
    let put_away = archive::put_away(&archive.path().join(ARCHIVED), Why::Deleted, NOW);
    put_away.unwrap().unwrap();
    fs::write(legacy.path().join("empty.jsonl"), "").unwrap();
    fs::write(legacy.path().join("x.trajectory.jsonl"), "{}\n").unwrap();
    let mut files = staged(legacy.path());
    files.extend(staged(archive.path()));
    let plan = transfer::plan(&files, &HashMap::new(), &|| u64::MAX).unwrap();
    let keys: Vec<_> = plan
        .takeovers
        .iter()
        .map(|takeover| takeover.key.as_str())
        .collect();
    assert_eq!(
        keys,
        [
            "agent:main:main",
            "agent:main:imported:48a78773-6eca-4341-ad12-7fb0c94142cd"
        ]
    );
    assert_eq!(plan.takeovers[0].entry.counted().messages, 6);
    assert_eq!(
        plan.takeovers[0].entry.get::<f64>("estimatedCostUsd"),
        Some(0.042897)
    );
    assert_eq!(plan.takeovers[1].entry.archived_at(), Some(NOW));
    let reasons: Vec<_> = plan.skipped.iter().map(|skip| skip.name.as_str()).collect();
    assert_eq!(reasons, ["main/x.trajectory.jsonl", "main/empty.jsonl"]);

    // What is here already is not taken over again.
    let here = recorded("legacy");
    let (store, _) = Store::open(here.path(), AgentId::main(), NOW).unwrap();
    let existing = [(AgentId::main(), Existing::of(&store).unwrap())].into();
    let again = transfer::plan(&files[..2], &existing, &|| u64::MAX).unwrap();
    assert!(again.takeovers.is_empty());
    assert!(again.skipped[0].reason.contains("is here already"));
}
