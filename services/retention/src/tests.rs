use serde_json::{Map, Value, json};

use super::*;
use openclaw_sessions::AgentId;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const NOW: i64 = 1_800_000_000_000;

fn ago(days: i64) -> i64 {
    NOW - days * 86_400_000
}

fn policy() -> Policy {
    Policy {
        prune_after: 30 * DAY,
        dashboards_after: Some(7 * DAY),
        runs_after: None,
        max_entries: 5000,
        preserve_recent: None,
    }
}

/// An index of sessions, each with what its entry says beside its id.
struct Index {
    _folder: tempfile::TempDir,
    store: Store,
}

fn index(sessions: &[(&str, Value)]) -> Index {
    let folder = tempfile::tempdir().unwrap();
    let entries: Map<String, Value> = sessions
        .iter()
        .enumerate()
        .map(|(number, (key, fields))| {
            let mut entry = fields.clone();
            entry["sessionId"] = json!(format!("id-{number}"));
            ((*key).to_owned(), entry)
        })
        .collect();
    let text = Value::Object(entries).to_string();
    std::fs::write(folder.path().join(openclaw_sessions::store::INDEX), text).unwrap();
    let (store, _) = Store::open(folder.path(), AgentId::main(), NOW).unwrap();
    Index {
        store,
        _folder: folder,
    }
}

fn plan(policy: &Policy, sessions: &[(&str, Value)], busy: &[&str]) -> Plan {
    let index = index(sessions);
    assert_eq!(index.store.len(), sessions.len());
    let busy = busy.iter().map(|key| (*key).to_owned()).collect();
    policy.plan(&index.store, &busy, NOW)
}

fn archived(plan: &Plan) -> Vec<(&str, &str)> {
    let words = plan.archive.iter();
    words.map(|(key, why)| (key.as_str(), why.word())).collect()
}

#[test]
fn maintenance_archives_conversations_and_removes_what_programs_left() {
    let old = json!({"updatedAt": ago(31)});
    let plan = plan(
        &policy(),
        &[
            ("agent:main:work", old.clone()),
            ("agent:main:fresh", json!({"updatedAt": ago(29)})),
            ("agent:main:cron:j", old.clone()),
            ("agent:main:hook:h", old.clone()),
            ("agent:main:subagent:s", old.clone()),
            ("agent:main:dashboard:d", json!({"updatedAt": ago(8)})),
            (
                "agent:main:archived",
                json!({"updatedAt": ago(99), "archivedAt": 5}),
            ),
            ("agent:main:timeless", json!({"updatedAt": 0})),
        ],
        &[],
    );
    assert_eq!(
        archived(&plan),
        [
            ("agent:main:dashboard:d", "stale-dashboard"),
            ("agent:main:work", "age-retention"),
        ]
    );
    let removed = [
        "agent:main:cron:j",
        "agent:main:hook:h",
        "agent:main:subagent:s",
    ];
    assert_eq!(plan.remove, removed);
    assert_eq!(plan.next_ms, Some(ago(29) + 30 * 86_400_000 + 1));
}

#[test]
fn maintenance_removes_isolated_runs_sooner() {
    let run = Policy {
        runs_after: Some(DAY),
        ..policy()
    };
    let sessions = [
        ("agent:main:cron:old", json!({"updatedAt": ago(2)})),
        ("agent:main:cron:busy", json!({"updatedAt": ago(2)})),
        ("agent:main:cron:fresh", json!({"updatedAt": ago(0)})),
        ("agent:main:work", json!({"updatedAt": ago(2)})),
    ];
    let plan = plan(&run, &sessions, &["agent:main:cron:busy"]);
    assert_eq!(plan.remove, ["agent:main:cron:old"]);
    assert!(plan.archive.is_empty(), "{plan:?}");
    assert_eq!(plan.next_ms, Some(ago(0) + 86_400_000 + 1));
}

