//! Scheduled jobs while the gateway comes and goes.

use integration_tests::{Setup, Socket, asked, processes, until};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// A suite that may say something on Telegram, which nobody answers.
pub(crate) fn with_telegram(model: &Server) -> Setup {
    let channel = json!({"botToken": "1:x", "apiRoot": "http://127.0.0.1:9",
        "accounts": {"home": {}, "old": {"enabled": false}}});
    Setup::anthropic(model).set("channels.telegram", channel)
}

pub(crate) fn job(name: &str, schedule: Value, message: &str) -> Value {
    json!({
        "name": name, "schedule": schedule, "sessionTarget": "isolated", "wakeMode": "now",
        "payload": {"kind": "agentTurn", "message": message},
    })
}

async fn entries(socket: &mut Socket, id: &Value) -> Vec<Value> {
    let runs = socket.call("cron.runs", json!({"id": id})).await;
    runs["entries"].as_array().cloned().unwrap_or_default()
}

/// Waits until the job's run has ended.
async fn ended(socket: &mut Socket, id: &Value) -> Value {
    let is_end = |frame: &Value| {
        frame["event"] == "cron"
            && frame["payload"]["action"] == "finished"
            && frame["payload"]["jobId"] == *id
    };
    if let Some(seen) = socket.seen.iter().find(|frame| is_end(frame)) {
        return seen["payload"].clone();
    }
    if let Some(entry) = entries(socket, id).await.first() {
        return entry.clone();
    }
    socket.event(is_end).await["payload"].clone()
}

/// Waits until a time in Unix milliseconds is past.
async fn is_past(at_ms: &Value) {
    let at_ms = at_ms.as_i64().unwrap();
    let now = || jiff::Timestamp::now().as_millisecond();
    until("a time that is past", || now() > at_ms).await;
}

#[tokio::test]
async fn jobs_outlive_the_suite_and_what_was_missed_runs_once() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let daily = json!({"kind": "cron", "expr": "30 7 * * 1-5", "tz": "Europe/Vienna"});
    let kept = socket
        .call("cron.add", job("daily", daily, "good morning"))
        .await;
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(1);
    let missed = json!({"kind": "at", "at": soon.to_string()});
    let mut missed = job("once", missed, "was it missed?");
    missed["payload"]["model"] = json!("anthropic/claude-other");
    let missed = socket.call("cron.add", missed).await;
    suite.terminate();
    socket.closed().await;
    let mut suite = suite;
    suite.ended().await;
    // It is due while nothing runs.
    is_past(&json!(soon.as_millisecond())).await;

    let suite = suite.restart().await;
    let mut socket = Socket::enter(&suite).await;
    let run = ended(&mut socket, &missed["id"]).await;
    assert_eq!(run["status"], "ok", "{run}");
    assert_eq!(run["summary"], "You said: was it missed?", "{run}");
    let asked = asked::turns(&model, 1).await;
    assert_eq!(asked[0].json()["model"], "claude-other");
    let listed = socket
        .call("cron.list", json!({"includeDisabled": true}))
        .await;
    let jobs = listed["jobs"].as_array().unwrap();
    let again = jobs.iter().find(|it| it["id"] == kept["id"]).unwrap();
    assert_eq!(again["schedule"], kept["schedule"], "{listed}");
    assert_eq!(again["nextRunAtMs"], kept["nextRunAtMs"], "{listed}");
    assert_eq!(entries(&mut socket, &missed["id"]).await.len(), 1);
    assert_eq!(model.turns().len(), 1);
}

