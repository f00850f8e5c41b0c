//! The index.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use openclaw_sessions::store::{BackendSession, ListedEntry, Note, Notice, Patch, Store};
use openclaw_sessions::transcript::{self, Count, Transcript, Usage};
use openclaw_sessions::{AgentId, SessionKey};
use serde_json::{Value, json};

use crate::{NOW, open, recorded, user};

fn key(raw: &str) -> SessionKey {
    SessionKey::parse(raw, &AgentId::main()).unwrap()
}

fn store(dir: &Path) -> (Store, Vec<Notice>) {
    Store::open(dir, AgentId::main(), NOW).unwrap()
}

fn index(dir: &Path) -> Value {
    serde_json::from_slice(&fs::read(dir.join("sessions.json")).unwrap()).unwrap()
}

/// A session with one message, in the store and on disk.
fn session(store: &mut Store, dir: &Path, key: &SessionKey) -> String {
    let (entry, created) = store.resolve_or_create(key, NOW);
    assert!(created);
    let path = store.transcript_path(&entry);
    let origin = store.origin(key, &entry, dir);
    let mut transcript = Transcript::open(&path, origin).unwrap().transcript;
    transcript.append(vec![user("hi")], NOW).unwrap();
    entry.session_id().to_owned()
}

#[test]
fn store_what_a_list_has_of_a_session_is_kept_until_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = store(dir.path());
    let (main, other) = (key("main"), key("other"));
    session(&mut store, dir.path(), &main);
    let made = Cell::new(0);
    let listed = |store: &Store, key: &SessionKey| {
        let row = store.get(key).unwrap().listed(|entry| {
            made.set(made.get() + 1);
            ListedEntry {
                is_archived: entry.archived_at().is_some(),
                row: format!("{key} {:?}", entry.label()).into(),
            }
        });
        (
            row.is_archived,
            String::from_utf8(row.row.to_vec()).unwrap(),
        )
    };
    let first = (false, "agent:main:main None".to_owned());
    assert_eq!(listed(&store, &main), first);
    assert_eq!(listed(&store, &main), first);
    assert_eq!(made.get(), 1);

    store.get_mut(&main).unwrap().set("label", "garden");
    let named = (false, "agent:main:main Some(\"garden\")".to_owned());
    assert_eq!(listed(&store, &main), named);
    store.get_mut(&main).unwrap().set("archivedAt", NOW);
    assert!(listed(&store, &main).0);

    let moved = store.remove(&main).unwrap();
    store.insert(&other, moved);
    assert!(listed(&store, &other).1.starts_with("agent:main:other"));
}

#[test]
fn count_is_trusted_while_what_is_appended_follows_what_was_counted() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = store(dir.path());
    let main = key("main");
    session(&mut store, dir.path(), &main);
    let count = |bytes, messages| Count { bytes, messages };
    let known = |store: &Store| {
        let entry = store.get(&main).unwrap();
        (entry.counted(), entry.is_counted())
    };
    assert!(!known(&store).1);
    store.set_count(&main, count(100, 2));
    assert_eq!(known(&store), (count(100, 2), true));
    store.count_appended(&main, 100, 150, 3);
    assert_eq!(known(&store), (count(150, 5), true));
    // Somebody else appended: it has to be counted anew.
    store.count_appended(&main, 170, 200, 1);
    assert_eq!(known(&store), (count(150, 5), false));
    store.set_count(&main, count(150, 5));
    assert_eq!(known(&store), (count(150, 5), true));
    store.count_appended(&key("other"), 0, 10, 1);
    assert_eq!(store.len(), 1);
}

