//! Scheduled jobs: each planned time once, and what `openclawctl cron` does with
//! them.

use std::collections::BTreeMap;

use integration_tests::{OpenClaw, Setup, Socket, Suite, asked, processes, until};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// All runs that are known, the oldest first.
async fn runs(suite: &Suite) -> Vec<Value> {
    let said = suite.ctl(&["cron", "history", "--json", "--limit", "1000"]);
    let runs = said.await.document();
    let mut runs = runs.as_array().cloned().unwrap();
    runs.reverse();
    runs
}

fn in_ms(ms: i64) -> String {
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(ms);
    at.to_string()
}

#[tokio::test]
async fn jobs_that_are_due_together_run_once_each() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let at = in_ms(1500);
    for number in 0..6 {
        let text = format!("number {number}");
        suite.ctl(&["cron", "add", &text, "--at", &at]).await.ok();
    }
    asked::turns(&model, 6).await;
    let all_are_over = async || {
        let runs = runs(&suite).await;
        runs.len() == 6 && runs.iter().all(|run| run["state"] == "ran")
    };
    while !all_are_over().await {}
    let started = runs(&suite).await;
    for run in &started {
        let late = run["startedMs"].as_i64().unwrap() - run["plannedMs"].as_i64().unwrap();
        assert!((0..1000).contains(&late), "{run}");
    }
    assert_eq!(model.turns().len(), 6);
}

#[tokio::test]
async fn jobs_are_noted_once_when_the_gateway_is_restarted_meanwhile() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::held("All is well.", "gate"));
    suite
        .ctl(&["cron", "add", "look", "--name", "watch", "--every", "1h"])
        .await
        .ok();
    suite.ctl(&["cron", "run", "watch"]).await.ok();
    asked::turns(&model, 1).await;
    suite.terminate();
    suite.ended().await;
    model.release("gate");
    let suite = suite.restart().await;
    while runs(&suite).await[0]["endedMs"].is_null() {}
    let noted = runs(&suite).await;
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert_eq!(model.turns().len(), 1, "{noted:?}");
    let listed = suite.ctl(&["cron", "list"]).await.ok();
    assert!(!listed.contains("running"), "{listed}");
}

/// The gateway is killed again and again while a job of every second runs: no
/// planned time is missed, and none is asked about twice.
#[tokio::test]
async fn jobs_are_neither_missed_nor_doubled_by_kills() {
    const KILLS: u64 = 8;
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite
        .ctl(&["cron", "add", "tick", "--every", "1s", "--catch-up", "all"])
        .await
        .ok();
    for kill in 0..KILLS {
        let before = model.turns().len();
        until("another run", || model.turns().len() > before).await;
        // At another moment of a run each time.
        tokio::time::sleep(std::time::Duration::from_millis(kill * 37)).await;
        processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
        suite.ctl(&["cron", "list"]).await.ok();
    }
    suite.ctl(&["cron", "pause", "tick"]).await.ok();
    while runs(&suite)
        .await
        .iter()
        .any(|run| run["endedMs"].is_null())
    {}
    let noted = runs(&suite).await;
    let mut times = BTreeMap::new();
    for run in &noted {
        *times.entry(run["plannedMs"].as_i64().unwrap()).or_insert(0) += 1;
    }
    assert!(times.values().all(|rows| *rows == 1), "{noted:?}");
    let times: Vec<i64> = times.into_keys().collect();
    let gaps: Vec<i64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps.iter().all(|gap| *gap == 1000), "{gaps:?}");
    let ran = noted.iter().filter(|run| run["state"] == "ran").count();
    let failed = noted.iter().filter(|run| run["state"] == "failed").count();
    assert_eq!(failed, 0, "{noted:?}");
    assert_eq!(model.turns().len(), ran, "{noted:?}");
}

