//! OpenClaw's own programs at our port.

use integration_tests::{OpenClaw, Setup, Suite};
use scripted_model::Server;

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::anthropic(&model).start().await, model)
}

#[tokio::test]
async fn command_line_of_openclaw_works() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model);
    let suite = setup
        .set("agents.defaults.model", "anthropic/claude-test")
        .start()
        .await;
    let Some(openclaw) = OpenClaw::at(&suite).await else {
        return;
    };
    let said = openclaw
        .cli(&["agent", "--agent", "main", "--message", "hello from there"])
        .await;
    assert_eq!(said.ok().trim(), "You said: hello from there");
    let health = openclaw.cli(&["health"]).await.ok();
    assert!(health.contains("Agents: main (default)"), "{health}");
    assert!(health.contains("agent:main:main"), "{health}");
    let status = openclaw.cli(&["status"]).await.ok();
    assert!(status.contains("reachable"), "{status}");
    openclaw.cli(&["sessions"]).await.ok();
    let hourly = ["--every", "1h", "--message", "look around"];
    let add = [
        &["cron", "add", "--name", "watch", "--session", "isolated"][..],
        &hourly,
    ]
    .concat();
    openclaw.cli(&add).await.ok();
    let jobs = openclaw.cli(&["cron", "list"]).await.ok();
    assert!(jobs.contains("watch"), "{jobs}");
    let models = openclaw.cli(&["models", "list"]).await.ok();
    assert!(models.contains("claude-test"), "{models}");
    let cost = openclaw.cli(&["gateway", "usage-cost"]).await.ok();
    assert!(!cost.contains("Total: $0.0000 · 0 tokens"), "{cost}");
    let params = r#"{"sessionKey":"main"}"#;
    let history = openclaw
        .cli(&["gateway", "call", "chat.history", "--params", params])
        .await
        .ok();
    assert!(history.contains("You said: hello from there"), "{history}");
    let listed = openclaw
        .cli(&["gateway", "call", "sessions.list"])
        .await
        .ok();
    assert!(listed.contains("agent:main:main"), "{listed}");
}

#[tokio::test]
async fn client_library_of_openclaw_streams_a_turn() {
    let (suite, _model) = scene().await;
    let Some(openclaw) = OpenClaw::at(&suite).await else {
        return;
    };
    let said = openclaw
        .client(&["main", "[[scenario:slow 20]] count for me"])
        .await;
    let turn = said.document();
    assert_eq!(turn["protocol"], 4, "{turn}");
    assert_eq!(turn["ack"]["status"], "started", "{turn}");
    let deltas = turn["deltas"].as_array().unwrap();
    assert!(deltas.len() > 1, "{turn}");
    let whole: String = deltas.iter().filter_map(|delta| delta.as_str()).collect();
    assert_eq!(turn["text"], whole, "{turn}");
    assert_eq!(turn["states"].as_array().unwrap().last().unwrap(), "final");
    assert_eq!(turn["gaps"], serde_json::json!([]), "{turn}");
}
