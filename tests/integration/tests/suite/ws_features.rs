//! What WebSocket clients can do.

use integration_tests::socket::Socket;
use integration_tests::{Setup, Suite, until};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::anthropic(&model).start().await, model)
}

fn send(session: &str, message: &str, id: &str) -> Value {
    json!({"sessionKey": session, "message": message, "idempotencyKey": id})
}

/// Waits until `count` messages were handed to turns that run.
pub(crate) async fn steering(suite: &Suite, count: usize) {
    let handed = || {
        let files = std::fs::read_dir(suite.state().join("state/turns"));
        let paths = files
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| file.path());
        let steering = paths.filter(|path| path.extension().is_some_and(|end| end == "steering"));
        let texts = steering.filter_map(|path| std::fs::read_to_string(path).ok());
        texts.map(|text| text.lines().count()).sum::<usize>()
    };
    until("messages for the turn", || handed() >= count).await;
}

fn text(end: &Value) -> &str {
    end["payload"]["message"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

#[tokio::test]
async fn same_key_is_the_same_run() {
    let (suite, model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let slow = send("main", "[[scenario:slow 60]] once", "k");
    assert_eq!(
        socket.call("chat.send", slow.clone()).await["status"],
        "started"
    );
    assert_eq!(
        socket.call("chat.send", slow.clone()).await["status"],
        "in_flight"
    );
    let end = socket.end_of("k").await;
    assert!(!text(&end).is_empty(), "{end}");
    assert_eq!(
        socket.call("chat.send", slow).await,
        json!({"runId": "k", "status": "ok"})
    );
    assert_eq!(
        model
            .requests()
            .iter()
            .filter(|request| request.turn)
            .count(),
        1
    );
    let waited = socket.call("agent.wait", json!({"runId": "k"})).await;
    assert_eq!(waited["status"], "ok", "{waited}");
}

#[tokio::test]
async fn deltas_add_up_and_every_client_hears_them() {
    let (suite, _model) = scene().await;
    let mut sender = Socket::enter(&suite).await;
    let mut other =
        Socket::enter_as(&suite, json!({"scopes": ["operator.read"], "caps": []})).await;
    sender
        .call("chat.send", send("main", "[[scenario:slow 20]] speak", "d"))
        .await;
    for socket in [&mut sender, &mut other] {
        let end = socket.end_of("d").await;
        let deltas = socket
            .seen
            .iter()
            .filter(|it| it["payload"]["state"] == "delta");
        let whole: String = deltas
            .filter_map(|it| it["payload"]["deltaText"].as_str())
            .collect();
        assert_eq!(text(&end), whole);
        let seqs: Vec<u64> = socket
            .seen
            .iter()
            .filter_map(|it| it["seq"].as_u64())
            .collect();
        assert!(seqs.iter().copied().eq(1..=seqs.len() as u64), "{seqs:?}");
    }
}

#[tokio::test]
async fn collected_messages_are_answered_together() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    socket
        .call("chat.send", send("q", "[[scenario:slow 80]] first", "q1"))
        .await;
    for id in ["q2", "q3"] {
        let mut params = send("q", &format!("message {id}"), id);
        params["queueMode"] = json!("collect");
        assert_eq!(socket.call("chat.send", params).await["status"], "started");
    }
    let history = socket
        .call("chat.history", json!({"sessionKey": "q"}))
        .await;
    assert_eq!(history["pendingInputs"]["total"], 2, "{history}");
    let end = socket.end_of("q2").await;
    assert!(text(&end).contains("Queued #1\nmessage q2"), "{end}");
    assert!(text(&end).contains("Queued #2\nmessage q3"), "{end}");
    let absorbed = socket.end_of("q3").await;
    assert_eq!(absorbed["payload"]["state"], "final");
    assert_eq!(absorbed["payload"].get("message"), None, "{absorbed}");
}

/// Said while another turn runs, it goes into that turn.
#[tokio::test]
async fn steering_message_is_answered_by_the_turn_that_runs() {
    let (suite, model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    model.push(Scenario::held("First half and the rest.", "steer"));
    socket.call("chat.send", send("s", "begin", "s1")).await;
    socket.event(|it| it["payload"]["state"] == "delta").await;
    for (id, text) in [("s2", "second while busy"), ("s3", "third while busy")] {
        let ack = socket.call("chat.send", send("s", text, id)).await;
        assert_eq!(ack["status"], "started");
    }
    let history = socket
        .call("chat.history", json!({"sessionKey": "s"}))
        .await;
    assert_eq!(history["pendingInputs"]["total"], 2, "{history}");
    // What was offered is there when the model has ended its first answer.
    steering(&suite, 2).await;
    model.release("steer");
    let end = socket.end_of("s1").await;
    let said = text(&end);
    assert!(said.starts_with("First half and the rest.\n\n"), "{said}");
    assert!(
        said.contains("second while busy") && said.contains("third while busy"),
        "{said}"
    );
    for id in ["s2", "s3"] {
        let absorbed = socket.end_of(id).await;
        assert_eq!(absorbed["payload"]["state"], "final");
        assert_eq!(absorbed["payload"].get("message"), None, "{absorbed}");
    }
    assert_eq!(model.turns().len(), 2, "the same turn asked twice");
    let history = socket
        .call("chat.history", json!({"sessionKey": "s"}))
        .await;
    assert_eq!(history["pendingInputs"]["total"], 0, "{history}");
    socket.call("chat.send", send("s", "and now?", "s4")).await;
    socket.end_of("s4").await;
    let asked = integration_tests::asked::words(model.turns().last().unwrap());
    for words in [
        "begin",
        "First half",
        "second while busy",
        "third while busy",
        "and now?",
    ] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
}

/// What is beyond the cap gets no turn, and the next one is told of it.
#[tokio::test]
async fn ws_features_more_messages_than_may_wait_are_summarised() {
    let (suite, model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    model.push(Scenario::held("Busy.", "busy"));
    // Not waited for: what is asked for first takes effect first.
    let settings = send("o", "/queue followup cap:2", "o0");
    socket.begin("chat.send", settings).await;
    socket.call("chat.send", send("o", "begin", "o1")).await;
    for n in 2..=5 {
        let ack = send("o", &format!("message {n}"), &format!("o{n}"));
        assert_eq!(socket.call("chat.send", ack).await["status"], "started");
    }
    for id in ["o2", "o3"] {
        assert_eq!(socket.end_of(id).await["payload"].get("message"), None);
    }
    model.release("busy");
    let next = socket.end_of("o4").await;
    let said = text(&next);
    assert!(said.contains("Dropped 2 messages due to cap."), "{said}");
    assert!(said.contains("- message 2\n- message 3"), "{said}");
    assert!(said.contains("message 4"), "{said}");
    assert_eq!(text(&socket.end_of("o5").await), "You said: message 5");
}

/// A level of thinking is for one message.
#[tokio::test]
async fn message_may_say_how_much_is_thought() {
    let (suite, model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let mut params = send("main", "think hard", "h1");
    params["thinking"] = json!("high");
    socket.call("chat.send", params.clone()).await;
    socket.end_of("h1").await;
    socket
        .call("chat.send", send("main", "and not", "h2"))
        .await;
    socket.end_of("h2").await;
    let turns = model.turns();
    assert!(
        turns[0].json().get("thinking").is_some(),
        "{}",
        turns[0].json()
    );
    assert!(
        turns[1].json().get("thinking").is_none(),
        "{}",
        turns[1].json()
    );
    params["thinking"] = json!("a bit");
    params["idempotencyKey"] = json!("h3");
    let error = socket.fail("chat.send", params).await;
    assert!(
        error["message"].as_str().unwrap().contains("/thinking"),
        "{error}"
    );
}

#[tokio::test]
async fn interrupting_message_ends_what_runs() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    socket
        .call(
            "chat.send",
            send("i", "[[scenario:slow 200]] a long one", "i1"),
        )
        .await;
    let mut params = send("i", "stop that", "i2");
    params["queueMode"] = json!("interrupt");
    socket.call("chat.send", params).await;
    assert_eq!(socket.end_of("i1").await["payload"]["state"], "aborted");
    // What it says is the model's affair: the interrupted message is before it.
    assert_eq!(socket.end_of("i2").await["payload"]["state"], "final");
}

#[tokio::test]
async fn commands_are_answered_by_the_gateway() {
    let (suite, model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    for (id, command, words) in [
        ("c1", "/status", "OpenClaw"),
        ("c2", "/whoami", "User id: gateway-client"),
        ("c3", "/queue collect", "Queue mode set to collect"),
        ("c4", "/queue", "mode=collect"),
        ("c5", "/help", "/status"),
        ("c6", "/think high", "high"),
        ("c7", "/model", "Current:"),
        ("c8", "/usage", "Input: 0"),
        ("c8a", "/v on", "The verbose level is on"),
        ("c8b", "/reasoning", "Current reasoning level: on"),
        ("c8c", "/reasoning off", "The reasoning level is off"),
        ("c8d", "/reasoning", "Current reasoning level: off"),
        ("c8e", "/usage tokens", "Usage below answers: tokens"),
        ("c8f", "/usage much", "is none of off, tokens, full, on"),
        ("c8g", "/usage off", "Usage below answers: off"),
        ("c9", "/stop", "nothing to stop"),
        ("c10", "/new", "New session started"),
        (
            "c12",
            "/queue collect debounce:2s cap:7 drop:old",
            "cap=7, drop=old",
        ),
        ("c13", "/queue nonsense", "Unrecognized queue mode"),
        ("c14", "/queue reset", "reset to default"),
        ("c15", "/name A trip", "A trip"),
        ("c16", "/models", "model"),
        ("c17", "/agents", "main (default)"),
        ("c18", "/tools", "execute_shell"),
        ("c19", "/approve", "Nothing waits"),
        ("c20", "/compact", "skipped"),
        ("c21", "/model anthropic/claude-x", "claude-x"),
        ("c22", "/exec", "sandbox"),
        ("c23", "/commands", "/approve"),
    ] {
        socket.call("chat.send", send("main", command, id)).await;
        let end = socket.end_of(id).await;
        assert!(text(&end).contains(words), "{command}: {end}");
    }
    assert!(model.requests().iter().all(|request| !request.turn));
    socket
        .call("chat.send", send("main", "/usr/bin is a folder", "c11"))
        .await;
    assert!(text(&socket.end_of("c11").await).contains("You said: /usr/bin"));
}

#[tokio::test]
async fn sessions_are_changed_and_their_followers_told() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    socket.call("sessions.subscribe", json!({})).await;
    socket.call("chat.send", send("work", "hello", "w1")).await;
    socket.end_of("w1").await;
    let patched = socket
        .call("sessions.patch", json!({"key": "work", "label": "My work"}))
        .await;
    assert_eq!(patched["entry"]["label"], "My work", "{patched}");
    let told = |it: &Value| it["event"] == "sessions.changed" && it["payload"]["reason"] == "patch";
    assert!(socket.seen.iter().any(told), "{:?}", socket.seen);
    let named = socket
        .call("sessions.resolve", json!({"label": "My work"}))
        .await;
    assert_eq!(named["key"], "agent:main:work");
    let never = json!({"key": "never"});
    let error = socket.fail("sessions.resolve", never.clone()).await;
    assert!(error.to_string().contains("agent:main:never"), "{error}");
    let allowed = json!({"key": "never", "allowMissing": true});
    let missing = socket.call("sessions.resolve", allowed).await;
    assert_eq!(missing, json!({"ok": false}));
    let main = socket
        .call("sessions.resolve", json!({"key": "main"}))
        .await;
    assert_eq!(main["key"], "agent:main:main");
    let lost = json!({"to": "nobody@x", "message": "hi", "idempotencyKey": "lost"});
    let error = socket.fail("send", lost).await.to_string();
    assert!(
        error.contains("there is no session") && error.contains("webchat"),
        "{error}"
    );
    socket.fail("sessions.resolve", never).await;
    let previews = socket
        .call("sessions.preview", json!({"keys": ["work", "none"]}))
        .await;
    assert_eq!(
        previews["previews"][0]["items"][1]["text"],
        "You said: hello"
    );
    assert_eq!(previews["previews"][1]["status"], "missing");
    let reset = socket.call("sessions.reset", json!({"key": "work"})).await;
    assert_eq!(reset["entry"]["sessionId"], patched["entry"]["sessionId"]);
    let deleted = socket.call("sessions.delete", json!({"key": "work"})).await;
    assert_eq!(deleted["deleted"], true);
    let archive = deleted["archived"][0].as_str().unwrap();
    assert!(std::path::Path::new(archive).is_file(), "{archive}");
    let again = socket.call("sessions.delete", json!({"key": "work"})).await;
    assert_eq!(again["deleted"], false);
}

#[tokio::test]
async fn approvals_wait_for_whoever_may_decide() {
    let (suite, _model) = scene().await;
    let mut asking = Socket::enter(&suite).await;
    let mut deciding = Socket::enter(&suite).await;
    let id = asking
        .begin(
            "exec.approval.request",
            json!({"command": "rm -r x", "sessionKey": "main"}),
        )
        .await;
    let asked = deciding
        .event(|it| it["event"] == "exec.approval.requested")
        .await;
    let listed = deciding.call("exec.approval.list", json!({})).await;
    assert_eq!(listed[0]["id"], asked["payload"]["id"]);
    let decision = json!({"id": asked["payload"]["id"], "decision": "deny"});
    deciding
        .call("exec.approval.resolve", decision.clone())
        .await;
    let answer = asking.answer(&id).await.unwrap();
    assert_eq!(answer["payload"]["decision"], "deny", "{answer}");
    let late = deciding.fail("exec.approval.resolve", decision).await;
    assert_eq!(late["code"], "APPROVAL_NOT_FOUND");
    let mut reader = Socket::enter_as(&suite, json!({"scopes": ["operator.read"]})).await;
    let error = reader.fail("exec.approval.list", json!({})).await;
    assert_eq!(error["details"]["missingScope"], "operator.approvals");
}

#[tokio::test]
async fn client_of_seed_002_gets_its_own_events() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter_as(&suite, json!({"caps": ["gateway-events-v1"]})).await;
    let calls = "[[scenario:tool execute_shell {\"command\":\"echo hi\"}]]";
    let id = socket.begin("chat.send", send("main", calls, "s1")).await;
    socket.answer(&id).await.unwrap();
    let mut types = Vec::new();
    let done = loop {
        let frame = socket.next().await.unwrap();
        let Some(kind) = frame["type"].as_str().filter(|it| *it != "event") else {
            continue;
        };
        assert!(
            frame["sessionId"].is_string() && frame["timestamp"].is_i64(),
            "{frame}"
        );
        types.push(kind.to_owned());
        if frame["payload"]["done"] == true {
            break frame;
        }
    };
    assert!(
        done["payload"]["content"].as_str().unwrap().contains("hi"),
        "{done}"
    );
    for kind in ["tool_call", "tool_result", "message"] {
        assert!(types.iter().any(|it| it == kind), "{types:?}");
    }
    let plain = ["chat", "agent"]
        .iter()
        .any(|name| socket.seen.iter().any(|it| it["event"] == *name));
    assert!(!plain, "it got both kinds");
}

#[tokio::test]
async fn device_is_paired_here_and_comes_back_with_its_token() {
    let (suite, _model) = scene().await;
    let (address, token) = (suite.address("http").await, suite.token().await);
    let read = json!(["operator.read"]);
    let (_first, answer) =
        Socket::with_device(&address, json!({"token": token}), 7, read.clone()).await;
    let own = answer["payload"]["auth"]["deviceToken"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(own.len(), 43);
    let device = json!({"deviceToken": own});
    let (_second, answer) = Socket::with_device(&address, device.clone(), 7, read.clone()).await;
    assert_eq!(answer["payload"]["auth"]["scopes"], read, "{answer}");
    // It is told once.
    assert_eq!(answer["payload"]["auth"].get("deviceToken"), None);
    let (_third, answer) = Socket::with_device(&address, device.clone(), 8, read.clone()).await;
    assert_eq!(
        answer["error"]["details"]["code"], "AUTH_DEVICE_TOKEN_MISMATCH",
        "{answer}"
    );
    let admin = json!(["operator.admin"]);
    let (_fourth, answer) = Socket::with_device(&address, device.clone(), 7, admin).await;
    assert_eq!(answer["error"]["code"], "NOT_PAIRED", "{answer}");
    assert_eq!(
        answer["error"]["details"]["reason"], "scope-upgrade",
        "{answer}"
    );
    let mut owner = Socket::enter(&suite).await;
    let listed = owner.call("device.pair.list", json!({})).await;
    assert_eq!(
        listed["pending"][0]["scopes"],
        json!(["operator.admin"]),
        "{listed}"
    );
    assert!(!listed.to_string().contains(&own), "a token was listed");
    let request = json!({"requestId": listed["pending"][0]["requestId"]});
    owner.call("device.pair.reject", request).await;
    let id = listed["paired"][0]["deviceId"].clone();
    owner
        .call(
            "device.token.revoke",
            json!({"deviceId": id, "role": "operator"}),
        )
        .await;
    let (_fifth, answer) = Socket::with_device(&address, device, 7, read).await;
    assert_eq!(answer["ok"], false, "{answer}");
}

#[tokio::test]
async fn devices_are_decided_about_at_the_command_line() {
    let (suite, _model) = scene().await;
    suite
        .ctl(&["devices"])
        .await
        .ended(0)
        .says(&["no device is paired"]);
    let (address, token) = (suite.address("http").await, suite.token().await);
    let (read, admin) = (json!(["operator.read"]), json!(["operator.admin"]));
    let (_first, answer) =
        Socket::with_device(&address, json!({"token": token}), 7, read.clone()).await;
    let device = json!({"deviceToken": answer["payload"]["auth"]["deviceToken"]});
    let (_second, answer) = Socket::with_device(&address, device.clone(), 7, admin.clone()).await;
    assert_eq!(answer["error"]["code"], "NOT_PAIRED", "{answer}");
    let listed = suite.ctl(&["devices", "list", "--json"]).await.document();
    assert_eq!(listed["pending"][0]["scopes"], admin, "{listed}");
    let shown = suite.ctl(&["devices"]).await.ended(0);
    shown.says(&["openclaw-ios", "ios 127.0.0.1", "operator.admin", "waits"]);

    let mut owner = Socket::enter(&suite).await;
    let unknown = ["devices", "approve", "0000"];
    suite
        .ctl(&unknown)
        .await
        .ended(1)
        .complains(&["no request"]);
    // What nobody named, and nobody can be asked about, is not let in.
    let id = listed["pending"][0]["requestId"].as_str().unwrap();
    let unasked = suite.ctl(&["devices", "approve"]).await.ended(2);
    unasked.complains(&["openclaw-ios", "operator.admin", id]);
    let approved = suite.ctl(&["devices", "approve", &id[..8]]).await.ended(0);
    approved.says(&["openclaw-ios is paired as operator"]);
    let told = |it: &Value| it["event"] == "device.pair.resolved";
    let told = owner.event(told).await;
    assert_eq!(told["payload"]["decision"], "approved", "{told}");
    let (mut third, answer) = Socket::with_device(&address, device.clone(), 7, admin.clone()).await;
    assert_eq!(answer["ok"], true, "{answer}");

    let listed = suite.ctl(&["devices", "list", "--json"]).await.document();
    let id = listed["paired"][0]["deviceId"].as_str().unwrap();
    let other = ["devices", "revoke", &id[..8], "--role", "node"];
    suite
        .ctl(&other)
        .await
        .ended(1)
        .complains(&["paired as \"node\""]);
    suite.ctl(&["devices", "revoke", &id[..8]]).await.ended(0);
    // It ends with the connection.
    while third.next().await.is_ok() {}
    let (_fourth, answer) = Socket::with_device(&address, device, 7, read).await;
    assert_eq!(answer["ok"], false, "{answer}");
    suite.ctl(&["devices"]).await.ended(0).says(&["revoked"]);
    suite
        .ctl(&["devices", "remove", "openclaw-ios"])
        .await
        .ended(0);
    let listed = suite.ctl(&["devices", "list", "--json"]).await.document();
    assert_eq!(listed, json!({"pending": [], "paired": []}));
}

#[tokio::test]
async fn jobs_run_when_they_are_due() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let job = json!({
        "name": "soon", "schedule": {"kind": "every", "everyMs": 1000},
        "sessionTarget": "isolated", "wakeMode": "now",
        "payload": {"kind": "agentTurn", "message": "are you there"},
    });
    let id = socket.call("cron.add", job).await["id"].clone();
    let done = socket
        .event(|it| it["event"] == "cron" && it["payload"]["action"] == "finished")
        .await;
    assert_eq!(done["payload"]["status"], "ok", "{done}");
    assert_eq!(done["payload"]["summary"], "You said: are you there");
    let off = json!({"id": id, "patch": {"enabled": false}});
    assert_eq!(socket.call("cron.update", off).await["enabled"], false);
    socket.call("cron.remove", json!({"id": id})).await;
    let error = socket.fail("cron.run", json!({"id": id})).await;
    assert_eq!(error["details"]["code"], "CRON_JOB_NOT_FOUND");
}