/// Kills of the gateway and the agent-runner at drawn moments while jobs of all
/// kinds are due each second: each planned time has one row and at most one started
/// run, no command runs twice, and no model is asked twice.
async fn killed(kills: u64) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let once = [
        "--every",
        "1s",
        "--catch-up",
        "all",
        "--catch-up-limit",
        "50",
    ];
    for kind in [
        &["quinces", "--name", "ask"][..],
        &["tell", "--name", "tell", "--event"],
        &["--command", "echo x >> ran", "--name", "command"],
        &["remind", "--name", "remind", "--remind"],
    ] {
        let line = [&["cron", "add"], kind, &once[..]].concat();
        suite.ctl(&line).await.ok();
    }
    let daemons = ["openclaw-gateway", "openclaw-agent-runner"];
    for kill in 0..kills {
        // Moments that look random and are the same in each run.
        let moment = kill.wrapping_mul(6_364_136_223_846_793_005) >> 33;
        tokio::time::sleep(std::time::Duration::from_millis(moment % 400)).await;
        processes::send(suite.daemon(daemons[(kill % 2) as usize]), Signal::SIGKILL);
        suite.ctl(&["cron", "list"]).await.ok();
    }
    for name in ["ask", "tell", "command", "remind"] {
        suite.ctl(&["cron", "pause", name]).await.ok();
    }
    while runs(&suite)
        .await
        .iter()
        .any(|run| run["endedMs"].is_null())
    {}
    let mut rows: BTreeMap<(String, i64), Vec<Value>> = BTreeMap::new();
    for run in runs(&suite).await {
        let job = run["jobId"].as_str().unwrap().to_owned();
        let planned = run["plannedMs"].as_i64().unwrap();
        rows.entry((job, planned)).or_default().push(run);
    }
    let mut begun: BTreeMap<String, usize> = BTreeMap::new();
    let mut last: Option<(String, i64)> = None;
    for ((job, planned), of_time) in &rows {
        assert_eq!(of_time.len(), 1, "{of_time:?}");
        if let Some((before, until)) = &last
            && before == job
        {
            assert_eq!(*planned, until + 1000, "{of_time:?}");
        }
        last = Some((job.clone(), of_time[0]["untilMs"].as_i64().unwrap()));
        let is_begun = !of_time[0]["startedMs"].is_null();
        *begun.entry(job.clone()).or_default() += usize::from(is_begun);
    }
    let listed = suite.ctl(&["cron", "list", "--json"]).await.document();
    let of = |name: &str| {
        let job = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|job| job["name"] == name);
        begun[job.unwrap()["id"].as_str().unwrap()]
    };
    let ran = suite.written("ran").unwrap_or_default().lines().count();
    let asked = model
        .turns()
        .iter()
        .filter(|turn| asked::words(turn).contains("quinces"))
        .count();
    eprintln!(
        "{kills} kills: {} rows, begun {begun:?}, commands ran {ran}, asked {asked}",
        rows.len()
    );
    assert!(ran <= of("command"), "{ran} of {begun:?}");
    assert!(asked <= of("ask"), "{asked} of {begun:?}");
}

#[tokio::test]
async fn jobs_of_all_kinds_outlive_kills() {
    killed(12).await;
}

/// By hand: it takes minutes.
#[tokio::test]
#[ignore = "takes minutes; named by hand"]
async fn jobs_of_all_kinds_outlive_300_kills() {
    killed(300).await;
}