#[test]
fn maintenance_leaves_what_is_protected() {
    let old = |more: Value| {
        let mut fields = json!({"updatedAt": ago(400)});
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        fields
    };
    let sessions = [
        ("agent:main:main", old(json!({}))),
        ("global", old(json!({}))),
        ("agent:main:pinned", old(json!({"pinnedAt": 1}))),
        ("agent:main:runs", old(json!({"status": "running"}))),
        ("agent:main:waits", old(json!({}))),
        (
            "agent:main:locked",
            old(json!({"modelSelectionLocked": true})),
        ),
        ("agent:main:direct:anna", old(json!({}))),
        ("agent:main:telegram:direct:42", old(json!({}))),
        ("agent:main:telegram:bot:direct:42", old(json!({}))),
        ("agent:main:telegram:group:-7", old(json!({}))),
        ("agent:main:matrix:room:r", old(json!({}))),
        ("agent:main:work:thread:9", old(json!({}))),
        ("agent:main:team", old(json!({"chatType": "group"}))),
        (
            "agent:main:mail",
            old(json!({"delivery": {"kind": "external"}})),
        ),
        ("agent:main:old", old(json!({"chatType": "direct"}))),
    ];
    let few = Policy {
        max_entries: 1,
        ..policy()
    };
    for policy in [policy(), few] {
        let plan = plan(&policy, &sessions, &["agent:main:waits"]);
        assert_eq!(archived(&plan), [("agent:main:old", "age-retention")]);
        assert_eq!(plan.remove, [""; 0]);
    }
    let recent = Policy {
        preserve_recent: Some(500 * DAY),
        ..policy()
    };
    assert!(plan(&recent, &sessions, &[]).is_empty());
    let cron = [("agent:main:cron:j", old(json!({"chatType": "group"})))];
    assert_eq!(plan(&recent, &cron, &[]).remove, ["agent:main:cron:j"]);
}

#[test]
fn maintenance_keeps_the_number_of_sessions_oldest_first() {
    let sessions: Vec<(String, Value)> = (0..6)
        .map(|number| {
            let fields = json!({"updatedAt": ago(number), "lastInteractionAt": ago(9 - number)});
            (format!("agent:main:s{number}"), fields)
        })
        .collect();
    let mut sessions: Vec<(&str, Value)> = sessions
        .iter()
        .map(|(key, fields)| (key.as_str(), fields.clone()))
        .collect();
    sessions.push(("agent:main:cron:j", json!({"updatedAt": ago(8)})));
    sessions.push(("agent:main:main", json!({"updatedAt": ago(20)})));
    let with = |max_entries| Policy {
        max_entries,
        ..policy()
    };
    assert!(plan(&with(8), &sessions, &[]).is_empty());
    let plan_of = plan(&with(5), &sessions, &[]);
    assert_eq!(plan_of.remove, ["agent:main:cron:j"]);
    // The last activity is the later of the two times.
    let oldest = [
        ("agent:main:s4", "active-session-cap"),
        ("agent:main:s5", "active-session-cap"),
    ];
    assert_eq!(archived(&plan_of), oldest);
    assert_eq!(with(49).high_water(), 50);
    assert_eq!(with(50).high_water(), 75);
    assert_eq!(with(5000).high_water(), 5500);
}

#[test]
fn maintenance_removes_old_probes_only_when_there_are_too_many() {
    let probe = "agent:main:explicit:model-run-0b1c7f0e-8a51-4c55-9d5b-3d6a6f3f8f11";
    let sessions = [
        (probe, json!({"updatedAt": ago(2)})),
        (
            "agent:main:explicit:model-run-x",
            json!({"updatedAt": ago(1)}),
        ),
    ];
    assert!(plan(&policy(), &sessions, &[]).is_empty());
    let few = Policy {
        max_entries: 1,
        ..policy()
    };
    let plan = plan(&few, &sessions, &[]);
    assert_eq!(
        (plan.remove, plan.archive),
        (vec![probe.to_owned()], vec![])
    );
}

#[test]
fn maintenance_keeps_a_probe_for_a_day() {
    let few = Policy {
        max_entries: 1,
        ..policy()
    };
    let old = "agent:main:old";
    let probe = "agent:main:explicit:model-run-0b1c7f0e-8a51-4c55-9d5b-3d6a6f3f8f11";
    for (age, removed) in [(86_400_000, false), (86_400_001, true)] {
        let probe_at = json!({"updatedAt": NOW - age});
        let sessions = [(probe, probe_at), (old, json!({"updatedAt": ago(5)}))];
        let plan = plan(&few, &sessions, &[]);
        assert_eq!(plan.remove.contains(&probe.to_owned()), removed, "{age}");
    }
}

#[test]
fn retention_only_sessions_that_were_too_many_may_be_evicted() {
    let index = index(&[
        (
            "agent:main:a",
            json!({"updatedAt": 1, "archivedAt": 2, "archiveReason": "active-session-cap"}),
        ),
        (
            "agent:main:b",
            json!({"updatedAt": 1, "archivedAt": 2, "archiveReason": "manual"}),
        ),
        ("agent:main:c", json!({"updatedAt": 1, "archivedAt": 2})),
        (
            "agent:main:d",
            json!({"updatedAt": 1, "archiveReason": "active-session-cap"}),
        ),
    ]);
    let none = BTreeSet::new();
    let evictable = index.store.sessions();
    let evictable: Vec<&str> = evictable
        .filter(|(key, entry)| may_be_evicted(key, entry, &none))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(evictable, ["agent:main:a"]);
}