#[tokio::test]
async fn ws_schedule_no_job_runs_by_itself_while_the_scheduler_is_off() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("cron.enabled", false)
        .start()
        .await;
    let mut socket = Socket::enter(&suite).await;
    let often = json!({"kind": "every", "everyMs": 1000});
    let kept = socket.call("cron.add", job("often", often, "tick")).await;
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(100);
    let once = json!({"kind": "at", "at": soon.to_string()});
    let once = socket.call("cron.add", job("once", once, "tock")).await;
    suite
        .log
        .message("cron.enabled is false: no job runs by itself")
        .await;
    let status = socket.call("cron.status", json!({})).await;
    assert_eq!(status["enabled"], false, "{status}");
    assert_eq!(status["nextWakeAtMs"], Value::Null, "{status}");
    assert_eq!(status["jobs"], 2, "{status}");
    for command in ["status", "doctor"] {
        let said = suite.ctl(&[command]).await.stdout;
        assert!(said.contains("cron.enabled is false"), "{command}: {said}");
    }
    // What is started by hand runs, and is done after both would have been due.
    for job in [&kept, &once] {
        is_past(&job["nextRunAtMs"]).await;
    }
    let ran = run(&mut socket, &kept["id"]).await;
    assert_eq!(ran["status"], "ok", "{ran}");
    assert_eq!(entries(&mut socket, &kept["id"]).await.len(), 1);
    assert_eq!(entries(&mut socket, &once["id"]).await.len(), 0);
    assert_eq!(model.turns().len(), 1, "a job ran by itself");

    suite
        .ctl(&["config", "set", "cron.enabled", "true"])
        .await
        .ok();
    let missed = ended(&mut socket, &once["id"]).await;
    assert_eq!(missed["status"], "ok", "{missed}");
    let status = socket.call("cron.status", json!({})).await;
    assert_eq!(status["enabled"], true, "{status}");
}

#[tokio::test]
async fn isolated_run_reads_no_answers_of_those_before() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    let added = socket
        .call("cron.add", job("news", hourly, "what is new?"))
        .await;
    model.push(Scenario::text("The zebra escaped."));
    run(&mut socket, &added["id"]).await;
    model.push(Scenario::text("The heron came."));
    suite.say("Which bird is it?").await;
    let folder = suite.state().join("agents/main/sessions");
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let transcripts: Vec<String> = names.filter(|name| name.ends_with(".jsonl")).collect();
    assert_eq!(transcripts.len(), 2, "{transcripts:?}");
    for name in &transcripts {
        let path = json!({"path": format!("sessions/{name}")});
        model.push(Scenario::tool("memory_get", path.clone()));
        run(&mut socket, &added["id"]).await;
        let asked = asked::words(&model.turns().pop().unwrap());
        assert!(
            !asked.contains("zebra") && !asked.contains("heron"),
            "{asked}"
        );
        // Others read it.
        model.push(Scenario::tool("memory_get", path));
        suite.say("read it").await;
        let asked = asked::words(&model.turns().pop().unwrap());
        assert!(
            asked.contains("zebra") || asked.contains("heron"),
            "{asked}"
        );
    }
}

#[tokio::test]
async fn run_under_way_is_followed_by_the_next_gateway() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    let added = socket.call("cron.add", job("hourly", hourly, "look")).await;
    model.push(Scenario::held("All is well.", "gate"));
    socket.call("cron.run", json!({"id": added["id"]})).await;
    asked::turns(&model, 1).await;
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    socket.closed().await;
    // The next one is waited for by whoever asks it something.
    let mut socket = Socket::enter(&suite).await;
    model.release("gate");
    let run = ended(&mut socket, &added["id"]).await;
    assert_eq!(
        (&run["status"], &run["summary"]),
        (&json!("ok"), &json!("All is well.")),
        "{run}"
    );
    assert_eq!(entries(&mut socket, &added["id"]).await.len(), 1);
    assert_eq!(model.turns().len(), 1);
}

/// The gateway's own messages in a session.
async fn announced(socket: &mut Socket, key: &str) -> Vec<String> {
    let history = socket
        .call("chat.history", json!({"sessionKey": key}))
        .await;
    let messages = history["messages"].as_array().cloned().unwrap_or_default();
    let own = messages
        .iter()
        .filter(|message| message["model"] == "gateway-injected");
    own.filter_map(|message| message["content"][0]["text"].as_str())
        .map(str::to_owned)
        .collect()
}

