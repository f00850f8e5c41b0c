//! Every method that hello-ok advertises is there and works.

use std::collections::BTreeMap;

use integration_tests::{Setup, Socket, Suite};
use scripted_model::Server;
use serde_json::{Value, json};

/// What issue and reference name; each must be advertised.
const PROMISED: [&str; 55] = [
    "agent",
    "agent.wait",
    "agents.list",
    "channels.logout",
    "channels.status",
    "chat.abort",
    "chat.history",
    "chat.inject",
    "chat.send",
    "commands.list",
    "config.apply",
    "config.get",
    "config.patch",
    "config.schema",
    "config.set",
    "cron.add",
    "cron.list",
    "cron.remove",
    "cron.run",
    "cron.runs",
    "cron.status",
    "cron.update",
    "device.pair.approve",
    "device.pair.list",
    "device.pair.reject",
    "device.pair.remove",
    "device.token.revoke",
    "device.token.rotate",
    "exec.approval.get",
    "exec.approval.list",
    "exec.approval.resolve",
    "health",
    "last-heartbeat",
    "logs.tail",
    "models.list",
    "send",
    "sessions.abort",
    "sessions.compact",
    "sessions.create",
    "sessions.delete",
    "sessions.list",
    "sessions.messages.subscribe",
    "sessions.patch",
    "sessions.preview",
    "sessions.reset",
    "sessions.resolve",
    "sessions.send",
    "sessions.subscribe",
    "skills.status",
    "status",
    "system-event",
    "system-presence",
    "tools.catalog",
    "usage.cost",
    "wake",
];

/// What a call is to come to.
enum Ends {
    Well,
    /// With this in its error: what is asked for is not there.
    Refused(&'static str),
}

use Ends::{Refused, Well};

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    (suite, model)
}

/// Calls that make what the others look at.
async fn furnish(socket: &mut Socket) -> String {
    for (session, id) in [("main", "f1"), ("other", "f2"), ("gone", "f3")] {
        let message = json!({"sessionKey": session, "message": "hello", "idempotencyKey": id});
        socket.call("chat.send", message).await;
        socket.end_of(id).await;
    }
    let job = json!({
        "name": "far", "schedule": {"kind": "cron", "expr": "0 9 1 1 *", "tz": "Europe/Vienna"},
        "sessionTarget": "isolated", "wakeMode": "now",
        "payload": {"kind": "agentTurn", "message": "ping"},
    });
    let added = socket.call("cron.add", job).await;
    added["id"].as_str().unwrap().to_owned()
}