#[test]
fn maintenance_knows_what_only_a_program_needed() {
    for rest in [
        "subagent:s",
        "acp:a",
        "cron:j",
        "acp-bridge:b",
        "hook:h",
        "node:n",
        "heartbeat",
        "work:heartbeat",
        "work:heartbeat:1",
        "explicit:model-run-0b1c7f0e-8a51-4c55-9d5b-3d6a6f3f8f11",
    ] {
        assert!(is_synthetic(rest), "{rest}");
    }
    for rest in [
        "work",
        "crons",
        "my-cron:j",
        "heartbeats",
        "heartbeat:1",
        "work:heartbeats",
        "explicit:model-run-0b1c7f0e8a514c559d5b3d6a6f3f8f11",
        "explicit:model-run-0b1c7f0e-8a51-4c55-9d5b-3d6a6f3f8fxx",
        "model-run-0b1c7f0e-8a51-4c55-9d5b-3d6a6f3f8f11",
    ] {
        assert!(!is_synthetic(rest), "{rest}");
    }
}

#[test]
fn maintenance_knows_keys_of_channels() {
    for rest in [
        "direct:anna",
        "telegram:direct:42",
        "telegram:dm:42",
        "slack:channel:c",
        "matrix:room:r",
        "telegram:bot:group:-7",
        "work:thread:9",
    ] {
        assert!(is_of_channel(rest), "{rest}");
    }
    for rest in [
        "work",
        "direct",
        "direct:",
        "group:7",
        "telegram:direct:",
        "telegram:direct",
        ":direct:42",
        "telegram:bot:group",
        "telegram:bot:more:group:7",
        "work:thread:",
        "work:threads:9",
    ] {
        assert!(!is_of_channel(rest), "{rest}");
    }
}

#[test]
fn maintenance_pins_hold_for_conversations_alone() {
    let old = json!({"updatedAt": ago(400), "pinnedAt": 1});
    let spawned = json!({"updatedAt": ago(400), "pinnedAt": 1, "spawnedBy": "agent:main:main"});
    let unlocked = json!({"updatedAt": ago(400), "modelSelectionLocked": false, "status": "done"});
    let sessions = [
        ("agent:main:pinned", old.clone()),
        ("agent:main:subagent:s", old),
        ("agent:main:spawned", spawned),
        ("agent:main:unlocked", unlocked),
    ];
    let plan = plan(&policy(), &sessions, &[]);
    let aged = |key| (key, "age-retention");
    assert_eq!(
        archived(&plan),
        [aged("agent:main:spawned"), aged("agent:main:unlocked")]
    );
    assert_eq!(plan.remove, ["agent:main:subagent:s"]);
    assert!(is_primary("agent:work:main", "main") && is_primary("global", "global"));
    assert!(!is_primary("main", "main") && !is_primary("agent:main:work", "work"));
}

#[test]
fn maintenance_is_due_when_the_next_is_too_old() {
    let day = 86_400_000;
    let next = |policy: &Policy, sessions: &[(&str, Value)], busy: &[&str]| {
        plan(policy, sessions, busy).next_ms
    };
    let dashboard = [("agent:main:dashboard:d", json!({"updatedAt": ago(1)}))];
    assert_eq!(next(&policy(), &dashboard, &[]), Some(ago(1) + 7 * day + 1));
    let none = Policy {
        dashboards_after: None,
        ..policy()
    };
    assert_eq!(next(&none, &dashboard, &[]), Some(ago(1) + 30 * day + 1));
    let kept = Policy {
        preserve_recent: Some(40 * DAY),
        ..policy()
    };
    assert_eq!(next(&kept, &dashboard, &[]), Some(ago(1) + 40 * day + 1));
    let cron = [("agent:main:cron:j", json!({"updatedAt": ago(2)}))];
    assert_eq!(next(&kept, &cron, &[]), Some(ago(2) + 30 * day + 1));
    assert_eq!(next(&kept, &cron, &["agent:main:cron:j"]), None);
    let main = [("agent:main:main", json!({"updatedAt": ago(2)}))];
    assert_eq!(next(&policy(), &main, &[]), None);
    let timeless = [("agent:main:work", json!({"updatedAt": 0}))];
    assert_eq!(next(&policy(), &timeless, &[]), None);
}

#[test]
fn maintenance_counts_age_to_the_millisecond() {
    let window = Duration::from_millis(10);
    assert!(is_before(89, 100, window));
    assert!(!is_before(90, 100, window));
    assert!(!is_before(0, 100, window));
    assert!(is_before(1, 100, window));
}
