//! What jobs come to, said on Telegram.

use integration_tests::{OpenClaw, Suite, processes, within};
use nix::sys::signal::Signal;
use scripted_model::Scenario;
use serde_json::Value;
use telegram_double::Fault;

use crate::telegram::{DAEMON, OWNER, Scene, texts};

/// The run of the job `name`, when it is over.
pub(crate) async fn run(suite: &Suite, name: &str) -> Value {
    suite.ctl(&["cron", "run", name]).await.ok();
    let over = async {
        loop {
            let history = ["cron", "history", name, "--json"];
            let runs = suite.ctl(&history).await.document();
            if !runs[0]["endedMs"].is_null() {
                return runs[0].clone();
            }
        }
    };
    within("the run is over", over).await
}

#[tokio::test]
async fn telegram_is_told_of_jobs_once_also_after_a_kill() {
    let scene = Scene::start().await;
    scene.double.open_chat(&OWNER.to_string());
    let to = format!("--announce=telegram:{OWNER}");
    let add = [
        "cron", "add", "look", "--name", "watch", "--every", "1h", &to,
    ];
    scene.suite.ctl(&add).await.ok();
    scene.model.push(Scenario::text("All is well."));
    let over = run(&scene.suite, "watch").await;
    assert_eq!(over["state"], "delivered", "{over}");
    scene.answered(OWNER, "[watch]\n\nAll is well.").await;

    // What there is to say outlives both who says it and who found it.
    let pid = scene.suite.seen_program(DAEMON).await;
    processes::send(pid, Signal::SIGKILL);
    scene.model.push(Scenario::text("Still well."));
    run(&scene.suite, "watch").await;
    let pid = scene.suite.seen_program("openclaw-gateway").await;
    processes::send(pid, Signal::SIGKILL);
    let said = scene.answered(OWNER, "[watch]\n\nStill well.").await;
    let expected = ["[watch]\n\nAll is well.", "[watch]\n\nStill well."];
    assert_eq!(texts(&said), expected);
    let noted = async {
        let history = ["cron", "history", "watch", "--json"];
        while scene.suite.ctl(&history).await.document()[0]["state"] != "delivered" {}
    };
    within("the delivery is in the history", noted).await;
}

#[tokio::test]
async fn telegram_is_told_where_a_session_was_last() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    scene.answered(OWNER, "Hello.").await;
    let remind = [
        "cron",
        "add",
        "--remind",
        "tea",
        "--name",
        "tea",
        "--every",
        "1h",
        "--announce",
    ];
    scene.suite.ctl(&remind).await.ok();
    let over = run(&scene.suite, "tea").await;
    assert_eq!(over["state"], "delivered", "{over}");
    scene.answered(OWNER, "tea").await;
}

#[tokio::test]
async fn telegram_that_takes_no_reminder_makes_none_delivered() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    scene.answered(OWNER, "Hello.").await;
    let remind = [
        "cron",
        "add",
        "--remind",
        "tea",
        "--name",
        "tea",
        "--every",
        "1h",
        "--announce",
    ];
    scene.suite.ctl(&remind).await.ok();
    let refusal = Fault::Refuse {
        code: 403,
        description: "Forbidden: bot was blocked by the user".to_owned(),
        retry_after: None,
    };
    scene.double.inject("sendMessage", refusal);
    let over = run(&scene.suite, "tea").await;
    assert_eq!(over["state"], "ran", "{over}");
    let why = over["reason"].as_str().unwrap_or_default();
    assert!(why.contains("blocked"), "{over}");
}

#[tokio::test]
async fn telegram_that_is_not_reached_is_named() {
    let scene = Scene::start().await;
    for (to, expected) in [
        ("discord:5", "no channel discord"),
        ("slack:#x", "no channel slack"),
    ] {
        let to = format!("--announce={to}");
        let add = [
            "cron", "add", "look", "--name", "lost", "--every", "1h", &to,
        ];
        let refused = scene.suite.ctl(&add).await;
        refused.complains(&[expected, "there are telegram"]);
    }
    let add = [
        "cron",
        "add",
        "look",
        "--name",
        "own",
        "--every",
        "1h",
        "--announce=agent:main:x",
    ];
    scene.suite.ctl(&add).await.ok();
    let Some(openclaw) = OpenClaw::at(&scene.suite).await else {
        return;
    };
    let owner = OWNER.to_string();
    let mut add = vec![
        "cron",
        "add",
        "--name",
        "far",
        "--every",
        "1h",
        "--message",
        "look",
    ];
    add.extend([
        "--announce",
        "--channel",
        "telegram",
        "--to",
        &owner,
        "--account",
        "work",
    ]);
    let refused = openclaw.cli(&add).await;
    let told = format!("{}{}", refused.stdout, refused.stderr);
    assert!(
        refused.code != 0 && told.contains("no account \"work\""),
        "{told}"
    );
}
