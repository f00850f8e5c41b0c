//! What jobs are held to: budgets, times that are over, how times are spread.

use integration_tests::{OpenClaw, Setup, Suite};
use scripted_model::{Scenario, Server, Usage};
use serde_json::{Value, json};

/// The newest run, when it is over.
async fn last_run(suite: &Suite) -> Value {
    loop {
        let said = suite.ctl(&["cron", "history", "--json"]).await.document();
        let run = said[0].clone();
        if !run.is_null() && !run["endedMs"].is_null() {
            return run;
        }
    }
}

async fn listed(suite: &Suite) -> Value {
    suite.ctl(&["cron", "list", "--json"]).await.document()
}

/// $1 and $10 for a million tokens.
async fn priced(model: &Server) -> Suite {
    let priced = json!({"id": "claude-sonnet-5", "cost": {"input": 1, "output": 10}});
    let setup = Setup::anthropic(model).set("models.providers.anthropic.models", json!([priced]));
    setup.start().await
}

async fn run_with_budget(suite: &Suite, usd: &str) -> Value {
    let add = ["cron", "add", "look", "--name", "look", "--every", "1h"];
    let add = [&add[..], &["--budget-per-run", usd]].concat();
    suite.ctl(&add).await.ok();
    suite.ctl(&["cron", "run", "look"]).await.ok();
    last_run(suite).await
}

#[tokio::test]
async fn budget_of_a_run_bounds_its_answer_and_what_is_over_it_is_recorded() {
    let model = Server::start().await.unwrap();
    let suite = priced(&model).await;
    // More than was asked for.
    let usage = Usage {
        input: 100_000,
        output: 10_000,
        ..Usage::default()
    };
    model.push(Scenario::text("It is quiet.").usage(usage));
    let run = run_with_budget(&suite, "0.06").await;
    assert_eq!(run["state"], "ran", "{run}");
    assert_eq!(
        run["reason"], "the run cost $0.20, and its budget is $0.0600",
        "{run}"
    );
    assert_eq!(run["summary"], "It is quiet.", "{run}");
    let asked = model.turns()[0].json();
    let most = asked["max_tokens"].as_u64().unwrap();
    // What is asked costs something, too.
    assert!((1000..6000).contains(&most), "{most}");
    let shown = suite.ctl(&["cron", "show", "look"]).await.ok();
    assert!(shown.contains("the run cost $0.20"), "{shown}");
}

#[tokio::test]
async fn budget_that_does_not_pay_for_a_question_asks_nobody() {
    let model = Server::start().await.unwrap();
    let suite = priced(&model).await;
    let run = run_with_budget(&suite, "0.0001").await;
    assert_eq!(run["state"], "failed", "{run}");
    let reason = run["reason"].as_str().unwrap();
    for words in [
        "nothing was asked",
        "$0.0001 is allowed",
        "raise the job's budget",
        "--budget-per-run",
    ] {
        assert!(reason.contains(words), "{words}: {reason}");
    }
    assert!(
        !reason.contains("continue") && !reason.contains("session"),
        "{reason}"
    );
    assert_eq!(model.requests().len(), 0, "nobody was asked");
}

#[tokio::test]
async fn job_that_runs_once_goes_away_when_it_did_and_its_run_stays() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let once = ["cron", "add", "look around", "--name", "once", "--at", "1s"];
    suite.ctl(&once).await.ok();
    let run = last_run(&suite).await;
    assert_eq!(run["state"], "ran", "{run}");
    assert_eq!(listed(&suite).await, json!([]));
    let history = suite.ctl(&["cron", "history", "once"]).await.ok();
    assert!(history.contains("You said: look around"), "{history}");
    let gone = suite.ctl(&["cron", "remove", "once"]).await.stderr;
    assert!(gone.contains("there is no job \"once\""), "{gone}");

    // What failed is kept, and is not switched on for the time that is past.
    model.push(Scenario::failure(400));
    let failing = ["cron", "add", "look", "--name", "failing", "--at", "1s"];
    suite.ctl(&failing).await.ok();
    while last_run(&suite).await["state"] != "failed" {}
    let kept = listed(&suite).await;
    assert_eq!(kept[0]["name"], "failing", "{kept}");
    let resumed = suite.ctl(&["cron", "resume", "failing"]).await;
    assert!(
        resumed.stderr.contains("is past: give it another time"),
        "{}",
        resumed.stderr
    );
    // What is to be kept is.
    let kept = [
        "cron", "add", "tea", "--remind", "--name", "kept", "--at", "1s",
    ];
    let kept = [&kept[..], &["--keep-after-run"]].concat();
    suite.ctl(&kept).await.ok();
    while last_run(&suite).await["jobName"] != "kept" {}
    let there = listed(&suite).await;
    assert!(
        there
            .as_array()
            .unwrap()
            .iter()
            .any(|job| job["name"] == "kept")
    );
}

