//! Where scheduled jobs may tell what they find, and what a group may know of it.

use integration_tests::{Setup, Socket, asked};
use scripted_model::{Scenario, Server};
use serde_json::json;

use crate::ws_schedule::{job, run, with_telegram};

/// What others hear of it gets nothing that is the user's alone, as in a group's
/// session itself.
#[tokio::test]
async fn isolated_run_that_is_told_to_a_group_knows_what_a_group_may() {
    let model = Server::start().await.unwrap();
    let suite = with_telegram(&model)
        .note("MEMORY.md", "The safe opens with walrus-47.")
        .start()
        .await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    for (to, is_told) in [
        ("5", true),
        ("-5", false),
        ("telegram:-5:topic:3", false),
        ("@news", false),
    ] {
        let before = model.turns().len();
        let mut params = job("open", hourly.clone(), "how does the safe open?");
        params["delivery"] = json!({"mode": "announce", "channel": "telegram", "to": to});
        let added = socket.call("cron.add", params).await;
        model.push(Scenario::tool(
            "memory_search",
            json!({"query": "safe opens walrus"}),
        ));
        // Its end waits for a channel that is not there.
        socket.call("cron.run", json!({"id": added["id"]})).await;
        let turns = asked::turns(&model, before + 2).await;
        let asked = asked::words(turns.last().unwrap());
        assert_eq!(asked.contains("walrus-47"), is_told, "{to}: {asked}");
    }
    let group = "agent:main:telegram:group:-9";
    let mut params = job("in", hourly, "how does the safe open?");
    params["delivery"] = json!({"mode": "announce", "to": group});
    let added = socket.call("cron.add", params).await;
    run(&mut socket, &added["id"]).await;
    let asked = asked::words(&model.turns().pop().unwrap());
    assert!(!asked.contains("walrus-47"), "{asked}");
}

/// A conversation that others do not hear is told to none of them by a job.
#[tokio::test]
async fn group_is_told_nothing_of_another_conversation() {
    let model = Server::start().await.unwrap();
    let suite = with_telegram(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    let group = "agent:main:telegram:group:-9";
    let to = |to: &str| json!({"mode": "announce", "to": to});
    for (target, delivery) in [
        ("main", to("telegram:-9")),
        ("main", to("telegram:@news")),
        ("main", to(group)),
        ("session:work", to("telegram:-9:topic:4")),
        ("session:agent:main:telegram:group:-8", to("telegram:-9")),
        ("session:agent:main:telegram:group:-8", to(group)),
    ] {
        let mut params = job("tell", hourly.clone(), "what did we say?");
        params["sessionTarget"] = json!(target);
        params["delivery"] = delivery;
        let error = socket.fail("cron.add", params.clone()).await;
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("at /sessionTarget: must be isolated"),
            "{message}"
        );
        // One that is told nobody is not changed to one that is.
        let delivery = params["delivery"].take();
        let silent = socket.call("cron.add", params).await;
        let patch = json!({"id": silent["id"], "patch": {"delivery": delivery}});
        let error = socket.fail("cron.update", patch).await;
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("must be isolated"), "{message}");
    }
    let add = ["cron", "add", "look", "--every", "1h", "--session", "main"];
    let add = [&add[..], &["--announce=telegram:-9"]].concat();
    suite
        .ctl(&add)
        .await
        .ended(1)
        .complains(&["must be isolated"]);

    // What the group has said itself it may hear.
    suite
        .ctl(&["message", "--session", group, "the heron came"])
        .await
        .ok();
    let mut params = job("own", hourly, "which bird?");
    params["sessionTarget"] = json!(format!("session:{group}"));
    params["delivery"] = to("telegram:-9:topic:4");
    let added = socket.call("cron.add", params).await;
    let ran = run(&mut socket, &added["id"]).await;
    // Nobody is there who would say that it was.
    assert_eq!(ran["deliveryStatus"], "unknown", "{ran}");
    let asked = asked::words(&model.turns().pop().unwrap());
    assert!(asked.contains("the heron came"), "{asked}");
}