#[tokio::test]
async fn jobs_are_kept_at_the_command_line() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let empty = suite.ctl(&["cron"]).await.ok();
    assert!(empty.contains("there is no job"), "{empty}");
    let added = suite
        .ctl(&[
            "cron",
            "add",
            "what",
            "is",
            "new?",
            "--cron",
            "0 9 * * 1-5",
            "--tz",
            "Europe/Berlin",
            "--name",
            "news",
        ])
        .await
        .ok();
    assert!(added.starts_with("added news ("), "{added}");
    suite
        .ctl(&["cron", "add", "call Ada", "--at", "tomorrow 9:00"])
        .await
        .ok();
    let listed = suite.ctl(&["cron", "list"]).await.ok();
    for words in ["news", "cron 0 9 * * 1-5 Europe/Berlin", "call Ada", "once"] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    suite
        .ctl(&[
            "cron",
            "edit",
            "news",
            "what is newer?",
            "--catch-up",
            "skip",
        ])
        .await
        .ok();
    let shown = suite.ctl(&["cron", "show", "news"]).await.ok();
    assert!(
        shown.contains("what is newer?") && shown.contains("skip"),
        "{shown}"
    );
    let paused = suite.ctl(&["cron", "pause", "news"]).await.ok();
    assert!(paused.contains("switched off"), "{paused}");
    suite.ctl(&["cron", "resume", "news"]).await.ok();
    suite.ctl(&["cron", "run", "news"]).await.ok();
    while runs(&suite).await[0]["endedMs"].is_null() {}
    let history = suite.ctl(&["cron", "history", "news"]).await.ok();
    assert!(history.contains("hand") && history.contains("You said: what is newer?"));
    let removed = suite.ctl(&["cron", "remove", "news", "call Ada"]).await;
    assert_eq!(removed.ok(), "removed news\nremoved call Ada\n");
    let gone = suite.ctl(&["cron", "show", "news"]).await;
    assert!(
        gone.stderr.contains("there is no job \"news\""),
        "{}",
        gone.stderr
    );
    for (wrong, words) in [
        (&["cron", "add", "x", "--at", "soon"][..], "tomorrow 9:00"),
        (&["cron", "add", "x"][..], "needs a time"),
        (&["cron", "add", "x", "--every", "often"][..], "15m"),
        (&["cron", "add", "x", "--cron", "x"][..], "schedule/expr"),
    ] {
        let said = suite.ctl(wrong).await;
        assert!(said.stderr.contains(words), "{wrong:?}: {}", said.stderr);
    }
}

#[tokio::test]
async fn jobs_are_kept_with_the_command_line_of_openclaw() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let Some(openclaw) = OpenClaw::at(&suite).await else {
        return;
    };
    let add = [
        "cron",
        "add",
        "--name",
        "watch",
        "--session",
        "isolated",
        "--every",
        "1h",
        "--message",
        "look around",
        "--json",
    ];
    let job = openclaw.cli(&add).await.document();
    let id = job["id"].as_str().unwrap();
    let listed = openclaw.cli(&["cron", "list"]).await.ok();
    assert!(listed.contains("watch"), "{listed}");
    openclaw.cli(&["cron", "disable", id]).await.ok();
    openclaw.cli(&["cron", "enable", id]).await.ok();
    openclaw.cli(&["cron", "run", id]).await.ok();
    asked::turns(&model, 1).await;
    while runs(&suite).await[0]["endedMs"].is_null() {}
    let history = openclaw.cli(&["cron", "runs", "--id", id]).await.ok();
    assert!(history.contains("look around"), "{history}");
    openclaw.cli(&["cron", "rm", id]).await.ok();
    let listed = suite.ctl(&["cron", "list", "--json"]).await.document();
    assert_eq!(listed, json!([]));
}

#[tokio::test]
async fn jobs_leave_a_mark_for_the_next_start_while_there_are_any() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mark = suite.state().join("state/scheduled");
    assert!(!mark.exists());
    suite
        .ctl(&["cron", "add", "x", "--every", "1h", "--name", "x"])
        .await
        .ok();
    assert!(mark.exists(), "a job is kept before a start knows of it");
    suite.ctl(&["cron", "remove", "x"]).await.ok();
    until("a mark that is gone", || !mark.exists()).await;
}

#[tokio::test]
async fn jobs_tell_an_event_that_outlives_a_kill() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    for (method, params) in [
        (
            "wake",
            json!({"text": "the door is open", "mode": "next-heartbeat"}),
        ),
        ("system-event", json!({"text": "the light is on"})),
    ] {
        socket.call(method, params).await;
    }
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    socket.closed().await;
    suite.say("what happened?").await;
    let asked = asked::words(&model.turns().pop().unwrap());
    assert!(asked.contains("the door is open"), "{asked}");
    assert!(asked.contains("the light is on"), "{asked}");
}
