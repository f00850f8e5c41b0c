//! Heartbeats: no model is asked where there is nothing to do, and nobody is told
//! where there is nothing to say.

use integration_tests::{Setup, Socket, Suite, asked};
use scripted_model::{Scenario, Server, Usage};
use serde_json::{Value, json};

const NAME: &str = "Heartbeat (main)";

fn setup(model: &Server, heartbeat: Value) -> Setup {
    Setup::anthropic(model).set("agents.defaults.heartbeat", heartbeat)
}

/// Has the heartbeat look now; how that was.
async fn beat(suite: &Suite) -> Value {
    let before = runs(suite).await.len();
    while !suite.ctl(&["cron", "list"]).await.ok().contains(NAME) {}
    let mut socket = Socket::enter(suite).await;
    suite.ctl(&["cron", "run", NAME]).await.ok();
    loop {
        let runs = runs(suite).await;
        if runs.len() > before && !runs[0]["endedMs"].is_null() {
            return runs[0].clone();
        }
        socket.event(|frame| frame["event"] == "cron").await;
    }
}

/// The newest first.
async fn runs(suite: &Suite) -> Vec<Value> {
    let said = suite.ctl(&["cron", "history", "--json", "--limit", "100"]);
    said.await.document().as_array().cloned().unwrap()
}

#[tokio::test]
async fn heartbeat_with_nothing_to_do_asks_no_model() {
    let model = Server::start().await.unwrap();
    let suite = setup(&model, json!({"every": "1h"})).start().await;
    let missing = beat(&suite).await;
    assert_eq!(missing["state"], "skipped", "{missing}");
    suite.note("HEARTBEAT.md", "# Heartbeat\n\n- [ ]\n<!-- tasks -->\n");
    let empty = beat(&suite).await;
    assert_eq!(empty["reason"], "nothing to do (HEARTBEAT.md)", "{empty}");
    let mut socket = Socket::enter(&suite).await;
    let last = socket.call("last-heartbeat", json!({})).await;
    assert_eq!(last["status"], "skipped", "{last}");
    assert_eq!(model.requests().len(), 0);

    suite.note("HEARTBEAT.md", "- [ ] look at the mail\n");
    model.push(Scenario::text("HEARTBEAT_OK"));
    let asked = beat(&suite).await;
    assert_eq!(asked["state"], "ran", "{asked}");
    assert_eq!(asked["reason"], "silent", "{asked}");
    let words = asked::words(&model.turns()[0]);
    assert!(words.contains("- [ ] look at the mail"), "{words}");
    assert_eq!(model.turns().len(), 1);
}

#[tokio::test]
async fn heartbeat_asks_nobody_whom_its_gate_does_not_let_pass() {
    let model = Server::start().await.unwrap();
    let heartbeat = json!({"every": "1h", "gate": "test -e mail && cat mail"});
    let suite = setup(&model, heartbeat).start().await;
    suite.note("HEARTBEAT.md", "look at the mail\n");
    let shut = beat(&suite).await;
    assert_eq!(shut["reason"], "the gate says no", "{shut}");
    assert_eq!(model.requests().len(), 0);
    suite.note("mail", "from Ada\n");
    model.push(Scenario::text("Ada has written."));
    let open = beat(&suite).await;
    assert_eq!(open["state"], "delivered", "{open}");
    assert_eq!(open["summary"], "Ada has written.", "{open}");
    let words = asked::words(&model.turns()[0]);
    assert!(words.contains("from Ada"), "{words}");
}

#[tokio::test]
async fn heartbeat_is_told_what_waits_and_keeps_its_hours() {
    let model = Server::start().await.unwrap();
    let never = json!({"every": "1h", "activeHours": {"start": "08:00", "end": "08:00"}});
    let suite = setup(&model, never).start().await;
    let mut socket = Socket::enter(&suite).await;
    let event = json!({"text": "the door is open", "mode": "next-heartbeat"});
    socket.call("wake", event).await;
    let outside = beat(&suite).await;
    assert_eq!(outside["reason"], "outside activeHours", "{outside}");
    assert_eq!(model.requests().len(), 0);
    let always = "{\"every\": \"1h\", \"ackMaxChars\": 5}";
    suite
        .ctl(&["config", "set", "agents.defaults.heartbeat", always])
        .await
        .ok();
    model.push(Scenario::text("HEARTBEAT_OK The door stands open."));
    loop {
        let inside = beat(&suite).await;
        if inside["reason"] == "outside activeHours" {
            continue;
        }
        assert_eq!(inside["state"], "delivered", "{inside}");
        break;
    }
    let words = asked::words(&model.turns()[0]);
    assert!(words.contains("the door is open"), "{words}");
}

