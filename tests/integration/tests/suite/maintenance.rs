//! Old sessions (`session.maintenance`), and who shares one (`session.scope`).

use std::fs;
use std::path::PathBuf;

use integration_tests::{Setup, Site, Socket, Suite, seen, until};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

fn folder(site: &Site) -> PathBuf {
    site.state().join("agents/main/sessions")
}

fn index(site: &Site) -> Value {
    let text = fs::read_to_string(folder(site).join("sessions.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Writes an index of sessions that were silent for so many days.
fn put(site: &Site, sessions: &[(&str, i64)]) {
    let now = jiff::Timestamp::now().as_millisecond();
    let mut entries = json!({});
    let folder = folder(site);
    fs::create_dir_all(&folder).unwrap();
    for (number, (key, days)) in sessions.iter().enumerate() {
        let id = format!("00000000-0000-4000-8000-00000000000{number}");
        let at = now - days * DAY;
        entries[key] =
            json!({"sessionId": id, "sessionFile": format!("{id}.jsonl"), "updatedAt": at});
        let header = json!({
            "type": "session", "version": 3, "id": id, "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/",
        });
        fs::write(folder.join(format!("{id}.jsonl")), format!("{header}\n")).unwrap();
    }
    fs::write(folder.join("sessions.json"), entries.to_string()).unwrap();
}

/// Waits until the index is as wanted.
async fn becomes(suite: &Suite, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    seen(what, || Some(index(suite)).filter(&wanted)).await
}

fn names(site: &Site) -> Vec<String> {
    let files = fs::read_dir(folder(site)).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    files
        .map(|entry| name(entry).to_string_lossy().into_owned())
        .collect()
}

const OLD: [(&str, i64); 5] = [
    ("agent:main:main", 90),
    ("agent:main:work", 40),
    ("agent:main:hook:mail", 40),
    ("agent:main:telegram:direct:42", 90),
    ("agent:main:fresh", 1),
];

#[tokio::test]
async fn old_sessions_are_archived_and_those_of_hooks_removed() {
    let setup = Setup::offline().set("session.maintenance.pruneAfter", "30d");
    let site = setup.site();
    put(&site, &OLD);
    // A deleted transcript of long ago, and one of today.
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S.000Z");
    let archives = [
        "a.jsonl.deleted.2026-01-02T03-04-05.006Z.zst".to_owned(),
        format!("b.jsonl.reset.{now}.zst"),
    ];
    for name in &archives {
        fs::write(folder(&site).join(name), "x").unwrap();
    }
    let suite = Suite::start(site).await;
    let found = becomes(&suite, "an archived session", |index| {
        index["agent:main:work"]["archivedAt"].is_i64() && index["agent:main:hook:mail"].is_null()
    })
    .await;
    assert_eq!(found["agent:main:work"]["archiveReason"], "age-retention");
    for key in [
        "agent:main:main",
        "agent:main:telegram:direct:42",
        "agent:main:fresh",
    ] {
        assert!(found[key]["archivedAt"].is_null(), "{key}: {found}");
        assert!(found[key].is_object(), "{key}: {found}");
    }
    let files = names(&suite);
    let removed = "00000000-0000-4000-8000-000000000002.jsonl";
    assert!(!files.iter().any(|name| name == removed), "{files:?}");
    let deleted = |name: &&String| name.starts_with(&format!("{removed}.deleted."));
    assert_eq!(files.iter().filter(deleted).count(), 1, "{files:?}");
    assert!(
        archives.iter().all(|name| files.contains(name)),
        "kept for ever: {files:?}"
    );
    suite
        .log
        .message("old sessions were archived or removed")
        .await;

    // A message takes it out of the archive.
    suite
        .ctl(&["message", "--session", "agent:main:work", "hello"])
        .await
        .ok();
    let found = becomes(&suite, "a session that goes on", |index| {
        index["agent:main:work"]["archivedAt"].is_null()
    })
    .await;
    assert!(
        found["agent:main:work"]["archiveReason"].is_null(),
        "{found}"
    );

    let set = [
        "config",
        "set",
        "session.maintenance.resetArchiveRetention",
        "30d",
    ];
    suite.ctl(&set).await.ok();
    let is_gone = || !names(&suite).contains(&archives[0]);
    until("the old archive's end", is_gone).await;
    assert!(names(&suite).contains(&archives[1]));
}

#[tokio::test]
async fn maintenance_what_would_be_archived_is_only_said_in_mode_warn() {
    let setup = Setup::offline()
        .set("session.maintenance.mode", "warn")
        .set("session.maintenance.maxDiskBytes", "10b");
    let site = setup.site();
    put(&site, &OLD);
    let suite = Suite::start(site).await;
    let record = suite.log.record("a finding", |record| {
        record.to_string().contains("session.maintenance would")
    });
    let record = record.await.to_string();
    for said in [
        "archive agent:main:work",
        "remove agent:main:hook:mail",
        "of 10 bytes",
    ] {
        assert!(record.contains(said), "{said}: {record}");
    }
    let doctor = suite.ctl(&["doctor"]).await.stdout;
    assert!(doctor.contains("archive agent:main:work"), "{doctor}");
    let status = suite.ctl(&["status"]).await.stdout;
    assert!(status.contains("remove agent:main:hook:mail"), "{status}");
    let found = index(&suite);
    assert_eq!(found.as_object().unwrap().len(), OLD.len(), "{found}");
    assert!(!found.to_string().contains("archivedAt"), "{found}");
}

#[tokio::test]
async fn maintenance_nothing_is_archived_unless_the_configuration_says_so() {
    let site = Setup::offline().site();
    put(&site, &OLD);
    let suite = Suite::start(site).await;
    suite.say("hello").await;
    // Another session, so that there is a look at all of them.
    suite
        .ctl(&["message", "--session", "new", "hello"])
        .await
        .ok();
    let found = becomes(&suite, "the new session", |index| {
        index["agent:main:new"].is_object()
    })
    .await;
    assert!(!found.to_string().contains("archivedAt"), "{found}");
    assert_eq!(found.as_object().unwrap().len(), OLD.len() + 1, "{found}");
}

#[tokio::test]
async fn sessions_that_are_too_many_are_archived_and_busy_ones_stay() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("session.maintenance.maxEntries", 2)
        .start()
        .await;
    model.push(Scenario::held("I think about it.", "gate"));
    let mut busy = suite.begin(&["message", "--session", "busy", "hello"]);
    busy.hear("I").await;
    for session in ["one", "two", "three"] {
        suite
            .ctl(&["message", "--session", session, "hello"])
            .await
            .ok();
    }
    let is_archived = |index: &Value, name: &str| {
        index[format!("agent:main:{name}")]["archiveReason"] == "active-session-cap"
    };
    let found = becomes(&suite, "two archived sessions", |index| {
        is_archived(index, "one") && is_archived(index, "two")
    })
    .await;
    assert!(!is_archived(&found, "busy"), "{found}");
    assert!(!is_archived(&found, "three"), "{found}");
    model.release("gate");
    busy.end().await.ok();
}

#[tokio::test]
async fn files_that_take_too_much_go_oldest_first() {
    let setup = Setup::offline().set("session.maintenance.maxDiskBytes", "40kb");
    let site = setup.site();
    put(&site, &OLD);
    let archive = |day: u32| format!("s.jsonl.deleted.2026-01-0{day}T00-00-00.000Z.zst");
    for day in 1..=5 {
        fs::write(folder(&site).join(archive(day)), vec![0; 10 << 10]).unwrap();
    }
    let suite = Suite::start(site).await;
    let fits = || !names(&suite).contains(&archive(2));
    until("archives that are removed", fits).await;
    let files = names(&suite);
    assert!(!files.contains(&archive(1)), "{files:?}");
    assert!(
        files.contains(&archive(4)) && files.contains(&archive(5)),
        "{files:?}"
    );
    assert!(index(&suite)["agent:main:work"].is_object());
}

#[tokio::test]
async fn wrong_bounds_are_refused_by_their_key() {
    let suite = Setup::offline().start().await;
    for (key, value) in [
        ("session.maintenance.mode", "off"),
        ("session.maintenance.pruneAfter", "soon"),
        ("session.maintenance.pruneAfter", "0"),
        ("session.maintenance.maxEntries", "0"),
        ("session.maintenance.maxDiskBytes", "lots"),
        ("session.maintenance.highWaterBytes", "'-1'"),
        ("session.maintenance.resetArchiveRetention", "true"),
        ("session.scope", "everybody"),
    ] {
        let said = suite.ctl(&["config", "set", key, value]).await;
        said.ended(78).complains(&[key]);
    }
}

#[tokio::test]
async fn everybody_shares_one_conversation_where_the_scope_is_global() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("session.scope", "global")
        .set("session.mainKey", "home")
        .start()
        .await;
    suite.say("The word is xylophone.").await;
    for session in ["main", "agent:main:main", "global"] {
        suite
            .ctl(&["message", "--session", session, "And now?"])
            .await
            .ok();
    }
    let last = model.turns().pop().unwrap();
    assert!(last.json()["messages"].to_string().contains("xylophone"));
    // One of its own stays one.
    suite
        .ctl(&["message", "--session", "work", "hello"])
        .await
        .ok();
    let found = becomes(&suite, "both sessions", |index| {
        index["agent:main:work"].is_object()
    })
    .await;
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["agent:main:work", "global"], "{found}");
    let mut socket = Socket::enter(&suite).await;
    let agents = socket.call("agents.list", json!({})).await;
    assert_eq!(agents["scope"], "global", "{agents}");
    let shown = suite.ctl(&["sessions", "show", "main"]).await.ended(0);
    assert!(shown.stdout.contains("global"), "{shown}");
    let deleted = suite.ctl(&["sessions", "delete", "global"]).await;
    assert_ne!(deleted.code, 0, "{deleted}");
}
