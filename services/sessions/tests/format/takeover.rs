//! Sessions of other state directories, taken over and given away.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use openclaw_sessions::archive::{self, Why};
use openclaw_sessions::store::Store;
use openclaw_sessions::transcript::{Count, Transcript};
use openclaw_sessions::transfer::{
    self, Existing, Plan, Source, StagedFile, Takeover, exported_index, move_in, move_out,
};
use openclaw_sessions::{AgentId, SessionKey};
use serde_json::json;

use crate::{NOW, user};

/// A disk that takes everything.
const ROOMY: fn() -> u64 = || u64::MAX;

/// When the staged files were changed.
const CHANGED: i64 = NOW - 5000;

/// A sessions folder of another state directory.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A transcript of `words` bytes more than nothing, whose second line says
    /// `key` where there is one.
    fn transcript(&self, id: &str, key: Option<&str>, words: usize) -> PathBuf {
        let path = self.0.path().join(format!("{id}.jsonl"));
        let mut lines = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"\",\"cwd\":\"/\"}}\n"
        );
        if let Some(key) = key {
            let data = json!({ "sessionKey": key });
            let entry = json!({ "type": "custom", "id": "k", "parentId": null,
                "customType": "openclaw:session-key", "data": data });
            lines.push_str(&format!("{entry}\n"));
        }
        let message = json!({ "type": "message", "id": "m", "parentId": null,
            "message": { "role": "user", "content": "x".repeat(words) } });
        lines.push_str(&format!("{message}\n"));
        fs::write(&path, lines).unwrap();
        path
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn staged(&self, agent: &str) -> Vec<StagedFile> {
        let files = fs::read_dir(self.0.path()).unwrap().flatten();
        let mut staged: Vec<_> = files
            .map(|file| StagedFile {
                agent: agent.parse().unwrap(),
                name: file.file_name().into_string().unwrap(),
                path: file.path(),
                modified_ms: CHANGED,
            })
            .collect();
        staged.sort_by(|a, b| a.name.cmp(&b.name));
        staged
    }

    fn plan(&self, existing: Existing) -> Plan {
        let existing = HashMap::from([(AgentId::main(), existing)]);
        transfer::plan(&self.staged("main"), &existing, &ROOMY).unwrap()
    }
}

fn taken(plan: &Plan) -> Vec<(&str, &str, &str)> {
    let of = |one: &'_ Takeover| (one.entry.session_id().to_owned(), one.source);
    plan.takeovers
        .iter()
        .map(|one| {
            let (id, source) = of(one);
            assert_eq!(one.name, format!("{id}.jsonl"));
            assert_eq!(one.entry.text("sessionFile"), Some(one.name.as_str()));
            (one.entry.session_id(), one.key.as_str(), source.as_str())
        })
        .collect()
}

/// Why `name` is not taken over.
fn reason(plan: &Plan, name: &str) -> String {
    let mut skipped = plan.skipped.iter();
    let found = skipped.find(|skip| skip.name == format!("main/{name}"));
    found
        .unwrap_or_else(|| panic!("{name} was taken over: {plan:?}"))
        .reason
        .clone()
}

#[test]
fn sessions_are_taken_over_under_the_keys_that_the_index_has() {
    let folder = Folder::new();
    for id in ["a", "b", "c", "d"] {
        folder.transcript(id, Some("agent:main:named"), 5);
    }
    let entry = |id: &str| json!({ "sessionId": id, "updatedAt": 7, "label": id });
    let index = json!({
        "agent:main:main": entry("a"),
        "telegram:42": entry("b"),
        "agent:main:gone": entry("gone"),
        "agent:other:main": entry("c"),
        "agent:main:odd": "text",
        "agent:main:a::b": entry("d"),
    });
    folder.file("sessions.json", index.to_string().as_bytes());
    let plan = folder.plan(Existing::default());
    let expected = [
        ("a", "agent:main:main", "index"),
        ("b", "agent:main:telegram:direct:42", "index"),
        ("c", "agent:main:named", "transcript"),
        // One key, one session.
        ("d", "agent:main:imported:d", "transcript"),
    ];
    assert_eq!(taken(&plan), expected);
    let (indexed, found) = (&plan.takeovers[0], &plan.takeovers[2]);
    assert_eq!(indexed.entry.updated_at(), 7);
    assert_eq!(indexed.entry.label(), Some("a"));
    assert_eq!(found.entry.updated_at(), CHANGED, "no index dated it");
    assert_eq!(found.entry.label(), None);
    for takeover in &plan.takeovers {
        assert_eq!(takeover.entry.counted().messages, 1);
        assert!(takeover.entry.is_counted());
        assert!(takeover.staged.exists());
    }
    assert!(reason(&plan, "agent:main:gone").contains("gone.jsonl is not there"));
    assert!(reason(&plan, "agent:other:main").contains("agent other"));
    assert!(reason(&plan, "agent:main:odd").contains("not a session's"));
    assert!(reason(&plan, "agent:main:a::b").contains("empty part"));
    assert_eq!(plan.skipped.len(), 4);
}