#[tokio::test]
async fn heartbeat_keeps_its_budget_of_the_day() {
    let model = Server::start().await.unwrap();
    let priced = json!({"id": "claude-sonnet-5", "cost": {"input": 1.0, "output": 10.0}});
    let suite = setup(&model, json!({"every": "1h", "costPerDay": 0.15}))
        .set("models.providers.anthropic.models", json!([priced]))
        .start()
        .await;
    suite.note("HEARTBEAT.md", "look at the mail\n");
    let usage = Usage {
        input: 100_000,
        output: 10_000,
        ..Usage::default()
    };
    model.push(Scenario::text("HEARTBEAT_OK").usage(usage));
    beat(&suite).await;
    let after = beat(&suite).await;
    assert_eq!(after["state"], "skipped", "{after}");
    let reason = after["reason"].as_str().unwrap();
    assert!(reason.contains("budget of the day"), "{reason}");
    assert_eq!(model.turns().len(), 1);
}

#[tokio::test]
async fn heartbeat_is_of_the_agents_that_have_one_and_not_for_clients_to_change() {
    let model = Server::start().await.unwrap();
    let list = json!([{"id": "main"}, {"id": "ops", "heartbeat": {"every": "2h"}}]);
    let suite = setup(&model, json!({"every": "1h", "runsPerDay": 3}))
        .set("agents.list", list)
        .start()
        .await;
    let listed = loop {
        let listed = suite.ctl(&["cron", "list"]).await.ok();
        if listed.contains("Heartbeat (ops)") {
            break listed;
        }
    };
    assert!(
        !listed.contains(NAME) && listed.contains("every 2h"),
        "{listed}"
    );
    let removed = suite.ctl(&["cron", "remove", "Heartbeat (ops)"]).await;
    assert!(
        removed.stderr.contains("agents.*.heartbeat"),
        "{}",
        removed.stderr
    );
    let paused = suite.ctl(&["cron", "pause", "Heartbeat (ops)"]).await;
    assert!(
        paused.stderr.contains("agents.*.heartbeat"),
        "{}",
        paused.stderr
    );
    suite
        .ctl(&["config", "set", "agents.list", "[]"])
        .await
        .ok();
    while !suite.ctl(&["cron", "list"]).await.ok().contains(NAME) {}
}

#[tokio::test]
async fn heartbeat_of_every_second_comes_by_itself() {
    let model = Server::start().await.unwrap();
    let heartbeat = json!({"every": "1s", "isolatedSession": true, "lightContext": true});
    let suite = setup(&model, heartbeat).start().await;
    suite.note("HEARTBEAT.md", "look at the mail\n");
    model.default(Scenario::text("NO_REPLY"));
    asked::turns(&model, 2).await;
    let sessions = suite.ctl(&["sessions", "list", "--json"]).await.document();
    assert!(
        sessions.to_string().contains("cron:heartbeat"),
        "{sessions}"
    );
}

/// A group hears nothing of a conversation that is not its own.
#[tokio::test]
async fn heartbeat_that_is_told_to_a_group_knows_what_a_group_may() {
    let told_to = async |to: &str, is_told: bool| {
        let model = Server::start().await.unwrap();
        let beats = json!({"every": "1h", "target": "telegram", "to": to});
        let channel = json!({"botToken": "1:x", "apiRoot": "http://127.0.0.1:9"});
        let suite = setup(&model, beats)
            .set("channels.telegram", channel)
            .note("MEMORY.md", "The safe opens with walrus-47.")
            .note("HEARTBEAT.md", "say how the safe opens\n")
            .start()
            .await;
        suite.say("the heron came").await;
        model.push(Scenario::text("It is open."));
        let told = beat(&suite).await;
        // There is no daemon that would say that it was delivered.
        assert_eq!(told["state"], "ran", "{told}");
        let asked = asked::words(&model.turns().pop().unwrap());
        assert_eq!(asked.contains("walrus-47"), is_told, "{to}: {asked}");
        assert_eq!(asked.contains("the heron came"), is_told, "{to}: {asked}");
    };
    // Each waits for that daemon as long as it may take.
    tokio::join!(
        told_to("5", true),
        told_to("-5", false),
        told_to("telegram:-5:topic:3", false)
    );
}