#[test]
fn session_is_created_once_and_kept_privately() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = dir.path().join("sessions");
    let (mut first, notices) = store(&sessions);
    assert!(notices.is_empty() && first.is_empty());
    let id = session(&mut first, dir.path(), &key("main"));
    assert!(first.is_dirty());
    first.flush().unwrap();
    assert!(!first.is_dirty());
    let mode = fs::metadata(sessions.join("sessions.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let (mut second, _) = store(&sessions);
    let (entry, created) = second.resolve_or_create(&key("agent:main:main"), NOW + 5);
    assert!(!created);
    assert_eq!(entry.session_id(), id);
    assert_eq!(entry.started_at(), Some(NOW));
    assert!(!second.is_dirty());
    assert_eq!(
        fs::read_dir(&sessions).unwrap().count(),
        2,
        "no temporary file stays"
    );
}

#[test]
fn missing_empty_or_broken_index_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first, _) = store(dir.path());
    let main = session(&mut first, dir.path(), &key("main"));
    let group = session(&mut first, dir.path(), &key("telegram:group:-7"));
    first.flush().unwrap();
    let path = dir.path().join("sessions.json");
    for broken in [None, Some(""), Some("{\"agent:main"), Some("[1]")] {
        match broken {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        let (rebuilt, notices) = store(dir.path());
        assert_eq!(rebuilt.get(&key("main")).unwrap().session_id(), main);
        assert_eq!(
            rebuilt.get(&key("telegram:group:-7")).unwrap().session_id(),
            group
        );
        assert!(rebuilt.is_dirty());
        assert_eq!(
            notices.last(),
            Some(&Notice::Rebuilt {
                sessions: 2,
                guessed: 0
            })
        );
        if broken.is_some_and(|text| !text.is_empty()) {
            let Notice::SetAside { path, reason } = &notices[0] else {
                panic!("the broken index is not kept: {notices:?}");
            };
            assert_eq!(fs::read_to_string(path).unwrap(), broken.unwrap());
            assert!(reason.contains("line 1"), "{reason}");
        }
    }
}

#[test]
fn store_what_was_taken_back_stays_so_in_a_rebuilt_index() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first, _) = store(dir.path());
    session(&mut first, dir.path(), &key("main"));
    let path = {
        let entry = first.get(&key("main")).unwrap();
        first.transcript_path(entry)
    };
    let change = |fields: &[(&str, Value)]| {
        let mut patch = Patch::default();
        for (name, value) in fields {
            patch.change(name, value).unwrap();
        }
        open(&path).transcript.append(patch.markers(), 1).unwrap();
        fs::remove_file(dir.path().join("sessions.json")).ok();
        let (rebuilt, _) = store(dir.path());
        let entry = rebuilt.get(&key("main")).unwrap().clone();
        (entry.model_override(), entry.get::<String>("thinkingLevel"))
    };
    let set = [
        ("model", json!("openai/gpt-5")),
        ("thinkingLevel", json!("high")),
    ];
    let expected = (Some("openai/gpt-5".to_owned()), Some("high".to_owned()));
    assert_eq!(change(&set), expected);
    let cleared = [("model", Value::Null), ("thinkingLevel", Value::Null)];
    assert_eq!(change(&cleared), (None, None));
}

#[test]
fn transcripts_without_a_key_are_guessed_and_said_so() {
    let dir = recorded("minimal");
    fs::remove_file(dir.path().join("sessions.json")).unwrap();
    let (rebuilt, notices) = store(dir.path());
    assert_eq!(
        notices,
        [Notice::Rebuilt {
            sessions: 2,
            guessed: 2
        }]
    );
    assert!(rebuilt.get(&key("main")).is_some());
    let recovered = rebuilt
        .sessions()
        .filter(|(key, _)| key.contains(":recovered:"));
    assert_eq!(recovered.count(), 1);
}

#[test]
fn entries_that_are_not_understood_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let odd = json!({
        "agent:main:main": { "sessionId": "../../etc/passwd", "updatedAt": 1 },
        "agent:main:x": "text",
        "Telegram:42": { "sessionId": "abc", "updatedAt": 2, "custom": [1] },
        "global": { "sessionId": "def", "updatedAt": 3 },
    });
    fs::write(dir.path().join("sessions.json"), odd.to_string()).unwrap();
    let (mut kept, notices) = store(dir.path());
    assert_eq!(notices, [Notice::Unusable { entries: 2 }]);
    assert_eq!(kept.get(&key("telegram:42")).unwrap().session_id(), "abc");
    kept.get_mut(&key("telegram:42")).unwrap().touch(9);
    let (entry, _) = kept.resolve_or_create(&key("main"), NOW);
    kept.flush().unwrap();
    let index = index(dir.path());
    assert_eq!(index["agent:main:x"], "text");
    assert_eq!(index["global"]["sessionId"], "def");
    assert_eq!(index["agent:main:telegram:direct:42"]["custom"], json!([1]));
    assert_eq!(index["agent:main:main"]["sessionId"], entry.session_id());
    assert_eq!(
        index["agent:main:main"]["openclawReplaced"],
        odd["agent:main:main"]
    );
}

