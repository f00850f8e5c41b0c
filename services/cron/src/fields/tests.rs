use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    fields: Fields,
}

fn fields(arguments: &[&str]) -> Fields {
    let all = std::iter::once("add").chain(arguments.iter().copied());
    Line::try_parse_from(all).unwrap().fields
}

fn job() -> Job {
    Job {
        id: "i".to_owned(),
        name: "n".to_owned(),
        is_enabled: true,
        fields: json!({
            "schedule": {"kind": "every", "everyMs": 1}, "payload": {"kind": "agentTurn"},
        }),
        next_ms: None,
        is_running: false,
    }
}

#[test]
fn fields_of_new_is_a_whole_job() {
    let new = fields(&["--cron", "0 9 * * 1-5", "--tz", "Europe/Berlin"]);
    assert_eq!(
        new.of_new("what is new?").unwrap(),
        json!({
            "name": "what is new?", "wakeMode": "now", "sessionTarget": "isolated",
            "schedule": {"kind": "cron", "expr": "0 9 * * 1-5", "tz": "Europe/Berlin"},
            "payload": {"kind": "agentTurn", "message": "what is new?"},
            "delivery": {"mode": "none"},
        })
    );
    let event = fields(&["--every", "15m", "--event", "--announce"]);
    let event = event.of_new("look").unwrap();
    assert_eq!(
        event["payload"],
        json!({"kind": "systemEvent", "text": "look"})
    );
    assert_eq!(event["sessionTarget"], "main");
    assert_eq!(event["delivery"]["mode"], "announce");
    for ignored in [
        &["--event", "--model", "a/b"][..],
        &["--remind", "--timeout", "5m"],
        &["--remind", "--light-context"],
        &["--remind", "--thinking", "low"],
    ] {
        let line = [&["--every", "1h"], ignored].concat();
        let refused = fields(&line).of_new("look").unwrap_err().text();
        assert!(refused.contains(ignored[1]), "{refused}");
    }
    let keyed = fields(&[
        "--every",
        "1h",
        "--session",
        "agent:main:x",
        "--timeout",
        "1500ms",
    ]);
    let keyed = keyed.of_new("look").unwrap();
    assert_eq!(keyed["sessionTarget"], "session:agent:main:x");
    assert_eq!(keyed["payload"]["timeoutSeconds"], 2);
}

#[test]
fn fields_of_new_is_a_command_or_a_reminder() {
    let command = fields(&[
        "--every",
        "1h",
        "--command",
        "du -sh notes",
        "--webhook",
        "https://e.org/h",
        "--budget-per-day",
        "0.5",
        "--alert-after",
        "3",
    ]);
    let command = command.of_new("").unwrap();
    assert_eq!(
        command["payload"],
        json!({"kind": "command", "argv": ["sh", "-lc", "du -sh notes"]})
    );
    assert_eq!(command["name"], "du -sh notes");
    assert_eq!(
        command["delivery"],
        json!({"mode": "webhook", "to": "https://e.org/h"})
    );
    assert_eq!(command["budget"], json!({"perDayUsd": 0.5}));
    assert_eq!(command["failureAlert"], json!({"after": 3}));
    let reminder = fields(&[
        "--at",
        "tomorrow 9:00",
        "--remind",
        "--announce=telegram:12",
    ]);
    let reminder = reminder.of_new("call Ada").unwrap();
    assert_eq!(
        reminder["payload"],
        json!({"kind": "reminder", "text": "call Ada"})
    );
    assert_eq!(
        reminder["delivery"],
        json!({"mode": "announce", "channel": "last", "to": "telegram:12"})
    );
    let plain = fields(&["--at", "tomorrow 9:00", "--remind"])
        .of_new("call Ada")
        .unwrap();
    assert_eq!(plain["delivery"]["mode"], "announce");
    fields(&["--every", "1h", "--command", "x"])
        .of_new("y")
        .unwrap_err();
}

#[test]
fn fields_of_new_needs_a_text_and_a_time() {
    let no_text = fields(&["--every", "15m"]).of_new(" ").unwrap_err();
    assert!(no_text.text().contains("needs a text"));
    let no_time = fields(&[]).of_new("x").unwrap_err();
    assert!(no_time.text().contains("--every 15m"));
}

#[test]
fn fields_of_change_is_what_was_said() {
    let change = fields(&["--name", "other"])
        .of_change("", &Without::default(), &job())
        .unwrap();
    assert_eq!(change, json!({"name": "other"}));
    let change = fields(&["--model", "a/b"])
        .of_change("and now?", &Without::default(), &job())
        .unwrap();
    assert_eq!(
        change,
        json!({"payload": {"kind": "agentTurn", "message": "and now?", "model": "a/b"}})
    );
    fields(&[])
        .of_change("", &Without::default(), &job())
        .unwrap_err();
    fields(&["--tz", "UTC"])
        .of_change("", &Without::default(), &job())
        .unwrap_err();
}

#[derive(Parser)]
struct Edited {
    #[command(flatten)]
    fields: Fields,
    #[command(flatten)]
    without: Without,
}