#[tokio::test]
async fn jobs_that_would_tell_nobody_are_refused_by_the_field() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    let good = job("good", hourly.clone(), "look");
    let good = socket.call("cron.add", good).await;
    let hook = json!({"mode": "webhook", "to": "https://e.org/h"});
    for (field, value, expected) in [
        (
            "delivery",
            json!({"mode": "announce", "channel": "signal", "to": "5"}),
            "/delivery/channel: there is no channel signal",
        ),
        (
            "delivery",
            json!({"mode": "announce", "channel": "telegram"}),
            "/delivery/to: must say whom",
        ),
        (
            "delivery",
            json!({"mode": "announce", "channel": "last", "to": "telegram:"}),
            "/delivery/to: must say whom",
        ),
        (
            "delivery",
            json!({"mode": "announce", "channel": "telegram", "to": "5"}),
            "/delivery/channel: channels.telegram is not configured",
        ),
        (
            "delivery",
            json!({"mode": "none", "failureDestination": {"to": "telegram:5"}}),
            "/delivery/failureDestination/channel: channels.telegram is not configured",
        ),
        (
            "failureAlert",
            json!({"channel": "telegram", "to": "5"}),
            "/failureAlert/channel: channels.telegram is not configured",
        ),
        (
            "delivery",
            json!({"mode": "announce", "to": "signal:5"}),
            "/delivery/to: there is no channel signal",
        ),
        (
            "delivery",
            json!({"mode": "none", "failureDestination": {"channel": "signal", "to": "5"}}),
            "/delivery/failureDestination/channel: there is no",
        ),
        (
            "delivery",
            json!({"mode": "none", "failureDestination": {"channel": "telegram"}}),
            "/delivery/failureDestination/to: must say whom",
        ),
        (
            "delivery",
            json!({"mode": "none", "failureDestination": {"to": "signal:5"}}),
            "/delivery/failureDestination/to: there is no",
        ),
        (
            "delivery",
            json!({"mode": "none", "failureDestination": {"mode": "shout"}}),
            "/delivery/failureDestination/mode: ",
        ),
        (
            "delivery",
            json!({"mode": "none", "failureDestination": {"room": "x"}}),
            "unexpected property 'room'",
        ),
        (
            "delivery",
            json!({"mode": "announce", "completionDestination": {"mode": "webhook"}}),
            "/delivery/completionDestination/to: ",
        ),
        (
            "delivery",
            json!({"mode": "none", "completionDestination": hook}),
            "/delivery/completionDestination: ",
        ),
        (
            "failureAlert",
            json!({"channel": "signal", "to": "5"}),
            "/failureAlert/channel: there is no",
        ),
        (
            "failureAlert",
            json!({"channel": "telegram"}),
            "/failureAlert/to: must say whom",
        ),
        (
            "failureAlert",
            json!({"channel": 5}),
            "/failureAlert/channel: must be a text",
        ),
        (
            "schedule",
            json!({"kind": "every", "everyMs": 1}),
            "/schedule/everyMs: must be >= 1000",
        ),
    ] {
        let mut params = job("bad", hourly.clone(), "look");
        params[field] = value.clone();
        let patch = json!({"id": good["id"], "patch": {field: value}});
        for (method, params) in [("cron.add", params), ("cron.update", patch)] {
            let error = socket.fail(method, params).await;
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(expected), "{method} {field}: {message}");
        }
    }
    let listed = socket.call("cron.list", json!({})).await;
    assert_eq!(listed["total"], 1, "{listed}");
    assert_eq!(
        socket.call("cron.get", json!({"id": good["id"]})).await,
        good
    );

    let to = |to: &str| format!("--announce={to}");
    for (option, expected) in [
        (to("telegram:"), "delivery/to: must say whom on telegram"),
        (
            to("telegram::topic:3"),
            "delivery/to: must say whom on telegram",
        ),
        (to("signal:5"), "there is no channel signal"),
        (to("telegram:5"), "channels.telegram is not configured"),
    ] {
        let add = ["cron", "add", "look", "--every", "1h", &option];
        suite.ctl(&add).await.ended(1).complains(&[expected]);
        let edit = ["cron", "edit", "good", &option];
        suite.ctl(&edit).await.ended(1).complains(&[expected]);
    }
    let often = ["cron", "add", "look", "--every", "1ms"];
    suite
        .ctl(&often)
        .await
        .ended(1)
        .complains(&["must be >= 1000"]);
}

#[tokio::test]
async fn jobs_are_told_as_accounts_that_are_there() {
    let model = Server::start().await.unwrap();
    let suite = with_telegram(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    for (account, expected) in [
        (json!(null), None),
        (json!("home"), None),
        (json!("default"), None),
        (
            json!("work"),
            Some("has no account \"work\"; there are home, old"),
        ),
        (
            json!("old"),
            Some("the account old of channels.telegram is switched off"),
        ),
    ] {
        let mut params = job("tell", hourly.clone(), "look");
        let place = json!({"channel": "telegram", "to": "5", "accountId": account});
        params["delivery"] = place.clone();
        params["delivery"]["mode"] = json!("announce");
        let Some(expected) = expected else {
            socket.call("cron.add", params).await;
            continue;
        };
        let mut failures = job("tell", hourly.clone(), "look");
        failures["failureAlert"] = place;
        for (params, field) in [(params, "delivery"), (failures, "failureAlert")] {
            let error = socket.fail("cron.add", params).await;
            let message = error["message"].as_str().unwrap();
            let expected = [&format!("/{field}/accountId: "), expected];
            assert!(expected.iter().all(|it| message.contains(it)), "{message}");
        }
    }
}

/// Where failures are told that the configuration alone says.
#[tokio::test]
async fn places_of_the_configuration_where_nobody_is_are_named() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("cron.failureAlert", json!({"channel": "slack", "to": "C1"}))
        .set(
            "agents.defaults.heartbeat",
            json!({"every": "0m", "target": "telegram"}),
        )
        .start()
        .await;
    let told = [
        "cron.failureAlert.channel",
        "there is no channel slack here",
    ];
    suite
        .ctl(&["config", "validate"])
        .await
        .ended(0)
        .complains(&told);
    let doctor = suite.ctl(&["doctor"]).await;
    for text in told {
        assert!(doctor.stdout.contains(text), "{doctor:?}");
    }
    suite
        .ctl(&["status"])
        .await
        .says(&["cron.failureAlert.channel"]);
    suite
        .ctl(&["config", "set", "cron.failureAlert.channel", "last"])
        .await
        .ok();
    let sound = suite.ctl(&["config", "validate"]).await.ended(0);
    assert!(!sound.stderr.contains("failureAlert"), "{sound:?}");
}
