//! The Codex CLI's tools: its own as the policy has them, ours over MCP, and
//! its questions whether it may use one.

use integration_tests::{Setup, Suite, Talk, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

const OURS: &str = "mcp__openclaw__execute_shell";
const OWN: &str = "exec_command";

async fn asking(suite: &Suite, model: &Server, tool: &str, arguments: Value) -> (Talk, Value) {
    model.push(Scenario::tool(tool, arguments));
    let mut talk = suite.begin(&["message", "--json", "go on"]);
    talk.hear("\"approval_requested\"").await;
    let listed = suite.ctl(&["approvals", "list", "--json"]).await;
    (talk, listed.ended(0).document()["waiting"][0].clone())
}

#[tokio::test]
async fn codex_tools_own_tools_follow_the_policy() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup
        .set("tools.deny", json!(["exec", "group:web", "apply_patch"]))
        .start()
        .await;
    model.push(Scenario::tool(OWN, json!({"cmd": "touch a"})));
    suite.ask("go on").await;
    assert_eq!(suite.written("a"), None);
    let tools = asked::tools(&asked::turns(&model, 1).await[0]);
    for denied in [
        OWN,
        "write_stdin",
        "web_search",
        OURS,
        "mcp__openclaw__apply_patch",
    ] {
        assert!(
            !tools.iter().any(|tool| tool == denied),
            "{denied}: {tools:?}"
        );
    }
    assert!(
        tools.iter().any(|tool| tool == "mcp__openclaw__edit"),
        "{tools:?}"
    );
}

#[tokio::test]
async fn codex_tools_commands_are_asked_about() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.set("tools.exec.ask", "on-miss").start().await;
    let arguments = json!({"cmd": "echo x >> a"});
    let (talk, asked) = asking(&suite, &model, OWN, arguments.clone()).await;
    assert_eq!(asked["command"], "echo x >> a", "{asked}");
    let id = asked["id"].as_str().unwrap();
    suite.ctl(&["approvals", "deny", id]).await.ok();
    talk.end().await.ok();
    assert_eq!(suite.written("a"), None);

    let (talk, asked) = asking(&suite, &model, OWN, arguments).await;
    let id = asked["id"].as_str().unwrap();
    suite.ctl(&["approvals", "allow", id]).await.ok();
    talk.end().await.ok();
    assert_eq!(suite.written("a").as_deref(), Some("x\n"));
}

#[tokio::test]
async fn codex_tools_what_only_reads_is_not_asked_about() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup
        .set("tools.exec.ask", "on-miss")
        .note("a.txt", "apple\n")
        .start()
        .await;
    model.push(Scenario::tool(OWN, json!({"cmd": "cat a.txt"})));
    let run = suite.ask("look").await;
    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    let output = run["toolCalls"][0]["output"].as_str().unwrap();
    assert!(output.contains("apple"), "{run}");
}

/// It runs some commands unasked, so it has none where all are to be asked about.
#[tokio::test]
async fn codex_tools_where_everything_is_asked_about_commands_are_ours_alone() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.set("tools.exec.ask", "always").start().await;
    let (talk, asked) = asking(&suite, &model, OURS, json!({"command": "ls"})).await;
    let id = asked["id"].as_str().unwrap();
    suite.ctl(&["approvals", "allow", id]).await.ok();
    talk.end().await.ok();
    let tools = asked::tools(&asked::turns(&model, 1).await[0]);
    assert!(!tools.iter().any(|tool| tool == OWN), "{tools:?}");
}

/// What the agent writes into its CLI's folder allows it nothing.
#[tokio::test]
async fn rules_that_the_agent_wrote_for_itself_do_not_count() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.asks_nobody("on-miss").start().await;
    suite.say("hello").await;
    let kept = std::fs::read_dir(suite.path("state/agents/main/cli")).unwrap();
    let [kept] = kept.flatten().collect::<Vec<_>>().try_into().unwrap();
    let home = suite.path("state/agents/main/home/.codex");
    for folder in [home, kept.path(), kept.path().join("sessions")] {
        std::fs::create_dir_all(folder.join("rules")).unwrap();
        let rule = "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n";
        std::fs::write(folder.join("rules/default.rules"), rule).unwrap();
        std::fs::write(folder.join("config.toml"), "approval_policy = \"never\"\n").unwrap();
    }
    model.push(Scenario::tool(OWN, json!({"cmd": "touch a"})));
    let run = suite.ask("go on").await;
    assert_eq!(run["toolCalls"][0]["success"], false, "{run}");
    assert_eq!(suite.written("a"), None);
}