#[test]
fn fields_of_change_takes_away_what_a_job_has() {
    let line = [
        "edit",
        "--no-budget",
        "--no-alert",
        "--no-model",
        "--no-thinking",
        "--no-timeout",
        "--no-light-context",
        "--no-wake-machine",
        "--no-delete-after-run",
    ];
    let Edited { fields, without } = Edited::try_parse_from(line).unwrap();
    assert_eq!(
        fields.of_change("", &without, &job()).unwrap(),
        json!({
            "budget": null, "failureAlert": null, "wakeSystem": null, "deleteAfterRun": false,
            "payload": {"kind": "agentTurn", "model": null, "thinking": null,
                "timeoutSeconds": null, "lightContext": null},
        })
    );
    for both in [
        ["--no-budget", "--budget-per-day=1"],
        ["--no-model", "--model=a/b"],
    ] {
        assert!(
            Edited::try_parse_from(["edit"].into_iter().chain(both)).is_err(),
            "{both:?}"
        );
    }
}

#[test]
fn amounts_and_words_that_are_none_are_refused() {
    for option in [
        "--budget-per-run=nan",
        "--budget-per-run=inf",
        "--budget-per-day=-inf",
        "--budget-per-day=1e999",
        "--budget-per-run=0",
        "--budget-per-run=-1",
        "--model=",
        "--thinking= ",
    ] {
        let refused = Line::try_parse_from(["add", option]);
        assert!(refused.is_err(), "{option}");
    }
    assert!(Line::try_parse_from(["add", "--budget-per-run=$0.5"]).is_ok());
}

#[test]
fn zone_alone_is_for_a_calendar() {
    let zone = fields(&["--tz", "UTC"]);
    let refused = |schedule: Value| {
        let job = Job {
            fields: json!({"schedule": schedule, "payload": {"kind": "agentTurn"}}),
            ..job()
        };
        let refused = zone.of_change("", &Without::default(), &job);
        refused.map_err(|failure| failure.text())
    };
    let at = refused(json!({"kind": "at", "at": "2030-01-01T00:00:00Z"})).unwrap_err();
    assert!(at.contains("--at WHEN --tz ZONE"), "{at}");
    let every = refused(json!({"kind": "every", "everyMs": 1})).unwrap_err();
    assert!(every.contains("spans of time"), "{every}");
    refused(json!({"kind": "cron", "expr": "0 9 * * *"})).unwrap();
}

#[test]
fn times_are_refused_what_they_do_not_have() {
    let refused = |line: &[&str]| fields(line).of_new("look").unwrap_err().text();
    for (line, words) in [
        (
            &["--every", "1h", "--tz", "Europe/Berlin"][..],
            "--tz is for",
        ),
        (&["--every", "1h", "--stagger", "30s"], "--stagger is for"),
        (&["--at", "9:00", "--exact"], "--exact is for"),
        (
            &["--every", "1h", "--no-output-timeout", "5s"],
            "--no-output-timeout is for a --command",
        ),
    ] {
        let said = refused(line);
        assert!(said.contains(words), "{line:?}: {said}");
    }
    let silent = fields(&[
        "--every",
        "1h",
        "--command",
        "x",
        "--no-output-timeout",
        "5s",
    ]);
    assert_eq!(
        silent.of_new("").unwrap()["payload"]["noOutputTimeoutSeconds"],
        5
    );
}

#[test]
fn calendar_is_spread_or_exact() {
    let schedule = |line: &[&str]| fields(line).of_new("look").unwrap()["schedule"].clone();
    let hourly = ["--cron", "0 * * * *", "--tz", "UTC"];
    assert_eq!(schedule(&hourly).get("staggerMs"), None);
    let spread = [&hourly[..], &["--stagger", "30s"]].concat();
    assert_eq!(schedule(&spread)["staggerMs"], 30_000);
    let exact = [&hourly[..], &["--exact"]].concat();
    assert_eq!(schedule(&exact)["staggerMs"], 0);
    let changed = |line: &[&str], kind: &str| {
        let mut job = job();
        job.fields["schedule"] = json!({"kind": kind});
        fields(line).of_change("", &Without::default(), &job)
    };
    assert_eq!(
        changed(&["--exact"], "cron").unwrap(),
        json!({"schedule": {"kind": "cron", "staggerMs": 0}})
    );
    for kind in ["every", "at"] {
        let refused = changed(&["--stagger", "1m"], kind).unwrap_err().text();
        assert!(refused.contains("--stagger is for"), "{refused}");
    }
}

#[test]
fn job_that_runs_once_is_kept_where_that_is_said() {
    let said = |line: &[&str]| {
        let line = [&["--at", "tomorrow 9:00"], line].concat();
        fields(&line)
            .of_new("look")
            .unwrap()
            .get("deleteAfterRun")
            .cloned()
    };
    assert_eq!(said(&[]), None);
    assert_eq!(said(&["--keep-after-run"]), Some(json!(false)));
    assert_eq!(said(&["--delete-after-run"]), Some(json!(true)));
}