#[test]
fn entries_of_others_bring_names_times_and_counts_alone() {
    let folder = Folder::new();
    folder.transcript("a", None, 5);
    let permissions = json!({
        "limits": { "costPerTurn": 99999 },
        "authProfileOverride": "x", "authProfileOverrideSource": "user",
        "modelOverride": "m", "providerOverride": "p",
        "sendPolicy": "allow", "groupActivation": "always", "thinkingLevel": "ultra",
        "execAsk": "off", "execSecurity": "full", "execHost": "gateway", "elevatedLevel": "full",
        "deliveryContext": { "channel": "telegram", "to": "666" },
        "lastChannel": "telegram", "lastTo": "666",
        "cliSessionIds": { "claude-cli": "--flag" },
        "openclawBackendSessions": { "claude-cli": { "id": "--flag", "throughEntryId": "m" } },
        "spawnedBy": "agent:main:main", "skillsSnapshot": { "prompt": "x" }, "fieldOfTomorrow": 1,
    });
    let mut entry = json!({ "sessionId": "a", "updatedAt": 7, "label": "Trip",
        "sessionStartedAt": 3, "totalTokens": 9, "chatType": "group" });
    let both = entry.as_object_mut().unwrap();
    both.extend(permissions.as_object().unwrap().clone());
    let index = json!({ "agent:main:main": entry });
    folder.file("sessions.json", index.to_string().as_bytes());
    let plan = folder.plan(Existing::default());
    let taken = &plan.takeovers[0].entry;
    let kept: HashMap<_, _> = taken.fields().collect();
    let expected = json!({ "label": "Trip", "sessionStartedAt": 3, "totalTokens": 9,
        "chatType": "direct", "sessionFile": "a.jsonl" });
    let expected: HashMap<_, _> = expected
        .as_object()
        .unwrap()
        .iter()
        .map(|(k, v)| (k.as_str(), v))
        .collect();
    assert_eq!(kept, expected);
    let left_out: Vec<&str> = plan.left_out.fields().map(|(name, _)| name).collect();
    let mut named: Vec<&str> = permissions
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    named.sort_unstable();
    assert_eq!(left_out, named, "all of them are told by name");
}

#[test]
fn sessions_are_taken_over_without_an_index_too() {
    for (index, part) in [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("{\"a", "line 1"),
    ] {
        let folder = Folder::new();
        folder.transcript("a", None, 5);
        folder.file("sessions.json", index.as_bytes());
        let plan = folder.plan(Existing::default());
        assert_eq!(taken(&plan), [("a", "agent:main:imported:a", "transcript")]);
        let reason = reason(&plan, "sessions.json");
        assert!(reason.contains(part), "{reason}");
        assert!(reason.contains("taken over without it"), "{reason}");
    }
}

#[test]
fn keys_of_ids_that_differ_in_case_alone_are_two() {
    let folder = Folder::new();
    let ids = ["abc", "aBc", "abC"];
    for id in ids {
        folder.transcript(id, None, 3);
    }
    let plan = folder.plan(Existing::default());
    assert_eq!(plan.skipped.len(), 0, "{:?}", plan.skipped);
    let mut keys: Vec<_> = plan.takeovers.iter().map(|it| it.key.as_str()).collect();
    keys.sort_unstable();
    let imported = "agent:main:imported:abc";
    let numbered = [2, 3].map(|number| format!("{imported}-{number}"));
    assert_eq!(keys, [imported, &numbered[0], &numbered[1]]);
}

