//! Scheduled jobs while the gateway comes and goes.

use integration_tests::{Setup, Socket, asked, processes, until};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// A suite that may say something on Telegram, which nobody answers.
fn with_telegram(model: &Server) -> Setup {
    let channel = json!({"botToken": "1:x", "apiRoot": "http://127.0.0.1:9",
        "accounts": {"home": {}, "old": {"enabled": false}}});
    Setup::anthropic(model).set("channels.telegram", channel)
}

fn job(name: &str, schedule: Value, message: &str) -> Value {
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
async fn no_job_runs_by_itself_while_the_scheduler_is_off() {
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
async fn an_isolated_run_reads_no_answers_of_those_before() {
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
async fn a_run_under_way_is_followed_by_the_next_gateway() {
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
async fn run(socket: &mut Socket, id: &Value) -> Value {
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

/// What others hear of it gets nothing that is the user's alone, as in a group's
/// session itself.
#[tokio::test]
async fn an_isolated_run_that_is_told_to_a_group_knows_what_a_group_may() {
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
        let mut params = job("open", hourly.clone(), "how does the safe open?");
        params["delivery"] = json!({"mode": "announce", "channel": "telegram", "to": to});
        let added = socket.call("cron.add", params).await;
        model.push(Scenario::tool(
            "memory_search",
            json!({"query": "safe opens walrus"}),
        ));
        run(&mut socket, &added["id"]).await;
        let asked = asked::words(&model.turns().pop().unwrap());
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
async fn a_group_is_told_nothing_of_another_conversation() {
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
    assert_eq!(ran["deliveryStatus"], "delivered", "{ran}");
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