/// Runs a job once more and waits for that run's end.
pub(crate) async fn run(socket: &mut Socket, id: &Value) -> Value {
    let begun = socket.call("cron.run", json!({"id": id})).await;
    let is_end = |frame: &Value| {
        frame["event"] == "cron"
            && frame["payload"]["action"] == "finished"
            && frame["payload"]["runId"] == begun["runId"]
    };
    socket.event(is_end).await["payload"].clone()
}

#[tokio::test]
async fn results_are_announced_where_the_job_says() {
    let model = Server::start().await.unwrap();
    let suite = with_telegram(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    let mut params = job("weather", hourly, "how is the weather?");
    params["delivery"] = json!({"mode": "announce", "channel": "last"});
    let added = socket.call("cron.add", params).await;
    let id = &added["id"];

    let told = run(&mut socket, id).await;
    assert_eq!(told["deliveryStatus"], "delivered", "{told}");
    let words = "[weather]\n\nYou said: how is the weather?";
    assert_eq!(announced(&mut socket, "main").await, [words]);
    let heard = |frame: &Value| {
        frame["event"] == "chat"
            && frame["payload"]["sessionKey"] == "agent:main:main"
            && frame["payload"]["message"]["content"][0]["text"] == words
    };
    assert!(socket.seen.iter().any(heard), "nobody was told");

    model.push(Scenario::text("NO_REPLY"));
    let silent = run(&mut socket, id).await;
    assert_eq!(silent["deliveryStatus"], "not-delivered", "{silent}");
    assert_eq!(silent["completionStatus"], "succeeded", "{silent}");
    assert_eq!(announced(&mut socket, "main").await.len(), 1);
    let last = model.turns().pop().unwrap();
    let sent = last.json()["messages"].as_array().unwrap().len();
    assert_eq!(sent, 1, "an isolated run begins without a history");

    let elsewhere = json!({"mode": "announce", "channel": "telegram", "to": "1"});
    let patch = json!({"id": id, "patch": {"delivery": elsewhere}});
    socket.call("cron.update", patch).await;
    assert_eq!(run(&mut socket, id).await["completionStatus"], "succeeded");
    // Until the gateway has heard that the channel is gone.
    let unset = ["config", "unset", "channels.telegram"];
    suite.ctl(&unset).await.ok();
    let failed = loop {
        let ended = run(&mut socket, id).await;
        if ended["completionStatus"] != "succeeded" {
            break ended;
        }
    };
    assert_eq!(failed["status"], "ok", "{failed}");
    assert_eq!(failed["completionStatus"], "failed", "{failed}");
    let error = failed["deliveryError"].as_str().unwrap();
    assert!(error.contains("telegram is not configured"), "{error}");
    let listed = socket.call("cron.get", json!({"id": id})).await;
    assert_eq!(
        listed["state"]["lastDeliveryStatus"], "not-delivered",
        "{listed}"
    );
}

#[tokio::test]
async fn failures_in_a_row_are_told_once_and_so_is_their_end() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut socket = Socket::enter(&suite).await;
    let hourly = json!({"kind": "every", "everyMs": 3_600_000});
    let mut params = job("backup", hourly, "[[scenario:401]]");
    params["delivery"] = json!({"mode": "announce"});
    let added = socket.call("cron.add", params).await;
    for _ in 0..3 {
        assert_eq!(run(&mut socket, &added["id"]).await["status"], "error");
    }
    let told = announced(&mut socket, "main").await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("[backup]\n\nThis job failed 2 times in a row: "),
        "{told:?}"
    );
    let patch = json!({"payload": {"kind": "agentTurn", "message": "NO_REPLY"}});
    socket
        .call("cron.update", json!({"id": added["id"], "patch": patch}))
        .await;
    model.push(Scenario::text("NO_REPLY"));
    assert_eq!(run(&mut socket, &added["id"]).await["status"], "ok");
    let told = announced(&mut socket, "main").await;
    assert_eq!(told.last().unwrap(), "[backup]\n\nThis job works again.");
}
