use super::*;

const NOW: i64 = 1_795_251_600_000;

fn params() -> Value {
    json!({
        "name": "t1", "schedule": {"kind": "every", "everyMs": 3_600_000},
        "sessionTarget": "isolated", "wakeMode": "now",
        "payload": {"kind": "agentTurn", "message": "ping"}, "delivery": {"mode": "none"},
    })
}

fn job() -> Job {
    Job::new("j".to_owned(), params(), NOW).unwrap()
}

#[test]
fn a_job_is_what_was_sent_with_its_next_time() {
    let json = job().to_json();
    assert_eq!(json["state"]["nextRunAtMs"], NOW + 3_600_000);
    assert_eq!(json["schedule"]["anchorMs"], NOW);
    assert_eq!(json["delivery"], json!({"mode": "none"}));
    assert_eq!(Job::read(&job().stored()), Some(job()));
}

#[test]
fn what_is_wrong_is_named() {
    let wrong = |name: &str, value: Value| {
        let mut params = params();
        params[name] = value;
        Job::new("j".to_owned(), params, NOW)
            .unwrap_err()
            .to_string()
    };
    assert!(wrong("sessionTarget", json!("elsewhere")).contains("sessionTarget"));
    assert!(wrong("wakeMode", json!("later")).contains("wakeMode"));
    assert!(wrong("payload", json!({"kind": "script"})).contains("payload"));
    assert!(wrong("unknown", json!(1)).contains("unexpected property 'unknown'"));
    assert!(wrong("schedule", json!({"kind": "cron", "expr": "x"})).contains("expr"));
    assert!(wrong("name", json!("")).contains("name"));
    assert!(wrong("trigger", json!({"script": "x"})).contains("trigger"));
    assert!(wrong("owner", json!({"agentId": "x"})).contains("owner"));
    assert!(wrong("scheduledToolPolicy", json!({})).contains("agents.list"));
    let narrowed = json!({"kind": "agentTurn", "message": "m", "toolsAllow": ["read"]});
    assert!(wrong("payload", narrowed).contains("toolsAllow"));
    assert!(wrong("delivery", json!({"mode": "webhook", "to": "x"})).contains("http"));
    assert!(wrong("delivery", json!({"mode": "later"})).contains("delivery"));
    assert!(wrong("failureAlert", json!({"mode": "webhook"})).contains("failureAlert"));
}

#[test]
fn a_change_of_a_part_leaves_the_rest() {
    let patch = |patch: Value| {
        job()
            .patched(patch.as_object().unwrap().clone(), NOW)
            .unwrap()
    };
    let said = patch(json!({"payload": {"kind": "agentTurn", "model": "a/b"}})).to_json();
    assert_eq!(
        said["payload"],
        json!({"kind": "agentTurn", "message": "ping", "model": "a/b"})
    );
    let told = patch(json!({"payload": {"kind": "systemEvent", "text": "x"}})).to_json();
    assert_eq!(told["payload"], json!({"kind": "systemEvent", "text": "x"}));
    let other = patch(json!({"delivery": {"mode": "announce"}})).to_json();
    assert_eq!(other["delivery"], json!({"mode": "announce"}));
}

#[test]
fn changes_take_effect_and_failures_switch_it_off() {
    let patch = json!({"enabled": false, "delivery": null});
    let off = job()
        .patched(patch.as_object().unwrap().clone(), NOW + 1)
        .unwrap();
    assert_eq!(off.next_ms(), None);
    assert_eq!(off.to_json().get("delivery"), None);
    assert_ne!(off.revision(), job().revision());

    let mut failing = job();
    for _ in 0..FAILURES_LIMIT {
        failing.begin(NOW);
        let ended = Ended {
            at_ms: NOW,
            took_ms: 1,
            error: Some("no".to_owned()),
            delivered: Delivered::NotRequested,
            is_skipped: false,
        };
        assert_eq!(failing.end(&ended, NOW), None);
    }
    assert!(!failing.enabled);
    assert_eq!(failing.last_status(), Some("error"));
}

#[test]
fn heartbeats_and_makers_are_not_for_clients_to_say() {
    let with = |name: &str, value: Value| {
        let mut params = params();
        params[name] = value;
        Job::new("j".to_owned(), params, NOW)
            .unwrap_err()
            .to_string()
    };
    assert!(with("payload", json!({"kind": "heartbeat"})).contains("agents.*.heartbeat"));
    let maker = json!({"agentId": "main", "sessionKey": "agent:main:main"});
    assert!(with("madeBy", maker).contains("madeBy"));
    let beat = Job::heartbeat("main", 1_800_000, NOW).unwrap();
    assert!(beat.is_heartbeat());
    assert_eq!(beat.next_ms(), Some(NOW + 1_800_000));
    assert_eq!(Job::read(&beat.stored()), Some(beat.clone()));
    let patch = json!({"payload": {"kind": "systemEvent", "text": "x"}});
    beat.patched(patch.as_object().unwrap().clone(), NOW)
        .unwrap_err();
    let made = job().made_by(Maker {
        agent_id: "main".to_owned(),
        session_key: "agent:main:main".to_owned(),
    });
    let patch = json!({"madeBy": null, "name": "other"});
    let patched = made
        .patched(patch.as_object().unwrap().clone(), NOW)
        .unwrap();
    assert_eq!(patched.maker(), made.maker());
}
