//! The Claude Code CLI's tools: its own as the policy has them, ours over MCP,
//! and its questions whether it may use one.

use integration_tests::{Setup, Suite, Talk, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// A run in which the model calls `tool`, and what then waits to be allowed.
async fn asking(suite: &Suite, model: &Server, tool: &str, arguments: Value) -> (Talk, String) {
    model.push(Scenario::tool(tool, arguments));
    let mut talk = suite.begin(&["message", "--json", "go on"]);
    talk.hear("\"approval_requested\"").await;
    let listed = suite.ctl(&["approvals", "list", "--json"]).await;
    let waiting = listed.ended(0).document()["waiting"][0].clone();
    (talk, waiting["id"].as_str().unwrap().to_owned())
}

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "do it"})
}

#[tokio::test]
async fn claude_tools_own_tools_follow_the_policy() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup
        .set("tools.deny", json!(["exec", "group:web", "apply_patch"]))
        .start()
        .await;
    model.push(Scenario::tool("Bash", bash("touch a")));
    suite.ask("go on").await;
    assert_eq!(suite.written("a"), None);
    let tools = asked::tools(&asked::turns(&model, 1).await[0]);
    for denied in [
        "Bash",
        "WebFetch",
        "WebSearch",
        "mcp__openclaw__execute_shell",
        "mcp__openclaw__apply_patch",
    ] {
        assert!(
            !tools.iter().any(|tool| tool == denied),
            "{denied}: {tools:?}"
        );
    }
    for there in ["Read", "Edit", "mcp__openclaw__memory_search"] {
        assert!(
            tools.iter().any(|tool| tool == there),
            "no {there}: {tools:?}"
        );
    }
}

#[tokio::test]
async fn claude_tools_commands_are_asked_about() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.set("tools.exec.ask", "on-miss").start().await;
    let arguments = bash("echo x >> a");
    let (talk, id) = asking(&suite, &model, "Bash", arguments.clone()).await;
    suite.ctl(&["approvals", "deny", &id]).await.ok();
    let said = talk.end().await.ok();
    assert!(said.contains("the user denied it"), "{said}");
    assert_eq!(suite.written("a"), None);

    let (talk, id) = asking(&suite, &model, "Bash", arguments).await;
    suite.ctl(&["approvals", "allow", &id]).await.ok();
    talk.end().await.ok();
    assert_eq!(suite.written("a").as_deref(), Some("x\n"));
}

#[tokio::test]
async fn claude_tools_what_only_reads_is_not_asked_about() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup
        .set("tools.exec.ask", "on-miss")
        .note("a.txt", "apple\n")
        .start()
        .await;
    for (tool, arguments) in [
        ("Bash", bash("cat a.txt")),
        (
            "Grep",
            json!({"pattern": "apple", "output_mode": "content"}),
        ),
    ] {
        model.push(Scenario::tool(tool, arguments));
        let run = suite.ask("look").await;
        assert_eq!(run["toolCalls"][0]["success"], true, "{tool}: {run}");
        let output = run["toolCalls"][0]["output"].as_str().unwrap();
        assert!(output.contains("apple"), "{tool}: {run}");
    }
}

#[tokio::test]
async fn question_that_nobody_answers_expires() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.asks_nobody("always").start().await;
    // It would run the second one without a question.
    for command in ["touch a", "ls"] {
        model.push(Scenario::tool("Bash", bash(command)));
        let run = suite.ask("go on").await;
        assert_eq!(run["status"], "done", "{command}: {run}");
        assert_eq!(run["toolCalls"][0]["success"], false, "{command}: {run}");
        assert!(
            run.to_string().contains("nobody allowed it in time"),
            "{command}: {run}"
        );
        assert_eq!(suite.written("a"), None);
    }
}

/// Where nobody is asked, its commands run as ours do.
#[tokio::test]
async fn claude_tools_where_only_the_workspace_can_be_written_it_is_not_asked_about() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.start().await;
    model.push(Scenario::tool("Bash", bash("touch a")));
    suite.ask("go on").await;
    assert!(suite.written("a").is_some());
}