/// A run by hand is not the one of its time, which comes all the same.
#[tokio::test]
async fn job_that_runs_once_does_so_although_somebody_ran_it_before() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::held("By hand.", "gate"));
    let once = ["cron", "add", "look", "--name", "once", "--at", "2s"];
    suite.ctl(&once).await.ok();
    suite.ctl(&["cron", "run", "once"]).await.ok();
    let runs = async || {
        let said = suite.ctl(&["cron", "history", "--json"]).await.document();
        said.as_array().cloned().unwrap()
    };
    // Its time comes while that goes on.
    while runs().await.len() < 2 {}
    assert_eq!(runs().await[0]["state"], "due");
    model.release("gate");
    while runs().await[0]["endedMs"].is_null() {}
    let over = runs().await;
    let states = over.iter().map(|run| (&run["cause"], &run["state"]));
    let states: Vec<(&Value, &Value)> = states.collect();
    let (ran, hand, time) = (json!("ran"), json!("hand"), json!("schedule"));
    assert_eq!(states, [(&time, &ran), (&hand, &ran)], "{over:?}");
    while listed(&suite).await != json!([]) {}
}

#[tokio::test]
async fn command_that_is_silent_too_long_names_the_jobs_limit() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let add = [
        "cron",
        "add",
        "--command",
        "sleep 60",
        "--name",
        "still",
        "--every",
        "1h",
    ];
    let add = [&add[..], &["--no-output-timeout", "1s"]].concat();
    suite.ctl(&add).await.ok();
    suite.ctl(&["cron", "run", "still"]).await.ok();
    let run = last_run(&suite).await;
    assert_eq!(run["state"], "failed", "{run}");
    let reason = run["reason"].as_str().unwrap();
    assert!(
        reason.contains("the command was stopped: it printed nothing for"),
        "{reason}"
    );
    assert!(
        reason.contains("payload.noOutputTimeoutSeconds"),
        "{reason}"
    );
    assert!(
        !reason.contains("session") && !reason.contains("agents."),
        "{reason}"
    );
}

#[tokio::test]
async fn times_are_kept_as_the_command_line_of_openclaw_says_them() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let Some(openclaw) = OpenClaw::at(&suite).await else {
        return;
    };
    let add = async |name: &str, when: &[&str]| {
        let words = [
            "cron",
            "add",
            "--name",
            name,
            "--session",
            "isolated",
            "--message",
            "look",
        ];
        let words = [&words[..], when, &["--json"]].concat();
        openclaw.cli(&words).await.document()
    };
    let hourly = ["--cron", "0 * * * *", "--tz", "UTC"];
    let spread = add("spread", &[&hourly[..], &["--stagger", "10m"]].concat()).await;
    assert_eq!(spread["schedule"]["staggerMs"], 600_000, "{spread}");
    let later = spread["state"]["nextRunAtMs"].as_i64().unwrap() % 3_600_000;
    assert!((1..600_000).contains(&later), "{spread}");
    let exact = add("exact", &[&hourly[..], &["--exact"]].concat()).await;
    assert_eq!(
        exact["state"]["nextRunAtMs"].as_i64().unwrap() % 3_600_000,
        0
    );
    let unsaid = add("unsaid", &hourly).await;
    assert_eq!(unsaid["schedule"]["staggerMs"], 0, "{unsaid}");
    openclaw
        .cli(&["cron", "rm", unsaid["id"].as_str().unwrap()])
        .await
        .ok();
    let id = spread["id"].as_str().unwrap();
    let shown = openclaw.cli(&["cron", "show", id]).await.ok();
    assert!(!shown.contains("unavailable"), "{shown}");
    openclaw.cli(&["cron", "edit", id, "--exact"]).await.ok();
    let jobs = listed(&suite).await;
    let jobs = jobs.as_array().unwrap();
    let edited = jobs.iter().find(|job| job["id"] == spread["id"]).unwrap();
    assert_eq!(edited["schedule"]["staggerMs"], 0, "{edited}");
    assert_eq!(edited["nextRunAtMs"].as_i64().unwrap() % 3_600_000, 0);

    let once = add("once", &["--at", "1s"]).await;
    assert_eq!(once["deleteAfterRun"], true, "{once}");
    let run = last_run(&suite).await;
    assert_eq!(run["state"], "delivered", "{run}");
    let left = listed(&suite).await;
    assert_eq!(left.as_array().unwrap().len(), 2, "{left}");
    let id = once["id"].as_str().unwrap();
    let history = openclaw.cli(&["cron", "runs", "--id", id]).await.ok();
    assert!(history.contains("You said: look"), "{history}");
}