#[test]
fn key_that_is_there_twice_is_told_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sessions.json");
    let written = r#"{"agent:main:main": {"sessionId": "one", "updatedAt": 1},
        "agent:main:other": {"sessionId": "two", "updatedAt": 1},
        "agent:main:main": {"sessionId": "three", "updatedAt": 1}}"#;
    fs::write(&path, written).unwrap();
    let (mut kept, notices) = store(dir.path());
    let [Notice::Twice { keys, path: aside }] = notices.as_slice() else {
        panic!("{notices:?}");
    };
    assert_eq!(keys, &["agent:main:main"]);
    assert_eq!(
        kept.get(&key("agent:main:main")).unwrap().session_id(),
        "three"
    );
    kept.flush().unwrap();
    assert_eq!(fs::read_to_string(aside).unwrap(), written);
    let (_, again) = store(dir.path());
    assert_eq!(again, [], "it is told once");
}

#[test]
fn sessions_with_one_conversation_are_told_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let entry =
        |id: &str, file: &str| json!({"sessionId": id, "sessionFile": file, "updatedAt": 1});
    let shared = json!({
        "agent:main:main": entry("one", "one.jsonl"),
        "agent:main:copy": entry("one", "one.jsonl"),
        "agent:main:id": entry("two", "a.jsonl"),
        "agent:main:same": entry("two", "b.jsonl"),
        "agent:main:file": entry("three", "c.jsonl"),
        "agent:main:other": entry("four", "/elsewhere/c.jsonl"),
        "agent:main:alone": entry("five", "five.jsonl"),
    });
    fs::write(dir.path().join("sessions.json"), shared.to_string()).unwrap();
    let (mut kept, notices) = store(dir.path());
    let said: Vec<String> = notices
        .iter()
        .map(|notice| match notice {
            Notice::Shared(shared) => shared.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "agent:main:copy and agent:main:main have one conversation (one.jsonl)",
        "agent:main:file and agent:main:other have one conversation (c.jsonl)",
        "agent:main:id and agent:main:same have one conversation (a.jsonl)",
    ];
    assert_eq!(said, expected);
    for (name, is_shared) in [
        ("copy", true),
        ("other", true),
        ("id", false),
        ("alone", false),
    ] {
        assert_eq!(kept.shares_transcript(&key(name)), is_shared, "{name}");
    }
    kept.get_mut(&key("alone")).unwrap().touch(9);
    kept.flush().unwrap();
    assert_eq!(index(dir.path()).as_object().unwrap().len(), 7);
    kept.remove(&key("copy"));
    assert!(!kept.shares_transcript(&key("main")));
}

#[test]
fn transcript_is_always_in_the_sessions_directory() {
    let dir = tempfile::tempdir().unwrap();
    for (file, expected) in [
        (json!("/somewhere/else/a.jsonl"), "a.jsonl"),
        (json!("../../a.jsonl"), "a.jsonl"),
        (json!("sessions.json"), "abc.jsonl"),
        (json!(".."), "abc.jsonl"),
        (json!(7), "abc.jsonl"),
    ] {
        let raw = json!({ "agent:main:main": {
            "sessionId": "abc", "updatedAt": 1, "sessionFile": file,
        }});
        fs::write(dir.path().join("sessions.json"), raw.to_string()).unwrap();
        let (store, _) = store(dir.path());
        let entry = store.get(&key("main")).unwrap();
        assert_eq!(store.transcript_path(entry), dir.path().join(expected));
    }
}

#[test]
fn backends_and_tokens_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first, _) = store(dir.path());
    session(&mut first, dir.path(), &key("main"));
    let session = BackendSession {
        id: "b-1".to_owned(),
        through_entry_id: "89f78814".to_owned(),
    };
    let entry = first.get_mut(&key("main")).unwrap();
    entry.set_backend_session("claude-cli", &session);
    entry.add_usage(&Usage::new(10, 2, 1, 0), 13);
    entry.add_usage(&Usage::new(5, 1, 0, 0), 6);
    let path = first.transcript_path(first.get(&key("main")).unwrap());
    let count = transcript::count(&path, Count::default()).unwrap();
    assert_eq!(count.messages, 1);
    first.set_count(&key("main"), count);
    first.flush().unwrap();
    let written = &index(dir.path())["agent:main:main"];
    assert_eq!(
        written["openclawBackendSessions"]["claude-cli"],
        json!({ "id": "b-1", "throughEntryId": "89f78814" })
    );
    assert_eq!(written["inputTokens"], 15);
    assert_eq!(written["totalTokens"], 6);
    let (second, _) = store(dir.path());
    let entry = second.get(&key("main")).unwrap();
    assert_eq!(
        entry.backend_sessions(),
        [("claude-cli".to_owned(), session)]
    );
}

