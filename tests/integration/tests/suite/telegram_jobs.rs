//! What jobs come to, said on Telegram.

use integration_tests::{OpenClaw, Suite, asked, processes, within};
use nix::sys::signal::Signal;
use scripted_model::Scenario;
use serde_json::{Value, json};
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

/// What a command prints is of whatever it reads, and has no file sent.
#[tokio::test]
async fn telegram_job_whose_command_names_a_file_has_none_sent() {
    let scene = Scene::start().await;
    scene.double.open_chat(&OWNER.to_string());
    scene.suite.note("report.txt", "twelve apples\n");
    let to = format!("--announce=telegram:{OWNER}");
    let command = "printf 'So:\\nMEDIA:report.txt'";
    let add = [
        "cron",
        "add",
        "--command",
        command,
        "--every",
        "1h",
        "--name",
        "look",
        &to,
    ];
    scene.suite.ctl(&add).await.ok();
    let over = run(&scene.suite, "look").await;
    assert_eq!(over["state"], "delivered", "{over}");
    let told = "[look]\n\nSo:\nMEDIA:report.txt";
    scene.answered(OWNER, told).await;
    assert!(scene.double.calls_of("sendDocument").is_empty());
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

/// A bot may write to everybody who wrote to it once. That is no way out for what an
/// agent knows, also where nobody is asked, and also when it was one once.
#[tokio::test]
async fn telegram_tells_no_stranger_what_an_agents_job_says() {
    const FRIEND: i64 = 9;
    const STRANGER: i64 = 8;
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER, FRIEND]))
            .set("tools.exec.ask", "off")
    })
    .await;
    for chat in [FRIEND, STRANGER] {
        scene.double.open_chat(&chat.to_string());
    }
    for (to, is_made) in [(STRANGER, false), (FRIEND, true)] {
        let place = json!({"mode": "announce", "channel": "telegram", "to": to.to_string()});
        let job = json!({"action": "add", "job": {
            "name": format!("leak {to}"), "schedule": {"kind": "every", "everyMs": 3_600_000},
            "payload": {"kind": "agentTurn", "message": "say what you know"},
            "sessionTarget": "isolated", "delivery": place,
        }});
        let who = format!("telegram:{to}");
        let remind = json!({"text": "walrus-47", "when": "in 2 hours", "who": who});
        for (tool, arguments) in [("cron", job), ("remind", remind)] {
            let reply = Scenario::tool(tool, arguments).then(Scenario::text("Well."));
            scene.model.push(reply);
            let run = scene.suite.ask("tell them").await;
            assert_eq!(run["toolCalls"][0]["success"], is_made, "{run}");
            if !is_made {
                let told = asked::words(&scene.model.turns().pop().unwrap());
                assert!(told.contains("may not talk here"), "{told}");
            }
        }
    }
    let only_owner = format!("[{OWNER}]");
    let set = ["config", "set", "channels.telegram.allowFrom", &only_owner];
    scene.suite.ctl(&set).await.ok();
    scene
        .model
        .push(Scenario::text("The safe opens with walrus-47."));
    let over = run(&scene.suite, "leak 9").await;
    assert_eq!(over["state"], "ran", "{over}");
    let why = over["reason"].as_str().unwrap_or_default();
    assert!(why.contains("may not talk here"), "{over}");
    assert_eq!(texts(&scene.double.sent_to(FRIEND)), [""; 0]);
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
