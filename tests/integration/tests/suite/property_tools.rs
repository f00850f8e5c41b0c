//! Property 17 of seed 002 in the whole suite: what clients are told of a tool
//! that failed, whichever agent called it.

use integration_tests::{Setup, Suite, transcript};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// Has the model call `tool`, which fails; what clients and the transcript say.
async fn failing(suite: &Suite, model: &Server, tool: &str, arguments: Value) {
    model.push(Scenario::tool(tool, arguments));
    let run = suite.ask("go on").await;
    let call = &run["toolCalls"][0];
    assert_eq!(call["success"], false, "{tool}: {run}");
    let told = call["error"].clone();
    let messages = suite.messages();
    let results = transcript::of_role(&messages, "toolResult");
    let kept = results.last().unwrap()["details"]["error"].clone();
    for (place, error) in [("client", told), ("transcript", kept)] {
        let part = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        assert!(
            part("tool").contains(tool.trim_start_matches("mcp__openclaw__")),
            "{place}: {tool}: {error}"
        );
        assert!(!part("type").is_empty(), "{place}: {tool}: {error}");
        assert!(
            !part("message").trim().is_empty(),
            "{place}: {tool}: {error}"
        );
    }
}

/// Feature: openclaw-mvp, Property 17: For any failed tool execution, the
/// returned error SHALL include the tool name, error type, and descriptive
/// message. Here: a few of each backend's own tools and of ours.
#[tokio::test]
async fn property_17_clients_are_told_tool_type_and_message_by_every_backend() {
    let model = Server::start().await.unwrap();
    let ours = [
        ("read_file", json!({"path": "not-there.txt"})),
        ("read_file", json!({"nonsense": 1})),
        ("no_such_tool", json!({})),
    ];
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .start()
        .await;
    for (tool, arguments) in ours {
        failing(&suite, &model, tool, arguments).await;
    }
    if let Some(setup) = Setup::claude(&model) {
        let suite = setup.set("tools.exec.ask", "off").start().await;
        let missing = json!({"file_path": "/nowhere/not-there.txt"});
        failing(&suite, &model, "Read", missing).await;
        failing(
            &suite,
            &model,
            "mcp__openclaw__memory_get",
            json!({"path": "/etc/passwd"}),
        )
        .await;
        failing(
            &suite,
            &model,
            "Bash",
            json!({"command": "exit 3", "description": "d"}),
        )
        .await;
    }
    let model = Server::start().await.unwrap();
    if let Some(setup) = Setup::codex(&model) {
        let suite = setup.set("tools.exec.ask", "off").start().await;
        failing(&suite, &model, "exec_command", json!({"cmd": "exit 3"})).await;
        failing(
            &suite,
            &model,
            "mcp__openclaw__memory_get",
            json!({"path": "/etc/passwd"}),
        )
        .await;
    }
}
