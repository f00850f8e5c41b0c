use super::*;
use crate::state::FAILURES_LIMIT;

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
fn job_is_what_was_sent_with_its_next_time() {
    let json = job().to_json();
    assert_eq!(json["state"]["nextRunAtMs"], NOW + 3_600_000);
    assert_eq!(json["schedule"]["anchorMs"], NOW);
    assert_eq!(json["delivery"], json!({"mode": "none"}));
    assert_eq!(Job::read(&job().stored()), Some(job()));
    let mut hourly = params();
    hourly["schedule"] = json!({"kind": "cron", "expr": "0 * * * *"});
    let hourly = Job::new("j".to_owned(), hourly, NOW).unwrap();
    assert_eq!(hourly.to_json()["schedule"]["staggerMs"], 0);
}

#[test]
fn jobs_what_is_wrong_is_named() {
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
fn jobs_what_would_not_be_obeyed_is_refused_by_its_name() {
    let event = |name: &str, value: Value| {
        let mut event = json!({"kind": "systemEvent", "text": "t"});
        event[name] = value;
        json!({"payload": event})
    };
    let reminder = json!({"payload": {"kind": "reminder", "text": "t", "timeoutSeconds": 5}});
    for (said, path) in [
        (json!({"declarationKey": 5}), "/declarationKey"),
        (json!({"deleteAfterRun": "maybe"}), "/deleteAfterRun"),
        (json!({"deleteAfterRun": true}), "/deleteAfterRun"),
        (json!({"agentId": 7}), "/agentId"),
        (json!({"agentId": " "}), "/agentId"),
        (json!({"sessionKey": 7}), "/sessionKey"),
        (json!({"description": 7}), "/description"),
        (json!({"catchUpLimit": 5}), "/catchUpLimit"),
        (
            json!({"catchUp": "once", "catchUpLimit": 5}),
            "/catchUpLimit",
        ),
        (event("model", json!("a/b")), "/payload/model"),
        (event("thinking", json!("low")), "/payload/thinking"),
        (event("timeoutSeconds", json!(5)), "/payload/timeoutSeconds"),
        (event("lightContext", json!(true)), "/payload/lightContext"),
        (reminder, "/payload/timeoutSeconds"),
    ] {
        let mut fields = params();
        fields
            .as_object_mut()
            .unwrap()
            .extend(said.as_object().unwrap().clone());
        let refused = Job::new("j".to_owned(), fields, NOW)
            .unwrap_err()
            .to_string();
        assert!(refused.contains(path), "{said}: {refused}");
        let refused = job().patched(said.as_object().unwrap().clone(), NOW);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(path), "{said}: {refused}");
    }
    // What goes with another time goes with it.
    let mut once = params();
    once["schedule"] = json!({"kind": "at", "at": "in 5 minutes", "tz": "UTC"});
    once["deleteAfterRun"] = json!(true);
    let once = Job::new("j".to_owned(), once, NOW).unwrap();
    assert!(once.ends_with_its_run());
    let hourly = json!({"schedule": {"kind": "every", "everyMs": 3_600_000}});
    let hourly = once
        .patched(hourly.as_object().unwrap().clone(), NOW)
        .unwrap();
    assert_eq!(hourly.to_json().get("deleteAfterRun"), None);
}