#[test]
fn store_keeps_what_somebody_else_wrote_into_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let open = || self::store(folder.path()).0;
    let mut store = open();
    store.resolve_or_create(&key("main"), NOW);
    assert_eq!(store.flush().unwrap(), None);
    let path = folder.path().join("sessions.json");
    fs::write(&path, "{\"edited\": 1}").unwrap();
    store.resolve_or_create(&key("other"), NOW);
    let Some(Notice::Edited { path: kept }) = store.flush().unwrap() else {
        panic!("the change was not told of");
    };
    assert_eq!(fs::read_to_string(kept).unwrap(), "{\"edited\": 1}");
    assert_eq!(open().len(), 2);
    store.resolve_or_create(&key("third"), NOW);
    assert_eq!(store.flush().unwrap(), None, "told once");
}

/// An index whose file is large beside one entry.
fn many(dir: &Path) -> Store {
    let (mut store, _) = store(dir);
    for number in 0..40 {
        store.resolve_or_create(&key(&format!("s{number}")), NOW);
    }
    store.flush().unwrap();
    store
}

/// Changes a session as a message does, and notes it.
fn change(store: &mut Store, name: &str, tokens: u64, now: i64) -> Vec<Note> {
    let entry = store.get_mut(&key(name)).unwrap();
    entry.add_usage(&Usage::new(tokens, 0, 0, 0), tokens);
    entry.touch(now);
    let notes = store.notes().unwrap();
    store.noted();
    notes
}

fn tokens(store: &Store, name: &str) -> Option<u64> {
    store.get(&key(name))?.get("inputTokens")
}

#[test]
fn store_of_a_crash_has_what_was_noted() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = many(folder.path());
    assert!(!first.wants_file());
    let mut notes = change(&mut first, "s3", 7, NOW + 1);
    assert!(first.is_dirty() && first.has_notes() && !first.is_unnoted());
    notes.extend(change(&mut first, "s4", 8, NOW + 2));
    assert_eq!(notes.len(), 2, "each change is noted once");
    drop(first);
    let (mut second, _) = store(folder.path());
    assert_eq!(tokens(&second, "s3"), None);
    assert_eq!(second.bring_up_to_date(&notes), 2);
    assert_eq!(tokens(&second, "s3"), Some(7));
    assert_eq!(tokens(&second, "s4"), Some(8));
    assert!(second.wants_file(), "what was noted is to reach the file");
    second.flush().unwrap();
    assert!(!second.has_notes());
    assert_eq!(index(folder.path())["agent:main:s4"]["inputTokens"], 8);
}

#[test]
fn store_passes_over_notes_that_the_file_was_written_after() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = many(folder.path());
    let notes = change(&mut first, "s3", 7, NOW + 1);
    first.get_mut(&key("s3")).unwrap().set("label", "Kept");
    first.remove(&key("s4"));
    let gone = Note {
        key: "agent:main:s4".to_owned(),
        ..notes[0].clone()
    };
    first.flush().unwrap();
    let (mut second, _) = store(folder.path());
    assert_eq!(second.bring_up_to_date(&[notes[0].clone(), gone]), 0);
    let entry = second.get(&key("s3")).unwrap();
    assert_eq!(
        (entry.label(), tokens(&second, "s3")),
        (Some("Kept"), Some(7))
    );
    assert!(
        second.get(&key("s4")).is_none(),
        "a removed session came back"
    );
}

#[test]
fn store_of_many_sessions_wants_its_file_written_for_other_sessions_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = many(folder.path());
    for number in 0..400 {
        let notes = change(&mut store, &format!("s{}", number % 40), 1, NOW + number);
        assert_eq!(
            notes.len(),
            1,
            "each change is one note, however many there are"
        );
        assert!(!store.wants_file(), "after {number} changes");
    }
    assert!(store.is_dirty(), "the owner may write it all the same");
    store.resolve_or_create(&key("new"), NOW);
    assert!(store.wants_file(), "a note cannot name a session");
    store.flush().unwrap();
    store.remove(&key("new"));
    assert!(store.wants_file());
}

#[test]
fn store_of_few_sessions_wants_its_file_written_for_every_change() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = store(folder.path());
    store.resolve_or_create(&key("main"), NOW);
    store.flush().unwrap();
    store.get_mut(&key("main")).unwrap().touch(NOW + 1);
    assert!(store.wants_file());
}

