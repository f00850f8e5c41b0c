//! The daemons' log, which tells the whole story of a message.

use integration_tests::Setup;
use scripted_model::{Scenario, Server};
use serde_json::json;

/// Every daemon's own records.
const TARGETS: [&str; 3] = [
    "openclaw_gateway",
    "openclaw_agent_runner",
    "openclaw_memory",
];

#[tokio::test]
async fn one_run_is_followed_through_all_daemons() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::tool("execute_shell", json!({"command": "true"})));
    let run = suite.ask("do something").await;
    for target in TARGETS {
        let record = suite
            .log
            .record(&format!("{target} and the run"), |record| {
                let context = &record["context"];
                context["target"]
                    .as_str()
                    .is_some_and(|it| it.starts_with(target))
                    && context["openclaw_run"] == run["runId"]
            })
            .await;
        let session = &record["context"]["openclaw_session"];
        assert_eq!(session, "agent:main:main", "{record}");
    }
    let tool = |record: &serde_json::Value| record["context"]["openclaw_tool"] == "execute_shell";
    let record = suite.log.record("the tool that was called", tool).await;
    assert_eq!(record["context"]["openclaw_run"], run["runId"], "{record}");
}

#[tokio::test]
async fn every_line_is_a_record() {
    let model = Server::start().await.unwrap();
    let mut suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::failure(401));
    suite.ask("fail").await;
    suite.say("succeed").await;
    suite.terminate();
    suite.ended().await;

    let lines = suite.log.lines();
    let records = suite.log.records();
    assert_eq!(lines.len(), records.len(), "{lines:#?}");
    assert!(records.len() > 5, "{lines:#?}");
    for record in records {
        let timestamp = record["timestamp"].as_str().unwrap_or_default();
        assert!(
            timestamp.starts_with("20") && timestamp.ends_with('Z'),
            "{record}"
        );
        let level = record["level"].as_str().unwrap_or_default();
        assert!(
            ["debug", "info", "warn", "error"].contains(&level),
            "{record}"
        );
        assert!(
            record["message"].as_str().is_some_and(|it| !it.is_empty()),
            "{record}"
        );
        assert!(record["context"]["target"].is_string(), "{record}");
    }
}

#[tokio::test]
async fn neither_keys_nor_messages_are_logged() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("logging.level", "debug");
    let suite = setup.start().await;
    suite.say("a very private question").await;
    suite.log.message("run ended").await;
    let log = suite.log.lines().join("\n");
    for secret in [integration_tests::setup::KEY, "a very private question"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}