#[test]
fn change_of_a_part_leaves_the_rest() {
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

    let beat = Job::heartbeat("main", 1_800_000, NOW).unwrap();
    let mut both = [job(), beat];
    for failing in &mut both {
        for number in 1..=FAILURES_LIMIT {
            failing.begin(NOW);
            // That it is not run any more is told in any case.
            let told = failing.end(&ended(Some("no")), &Alerts::default(), NOW);
            assert_eq!(told.is_some(), number == FAILURES_LIMIT, "{told:?}");
        }
        assert!(!failing.enabled);
        assert_eq!(failing.last_status(), Some("error"));
    }
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

/// When a job with that schedule comes first, or what is said against it.
fn first(schedule: Value) -> String {
    let mut params = params();
    params["schedule"] = schedule;
    let made = Job::new("j".to_owned(), params, NOW).and_then(|job| job.to_come(None, NOW));
    match made {
        Ok(job) => {
            let at = jiff::Timestamp::from_millisecond(job.next_ms().unwrap());
            at.unwrap().to_string()
        }
        Err(invalid) => invalid.to_string(),
    }
}

#[test]
fn job_is_made_of_a_schedule_that_comes_alone() {
    let berlin = |at: &str| json!({"kind": "at", "at": at, "tz": "Europe/Berlin"});
    let cron = |expr: &str| json!({"kind": "cron", "expr": expr, "tz": "Europe/Berlin"});
    let every = |ms: i64| json!({"kind": "every", "everyMs": ms});
    // It is Saturday, ten o'clock in Berlin.
    for (schedule, expected) in [
        (berlin("tomorrow 9:00"), "2026-11-22T08:00:00Z"),
        (berlin("9:00 tomorrow"), "2026-11-22T08:00:00Z"),
        (berlin("tonight"), "2026-11-21T19:00:00Z"),
        (berlin("today 8:00"), "is past"),
        (berlin("today morning"), "is past"),
        (berlin("2020-01-01T00:00"), "is past"),
        (berlin("2026-11-21"), "is past"),
        (berlin("in 0 minutes"), "schedule/at"),
        (berlin("yesterday"), "schedule/at"),
        (berlin(""), "schedule/at"),
        (berlin("2026-02-30 09:00"), "schedule/at"),
        (berlin("in 99999 years"), "schedule/at"),
        // Half a minute ago it was to come.
        (
            json!({"kind": "at", "at": "2026-11-21T08:59:30Z"}),
            "2026-11-21T08:59:30Z",
        ),
        (
            json!({"kind": "at", "at": "2026-11-21T08:58:59Z"}),
            "is past",
        ),
        // Clocks skip it, and show it twice.
        (berlin("2027-03-28 02:30"), "2027-03-28T01:00:00Z"),
        (berlin("2027-10-31 02:30"), "2027-10-31T00:30:00Z"),
        (berlin("2999-01-01T00:00"), "2998-12-31T23:00:00Z"),
        (every(0), "schedule/everyMs"),
        (every(-5), "schedule/everyMs"),
        (every(1), "schedule/everyMs: must be >= 1000"),
        (every(999), "schedule/everyMs: must be >= 1000"),
        (every(1000), "2026-11-21T09:00:01Z"),
        (every(8_639_999_999_913_600_000), "longer than calendars"),
        (every(i64::MAX), "longer than calendars"),
        (cron("30 2 * * *"), "2026-11-22T01:30:00Z"),
        (cron("@daily"), "2026-11-21T23:00:00Z"),
        (cron("0 9 29 2 *"), "2028-02-29T08:00:00Z"),
        (cron("0 9 L * *"), "2026-11-30T08:00:00Z"),
        (cron("0 9 * * MON#1"), "2026-12-07T08:00:00Z"),
        (cron("0 9 31 2 *"), "never comes"),
        (cron("0 9 31 4,6,9,11 *"), "never comes"),
        (cron("60 * * * *"), "minute, hour"),
        (cron("0 9 * * 8"), "minute, hour"),
        (cron("0 9 * * 5-1"), "minute, hour"),
        (cron("*/0 * * * *"), "minute, hour"),
        (cron("@reboot"), "minute, hour"),
        (cron("@every 5m"), "minute, hour"),
        (cron("0 9 * *"), "five fields, or six"),
        (cron(""), "five fields, or six"),
        (
            json!({"kind": "cron", "expr": "0 9 * * *", "tz": "Mars/Olympus"}),
            "schedule/tz",
        ),
        (
            json!({"kind": "cron", "expr": "0 9 * * *", "tz": "+02:00"}),
            "schedule/tz",
        ),
        (json!({"kind": "weekly"}), "schedule"),
        (json!({"kind": "at"}), "schedule"),
        (json!("tomorrow"), "schedule"),
    ] {
        let first = first(schedule.clone());
        assert!(first.contains(expected), "{schedule}: {first}");
    }
}

#[test]
fn job_that_is_over_can_be_changed_and_not_be_switched_on() {
    let mut params = params();
    params["schedule"] = json!({"kind": "at", "at": "2026-11-21T10:00:00Z"});
    let job = Job::new("j".to_owned(), params, NOW).unwrap();
    let later = NOW + 2 * 3_600_000;
    let changed = |from: &Job, patch: Value| {
        let patched = from.patched(patch.as_object().unwrap().clone(), later);
        patched.and_then(|it| it.to_come(Some(from), later))
    };
    let off = changed(&job, json!({"enabled": false})).unwrap();
    assert!(changed(&off, json!({"name": "other"})).is_ok());
    let again = json!({"schedule": {"kind": "at", "at": "2026-11-21T10:00:00Z"}});
    assert!(changed(&off, again).is_ok(), "it is declared again");
    let refused = changed(&off, json!({"enabled": true})).unwrap_err();
    assert!(refused.to_string().contains("is past"), "{refused}");
    let anew =
        json!({"enabled": true, "schedule": {"kind": "at", "at": "in 5 minutes", "tz": "UTC"}});
    assert_eq!(
        changed(&off, anew).unwrap().next_ms(),
        Some(later + 300_000)
    );
}

#[test]
fn job_that_ran_once_is_not_switched_on_for_the_same_time() {
    let at_ms = NOW + 3_600_000;
    let mut params = params();
    params["schedule"] = json!({"kind": "at", "at": "2026-11-21T10:00:00Z"});
    let job = Job::new("j".to_owned(), params, NOW).unwrap();
    let resumed = |from: &Job, now: i64| {
        let on = json!({"enabled": true});
        let patched = from.patched(on.as_object().unwrap().clone(), now);
        patched.and_then(|it| it.to_come(Some(from), now))
    };
    let off = json!({"enabled": false});
    let off = job.patched(off.as_object().unwrap().clone(), NOW).unwrap();
    // What was paused over its time is a little late.
    let late = resumed(&off, at_ms + 30_000).unwrap();
    assert_eq!(late.next_ms(), Some(at_ms));
    let mut ran = job.clone();
    assert_eq!(ran.fall_due(at_ms, CatchUp::Once).len(), 1);
    ran.begin(at_ms + 20);
    ran.end(&ended(None), &Alerts::default(), at_ms + 40);
    assert!(!ran.enabled && ran.ends_with_its_run());
    let refused = resumed(&ran, at_ms + 30_000).unwrap_err().to_string();
    assert!(
        refused.contains("is past: give it another time"),
        "{refused}"
    );
}

#[test]
fn job_that_runs_once_goes_away_unless_it_says_otherwise() {
    let once = json!({"kind": "at", "at": "2026-11-21T10:00:00Z"});
    let mut params = params();
    params["schedule"] = once.clone();
    for (said, expected) in [
        (Value::Null, true),
        (json!(true), true),
        (json!(false), false),
    ] {
        params["deleteAfterRun"] = said.clone();
        let job = Job::new("j".to_owned(), params.clone(), NOW).unwrap();
        assert_eq!(job.to_json()["deleteAfterRun"], json!(expected), "{said}");
        assert_eq!(job.ends_with_its_run(), expected, "{said}");
    }
    assert_eq!(job().to_json().get("deleteAfterRun"), None);
    let patch = json!({"schedule": once});
    let changed = job()
        .patched(patch.as_object().unwrap().clone(), NOW)
        .unwrap();
    assert!(changed.ends_with_its_run());
}

#[test]
fn job_that_went_over_its_budget_did_what_it_was_to_do_and_failed() {
    let mut job = job();
    let over = Ended {
        over_budget: Some("it cost too much".to_owned()),
        ..ended(None)
    };
    job.begin(NOW);
    let alerts = Alerts::default();
    job.end(&over, &alerts, NOW);
    assert_eq!(job.last_status(), Some("ok"));
    let state = &job.to_json()["state"];
    assert_eq!(state["lastError"], "it cost too much");
    assert_eq!(state["consecutiveErrors"], 1);
    for number in 2..=FAILURES_LIMIT {
        assert!(job.enabled, "{number}");
        job.begin(NOW);
        job.end(&over, &alerts, NOW);
    }
    assert!(!job.enabled);
}

fn ended(error: Option<&str>) -> Ended {
    Ended {
        at_ms: NOW,
        took_ms: 1,
        error: error.map(str::to_owned),
        over_budget: None,
        delivered: Delivered::NotRequested,
        is_skipped: false,
    }
}

#[test]
fn job_that_comes_too_often_since_earlier_can_be_switched_off() {
    let mut params = params();
    params["schedule"] = json!({"kind": "every", "everyMs": 20});
    let job = Job::new("j".to_owned(), params, NOW).unwrap();
    let changed = |patch: Value| {
        let patched = job.patched(patch.as_object().unwrap().clone(), NOW);
        patched.and_then(|it| it.to_come(Some(&job), NOW))
    };
    assert!(!changed(json!({"enabled": false})).unwrap().enabled);
    let sooner = json!({"schedule": {"kind": "every", "everyMs": 19}});
    let refused = changed(sooner).unwrap_err().to_string();
    assert!(refused.contains("no job runs more often"), "{refused}");
}

#[test]
fn job_whose_steps_led_too_far_since_earlier_can_be_switched_off() {
    let mut params = params();
    params["schedule"] = json!({"kind": "cron", "expr": "*/90 * * * *", "tz": "UTC"});
    let job = Job::new("j".to_owned(), params, NOW).unwrap();
    let made = job.clone().to_come(None, NOW).unwrap_err().to_string();
    assert!(made.contains("*/90 in the minutes"), "{made}");
    let off = json!({"enabled": false});
    let off = job.patched(off.as_object().unwrap().clone(), NOW).unwrap();
    assert!(!off.to_come(Some(&job), NOW).unwrap().enabled);
}

#[test]
fn job_that_led_nowhere_before_can_be_changed_otherwise() {
    let mut params = params();
    params["delivery"] = json!({"mode": "announce", "channel": "signal", "to": "5"});
    let alerts = Alerts::default();
    let channels = crate::route::tests::channels();
    let channels = (&channels, &alerts);
    let job = Job::new("j".to_owned(), params, NOW).unwrap();
    assert!(job.clone().leading(None, channels).is_err());
    let changed = |patch: Value| {
        let patched = job.patched(patch.as_object().unwrap().clone(), NOW);
        patched.and_then(|it| it.leading(Some(&job), channels))
    };
    assert!(changed(json!({"enabled": false})).is_ok());
    assert!(changed(json!({"delivery": {"channel": "telegram"}})).is_ok());
    let nobody = json!({"delivery": {"channel": "telegram", "to": null}});
    let refused = changed(nobody).unwrap_err().to_string();
    assert!(refused.starts_with("at /delivery/to: "), "{refused}");
}

#[test]
fn job_that_says_nothing_announces_nothing() {
    let channels = crate::route::tests::channels();
    let alerts = Alerts::default();
    let mut params = params();
    params["payload"] = json!({"kind": "systemEvent", "text": "t"});
    for (delivery, is_refused) in [
        (json!({"mode": "announce"}), true),
        (json!({"mode": "announce", "to": "telegram:5"}), true),
        (json!({"mode": "none"}), false),
        (json!({"mode": "webhook", "to": "https://e.org"}), false),
    ] {
        params["delivery"] = delivery.clone();
        let job = Job::new("j".to_owned(), params.clone(), NOW).unwrap();
        let led = job.clone().leading(None, (&channels, &alerts));
        assert_eq!(led.is_err(), is_refused, "{delivery}: {led:?}");
        job.clone()
            .leading(Some(&job), (&channels, &alerts))
            .unwrap();
    }
}