#[test]
fn store_that_changed_is_behind_until_it_is_noted_or_written() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = store(dir.path());
    session(&mut store, dir.path(), &key("main"));
    let state = |store: &Store| (store.is_dirty(), store.is_unnoted(), store.has_notes());
    assert_eq!(state(&store), (true, true, false));
    store.flush().unwrap();
    assert_eq!(state(&store), (false, false, false));
    store.get_mut(&key("main")).unwrap().set("label", "a");
    assert_eq!(state(&store), (true, true, false));
    let notes = store.notes().unwrap();
    assert_eq!(notes.len(), 1);
    store.noted();
    assert_eq!(state(&store), (true, false, true));
    store.flush().unwrap();
    assert_eq!(state(&store), (false, false, false));
}

#[test]
fn session_is_found_by_key_id_label_or_beginning_of_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = store(dir.path());
    let (one, two) = (key("one"), key("two"));
    let id = session(&mut store, dir.path(), &one);
    session(&mut store, dir.path(), &two);
    store.get_mut(&one).unwrap().set("label", "Trip");
    let found = |store: &Store, text: &str| {
        let found = store.find(text).into_iter();
        found.map(|key| key.to_string()).collect::<Vec<_>>()
    };
    let first = ["agent:main:one"];
    for text in ["one", " agent:main:one ", id.as_str(), "trip", &id[..6]] {
        assert_eq!(found(&store, text), first, "{text}");
    }
    for text in ["three", &id[..5], "tri"] {
        assert_eq!(found(&store, text), [""; 0], "{text}");
    }
    assert_eq!(store.has_label("Trip", &two), Some("agent:main:one"));
    assert_eq!(store.has_label("Trip", &one), None);
    assert_eq!(store.has_label("trip", &two), None);
    store.get_mut(&one).unwrap().set("archivedAt", NOW);
    assert_eq!(store.has_label("Trip", &two), None, "archived");
    store.get_mut(&two).unwrap().set("label", "TRIP");
    assert_eq!(found(&store, "trip").len(), 2);
}

#[test]
fn canonical_key_comes_before_older_forms_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let of = |id: &str| json!({"sessionId": id, "updatedAt": 1});
    let older =
        json!({ "MAIN": of("older"), "agent:main:main": of("canonical"), "Other": of("other") });
    fs::write(dir.path().join("sessions.json"), older.to_string()).unwrap();
    let (store, _) = store(dir.path());
    assert_eq!(store.get(&key("main")).unwrap().session_id(), "canonical");
    assert_eq!(store.get(&key("other")).unwrap().session_id(), "other");
}

#[test]
fn label_is_known_to_a_rebuilt_index_until_it_is_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let (mut first, _) = store(dir.path());
    session(&mut first, dir.path(), &key("main"));
    let path = first.transcript_path(first.get(&key("main")).unwrap());
    for (label, expected) in [(json!("Trip"), Some("Trip")), (Value::Null, None)] {
        let mut patch = Patch::default();
        patch.change("label", &label).unwrap();
        open(&path).transcript.append(patch.markers(), 1).unwrap();
        fs::remove_file(dir.path().join("sessions.json")).ok();
        let (rebuilt, _) = store(dir.path());
        assert_eq!(rebuilt.get(&key("main")).unwrap().label(), expected);
    }
}

#[test]
fn exchanges_of_open_runs_and_those_before_a_reset_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir
        .path()
        .join("33333333-3333-4333-8333-333333333333.jsonl");
    let mut transcript = open(&path).transcript;
    let said = || {
        let all = openclaw_sessions::home::exchanges(&path, |run| run == "open").unwrap();
        let texts = all.into_iter().map(|exchange| exchange.user_text);
        texts.collect::<Vec<_>>()
    };
    let asked = |run: &str, text: &str| {
        transcript::Message::User(transcript::UserMessage::of_run(run, text, NOW))
    };
    let first = [
        asked("run-1", "first"),
        asked("open", "second"),
        asked("run-3", "third"),
    ];
    transcript.append(first, NOW).unwrap();
    assert_eq!(said(), ["first", "third"]);
    transcript
        .append(
            [transcript::Marker::Reset {
                reason: "new".to_owned(),
            }],
            NOW,
        )
        .unwrap();
    assert_eq!(said(), [""; 0]);
    transcript.append([asked("run-4", "fourth")], NOW).unwrap();
    assert_eq!(said(), ["fourth"]);
}