#[test]
fn files_that_are_no_sessions_are_named_with_the_reason() {
    let folder = Folder::new();
    for (name, part) in [
        ("x.trajectory.jsonl", "traces of runs"),
        ("x.trajectory-path.json", "traces of runs"),
        ("sessions.json.corrupt-7", "set aside"),
        ("sessions.json.bak", "set aside"),
        ("x.tmp", "set aside"),
        ("notes.txt", "no session file"),
        ("empty.jsonl", "no session header"),
        ("broken.jsonl.zst", "cannot be unpacked"),
        (
            "x.jsonl.deleted.2026-11-20T23-38-10.633Z.1.zst",
            "cannot be unpacked",
        ),
    ] {
        // What a compressed file begins with, and nothing of one.
        let bytes: &[u8] = if name.ends_with(".zst") {
            b"\x28\xb5\x2f\xfdx"
        } else {
            b""
        };
        folder.file(name, bytes);
        let plan = folder.plan(Existing::default());
        assert!(plan.takeovers.is_empty());
        let reason = reason(&plan, name);
        assert!(reason.contains(part), "{name}: {reason}");
    }
}

#[test]
fn archives_are_taken_over_as_archived_and_under_keys_of_their_own() {
    let folder = Folder::new();
    // Longer than what is read at once, and shorter than real ones.
    let long = folder.transcript("long", Some("agent:main:main"), 5 << 20);
    archive::put_away(&long, Why::Deleted, NOW)
        .unwrap()
        .unwrap();
    let cold = folder.transcript("cold", None, 5);
    let put_away = archive::put_away(&cold, Why::Reset, NOW).unwrap().unwrap();
    fs::rename(put_away, folder.0.path().join("cold-storage.jsonl.zst")).unwrap();
    let older = folder.transcript("older", None, 5);
    fs::rename(&older, folder.0.path().join("older.jsonl.reset.once")).unwrap();
    let plan = folder.plan(Existing::default());
    let expected = [
        ("cold", "agent:main:imported:cold", "archive"),
        ("long", "agent:main:imported:long", "archive"),
        ("older", "agent:main:imported:older", "archive"),
    ];
    assert_eq!(taken(&plan), expected);
    let archived = |at: usize| plan.takeovers[at].entry.archived_at();
    assert_eq!(archived(1), Some(NOW), "the name says it");
    assert_eq!((archived(0), archived(2)), (Some(CHANGED), Some(CHANGED)));
    let length = |at: usize| fs::metadata(&plan.takeovers[at].staged).unwrap().len();
    assert!(length(1) > 5 << 20, "it is unpacked");
    assert!(plan.skipped.is_empty());

    // Its live transcript is there too: the archive is the same session.
    folder.transcript("cold", None, 5);
    folder.transcript("long", None, 5);
    let plan = folder.plan(Existing::default());
    let sources: Vec<_> = plan.takeovers.iter().map(|one| one.source).collect();
    assert_eq!(
        sources,
        [Source::Transcript, Source::Transcript, Source::Archive]
    );
    assert!(reason(&plan, "cold-storage.jsonl.zst").contains("cold is here already"));
}