fn calls(job: &str, hash: &str) -> BTreeMap<&'static str, (Value, Ends)> {
    let no_device = json!({"deviceId": "0".repeat(64)});
    let no_approval = json!({"id": "none"});
    let reply = |id: &str| json!({"message": "hi", "idempotencyKey": id, "sessionKey": "main"});
    let at = json!({"name": "at", "schedule": {"kind": "at", "at": "2099-01-01T00:00:00Z"},
        "sessionTarget": "main", "wakeMode": "next-heartbeat",
        "payload": {"kind": "systemEvent", "text": "it is time"}});
    BTreeMap::from([
        ("agent", (reply("m1"), Well)),
        ("agent.identity.get", (json!({}), Well)),
        (
            "agent.wait",
            (json!({"runId": "m1", "timeoutMs": 20000}), Well),
        ),
        ("agents.list", (json!({}), Well)),
        (
            "channels.logout",
            (json!({"channel": "signal"}), Refused("there are telegram")),
        ),
        ("channels.status", (json!({"probe": false}), Well)),
        ("chat.abort", (json!({"sessionKey": "main"}), Well)),
        (
            "chat.history",
            (json!({"sessionKey": "main", "limit": 5}), Well),
        ),
        (
            "chat.inject",
            (json!({"sessionKey": "main", "message": "note"}), Well),
        ),
        ("chat.send", (reply("m2"), Well)),
        ("commands.list", (json!({}), Well)),
        (
            "config.apply",
            (json!({"raw": "{}", "baseHash": "stale"}), Refused("config")),
        ),
        ("config.get", (json!({}), Well)),
        (
            "config.patch",
            (
                json!({"raw": "{\"logging\": {\"level\": \"debug\"}}", "baseHash": hash}),
                Well,
            ),
        ),
        ("config.schema", (json!({}), Well)),
        (
            "config.schema.lookup",
            (json!({"path": "gateway.auth"}), Well),
        ),
        (
            "config.set",
            (json!({"raw": "{}", "baseHash": "stale"}), Refused("config")),
        ),
        ("cron.add", (at, Well)),
        ("cron.get", (json!({"id": job}), Well)),
        ("cron.list", (json!({"includeDisabled": true}), Well)),
        (
            "cron.remove",
            (json!({"id": "none"}), Refused("cron job not found")),
        ),
        ("cron.run", (json!({"id": job, "mode": "due"}), Well)),
        ("cron.runs", (json!({"id": job}), Well)),
        ("cron.status", (json!({}), Well)),
        (
            "cron.update",
            (json!({"id": job, "patch": {"enabled": false}}), Well),
        ),
        (
            "device.pair.approve",
            (json!({"requestId": "none"}), Refused("requestId")),
        ),
        ("device.pair.list", (json!({}), Well)),
        (
            "device.pair.reject",
            (json!({"requestId": "none"}), Refused("requestId")),
        ),
        (
            "device.pair.remove",
            (no_device.clone(), Refused("deviceId")),
        ),
        (
            "device.pair.rename",
            (
                json!({"deviceId": "0".repeat(64), "label": "x"}),
                Refused("deviceId"),
            ),
        ),
        (
            "device.token.revoke",
            (
                json!({"deviceId": "0".repeat(64), "role": "operator"}),
                Refused("deviceId"),
            ),
        ),
        (
            "device.token.rotate",
            (
                json!({"deviceId": "0".repeat(64), "role": "operator"}),
                Refused("deviceId"),
            ),
        ),
        (
            "exec.approval.get",
            (no_approval.clone(), Refused("approval")),
        ),
        ("exec.approval.list", (json!({}), Well)),
        (
            "exec.approval.request",
            (
                json!({"id": "mine", "command": "ls", "cwd": "/", "twoPhase": true}),
                Well,
            ),
        ),
        (
            "exec.approval.resolve",
            (
                json!({"id": "none", "decision": "deny"}),
                Refused("approval"),
            ),
        ),
        (
            "exec.approval.waitDecision",
            (no_approval, Refused("approval")),
        ),
        ("health", (json!({}), Well)),
        ("last-heartbeat", (json!({}), Well)),
        ("logs.tail", (json!({"limit": 3}), Well)),
        ("models.list", (json!({}), Well)),
        (
            "send",
            (
                json!({"to": "main", "message": "hello", "idempotencyKey": "m3"}),
                Well,
            ),
        ),
        ("sessions.abort", (json!({"key": "main"}), Well)),
        (
            "sessions.compact",
            (json!({"key": "other", "maxLines": 1}), Well),
        ),
        (
            "sessions.create",
            (json!({"key": "fresh", "label": "Fresh"}), Well),
        ),
        ("sessions.delete", (json!({"key": "gone"}), Well)),
        ("sessions.describe", (json!({"key": "main"}), Well)),
        ("sessions.list", (json!({"limit": 5}), Well)),
        (
            "sessions.messages.subscribe",
            (json!({"key": "main"}), Well),
        ),
        (
            "sessions.messages.unsubscribe",
            (json!({"key": "main"}), Well),
        ),
        (
            "sessions.patch",
            (json!({"key": "other", "label": "Other"}), Well),
        ),
        (
            "sessions.preview",
            (json!({"keys": ["main"], "limit": 3}), Well),
        ),
        ("sessions.reset", (json!({"key": "other"}), Well)),
        ("sessions.resolve", (json!({"key": "main"}), Well)),
        (
            "sessions.send",
            (
                json!({"key": "other", "message": "hi", "idempotencyKey": "m4"}),
                Well,
            ),
        ),
        ("sessions.subscribe", (json!({}), Well)),
        ("sessions.unsubscribe", (json!({}), Well)),
        ("skills.status", (json!({}), Well)),
        ("status", (json!({}), Well)),
        ("system-event", (json!({"text": "it rains"}), Well)),
        ("system-presence", (json!({}), Well)),
        ("tools.catalog", (json!({}), Well)),
        ("usage.cost", (json!({"days": 7}), Well)),
        (
            "wake",
            (json!({"mode": "next-heartbeat", "text": "later"}), Well),
        ),
    ])
}

