//! Which methods there are. What they answer is compared in `ws_audit.rs`.

use integration_tests::{Setup, Socket, Suite};
use scripted_model::Server;
use serde_json::{Value, json};

/// What issue and reference name; each must be advertised.
const PROMISED: [&str; 54] = [
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
    "status",
    "system-event",
    "system-presence",
    "tools.catalog",
    "usage.cost",
    "wake",
];

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    (suite, model)
}

fn advertised(hello: &Value) -> Vec<String> {
    let methods = hello["features"]["methods"].as_array().unwrap();
    methods
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn ws_methods_what_is_promised_is_advertised_and_nothing_else_is_a_method() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let methods = advertised(&socket.seen[1]["payload"]);
    let is_missing = |it: &&&str| !methods.iter().any(|method| method == **it);
    let missing: Vec<_> = PROMISED.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "not advertised: {missing:?}");
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
async fn ws_methods_what_looks_after_agents_by_itself_is_told() {
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