#[test]
fn takeover_what_is_here_keeps_its_keys_and_is_not_taken_over_again() {
    let here = tempfile::tempdir().unwrap();
    let (mut store, _) = Store::open(here.path(), AgentId::main(), NOW).unwrap();
    let key = |name: &str| SessionKey::parse(name, &AgentId::main()).unwrap();
    let mut session = |name: &str, id: &str| store.create(&key(name), id.to_owned(), NOW);
    session("empty", "e");
    session("counted", "c");
    let written = session("written", "w");
    store.set_count(
        &key("counted"),
        Count {
            bytes: 9,
            messages: 1,
        },
    );
    let origin = store.origin(&key("written"), &written, here.path());
    let path = store.transcript_path(&written);
    Transcript::open(&path, origin)
        .unwrap()
        .transcript
        .append([user("hi")], NOW)
        .unwrap();
    fs::write(here.path().join("orphan.jsonl"), "").unwrap();
    let existing = Existing::of(&store).unwrap();

    let folder = Folder::new();
    for (id, name) in [
        ("1", "empty"),
        ("2", "counted"),
        ("3", "written"),
        ("4", "free"),
    ] {
        folder.transcript(id, Some(&format!("agent:main:{name}")), 5);
    }
    for id in ["c", "w", "orphan"] {
        folder.transcript(id, None, 5);
    }
    let plan = folder.plan(existing);
    let expected = [
        ("1", "agent:main:empty", "transcript"),
        ("2", "agent:main:imported:2", "transcript"),
        ("3", "agent:main:imported:3", "transcript"),
        ("4", "agent:main:free", "transcript"),
    ];
    assert_eq!(taken(&plan), expected);
    for id in ["c", "w", "orphan"] {
        let reason = reason(&plan, &format!("{id}.jsonl"));
        assert_eq!(reason, format!("session {id} is here already"));
    }
}

#[test]
fn agents_have_their_own_sessions() {
    let (main, ops) = (Folder::new(), Folder::new());
    main.transcript("a", Some("agent:main:x"), 5);
    ops.transcript("a", Some("agent:ops:x"), 5);
    let mut files = main.staged("main");
    files.extend(ops.staged("ops"));
    let plan = transfer::plan(&files, &HashMap::new(), &ROOMY).unwrap();
    let keys: Vec<_> = plan.takeovers.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["agent:main:x", "agent:ops:x"]);
    assert_eq!(plan.takeovers[1].staged, ops.0.path().join("a.jsonl"));
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[test]
fn files_are_moved_all_or_none_and_never_over_another() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for name in ["a", "b", "taken"] {
        fs::write(at(name), name).unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let moves = [(at("a"), at("new/folder/a")), (at("b"), at("taken"))];
    let error = move_in(&moves).unwrap_err();
    assert!(error.to_string().contains("taken"), "{error}");
    assert_eq!(text(&at("a")).as_deref(), Some("a"), "moved back");
    assert_eq!(text(&at("b")).as_deref(), Some("b"));
    assert_eq!(text(&at("taken")).as_deref(), Some("taken"));

    let moves = [(at("a"), at("new/folder/a")), (at("b"), at("other/b"))];
    move_in(&moves).unwrap();
    assert_eq!((text(&at("a")), text(&at("b"))), (None, None));
    for (path, expected) in [("new/folder/a", "a"), ("other/b", "b")] {
        assert_eq!(text(&at(path)).as_deref(), Some(expected));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&at(path)), 0o600);
        assert_eq!(mode(at(path).parent().unwrap()), 0o700);
    }
    fs::remove_file(at("new/folder/a")).unwrap();
    move_out(&moves).unwrap_err();
    assert_eq!(
        text(&at("b")).as_deref(),
        Some("b"),
        "what can be, is moved back"
    );
}

#[test]
fn export_has_what_openclaw_knows() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = Store::open(dir.path(), AgentId::main(), NOW).unwrap();
    let key = SessionKey::main(&AgentId::main());
    store.create(&key, "a".to_owned(), NOW);
    store.set_count(
        &key,
        Count {
            bytes: 9,
            messages: 1,
        },
    );
    let entry = store.get_mut(&key).unwrap();
    entry.set("openclawBackendSessions", json!({}));
    entry.set("label", "Trip");
    entry.set("sessionFile", "/somewhere/else/b.jsonl");
    let index = exported_index(store.sessions());
    let expected = json!({ "agent:main:main": {
        "sessionId": "a", "updatedAt": NOW, "sessionFile": "b.jsonl",
        "sessionStartedAt": NOW, "chatType": "direct", "label": "Trip",
    }});
    assert_eq!(serde_json::Value::Object(index), expected);
    let entry = store.get(&key).unwrap();
    assert_eq!(transfer::exported_name(entry), "b.jsonl");
}