fn advertised(hello: &Value) -> Vec<String> {
    let methods = hello["features"]["methods"].as_array().unwrap();
    methods
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn what_is_advertised_works_and_what_works_is_advertised() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let methods = advertised(&socket.seen[1]["payload"]);
    let missing: Vec<_> = PROMISED
        .iter()
        .filter(|it| !methods.iter().any(|m| m == *it))
        .collect();
    assert!(missing.is_empty(), "not advertised: {missing:?}");
    let job = furnish(&mut socket).await;
    let hash = socket.call("config.get", json!({})).await["hash"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let mut calls = calls(&job, &hash);
    for method in &methods {
        let Some((params, ends)) = calls.remove(method.as_str()) else {
            panic!("{method} is advertised and nobody calls it");
        };
        let answer = socket.ask(method, params).await.unwrap();
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        match ends {
            Well => assert_eq!(answer["ok"], true, "{method}: {answer}"),
            Refused(part) => assert!(
                answer["ok"] == false
                    && message.contains(part)
                    && !message.contains("unknown method"),
                "{method}: {answer}"
            ),
        }
    }
    assert!(
        calls.is_empty(),
        "called, and not advertised: {:?}",
        calls.keys()
    );
    compare(&suite, &mut socket, &job).await;
    for unknown in [
        "Health",
        "chat",
        "chat.",
        "no.such.method",
        "node.invoke",
        "",
    ] {
        let error = socket.fail(unknown, json!({})).await;
        assert_eq!(error["code"], "INVALID_REQUEST", "{unknown}: {error}");
    }
}

/// What was done by the calls, as other doors and the disk have it.
async fn compare(suite: &Suite, socket: &mut Socket, job: &str) {
    let sessions = suite.ctl(&["sessions", "list", "--json"]).await.ended(0);
    sessions.says(&["agent:main:fresh", "Fresh", "agent:main:other", "Other"]);
    let listed = socket.call("sessions.list", json!({})).await;
    let keys: Vec<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["key"].as_str())
        .collect();
    assert!(!keys.contains(&"agent:main:gone"), "{keys:?}");
    assert!(keys.contains(&"agent:main:fresh"), "{keys:?}");

    let jobs = suite.ctl(&["cron", "list", "--json"]).await.ended(0);
    jobs.says(&[job, "2099-01-01"]);
    let shown = socket.call("cron.get", json!({"id": job})).await;
    assert_eq!(shown["enabled"], false, "cron.update: {shown}");
    let file = std::fs::read_to_string(suite.configuration()).unwrap();
    assert!(file.contains("debug"), "config.patch: {file}");

    let said: Vec<String> = suite.messages().iter().map(Value::to_string).collect();
    assert!(said.iter().any(|it| it.contains("note")), "chat.inject");
    let history = socket
        .call("chat.history", json!({"sessionKey": "main", "limit": 1000}))
        .await;
    let history = history["messages"].to_string();
    assert!(history.contains("note"), "chat.history: {history}");
    let status = socket.call("status", json!({})).await;
    let waiting = status["queuedSystemEvents"].to_string();
    assert!(waiting.contains("it rains"), "system-event: {status}");
    let agents = socket.call("agents.list", json!({})).await;
    let workspace = suite.state().join("workspace");
    assert_eq!(agents["agents"][0]["workspace"], json!(workspace));
    let used = socket.call("usage.cost", json!({"days": 7})).await;
    assert!(used["totals"]["totalTokens"].as_u64() > Some(0), "{used}");
    let waited = socket.call("agent.wait", json!({"runId": "m1"})).await;
    assert_eq!(waited["status"], "ok", "{waited}");
}

/// Parameters of the wrong type are refused by name and change nothing.
#[tokio::test]
async fn nonsense_is_refused_by_every_method() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let methods = advertised(&socket.seen[1]["payload"]);
    for method in &methods {
        for nonsense in [
            json!([1, 2]),
            json!("text"),
            json!(7),
            json!({"key": 5, "sessionKey": [], "id": {},
            "runId": 1, "message": false, "raw": 3, "text": 4, "limit": "many", "days": "few", "keys": 1}),
        ] {
            let answer = socket.ask(method, nonsense.clone()).await.unwrap();
            let code = answer["error"]["code"].as_str().unwrap_or_default();
            let is_fine = answer["ok"] == true || code == "INVALID_REQUEST";
            assert!(is_fine, "{method} {nonsense}: {answer}");
        }
    }
    assert_eq!(
        socket.call("sessions.list", json!({})).await["totalCount"],
        0
    );
    assert_eq!(socket.call("cron.list", json!({})).await["total"], 0);
}

#[tokio::test]
async fn what_looks_after_agents_by_itself_is_told() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("agents.defaults.heartbeat.every", "90m")
        .set("agents.defaults.heartbeat.prompt", "Anything new?")
        .set("agents.defaults.heartbeat.target", "none")
        .start()
        .await;
    let mut socket = Socket::enter(&suite).await;
    let status = socket.call("status", json!({})).await;
    let told = json!({"agentId": "main", "enabled": true, "every": "90m", "everyMs": 5_400_000});
    assert_eq!(status["heartbeat"]["agents"], json!([told]));
    let health = socket.call("health", json!({})).await;
    assert_eq!(health["heartbeatSeconds"], 5_400);
    let told = json!({"enabled": true, "every": "90m", "everyMs": 5_400_000,
        "prompt": "Anything new?", "target": "none", "ackMaxChars": 300});
    assert_eq!(health["agents"][0]["heartbeat"], told);
}
