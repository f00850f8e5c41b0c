//! When servers of tools start and end, and who waits for that.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use integration_tests::tool_server::{self, ToolServer};
use integration_tests::{Setup, Suite, asked, program, within};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// A message that waits for no server takes less, on a machine with much to do.
const UNHELD: Duration = Duration::from_secs(10);

async fn call(suite: &Suite, model: &Server, tool: &str, arguments: Value) -> Value {
    model.push(Scenario::tool(tool, arguments).then(Scenario::text("Done.")));
    let run = suite.ask("go on").await;
    assert_eq!(run["status"], "done", "{run}");
    run["toolCalls"][0].clone()
}

async fn notes(suite: &Suite, text: &str) -> String {
    suite.ctl(&["message", "--json", text]).await.ok()
}

fn setups(model: &Server) -> Vec<(Setup, &'static str)> {
    let claude = Setup::claude(model).map(|setup| (setup, "mcp__openclaw__"));
    let all = [Some((Setup::anthropic(model), "")), claude];
    let all = all.into_iter().flatten();
    all.map(|(setup, prefix)| (setup.set("tools.exec.ask", "off"), prefix))
        .collect()
}

#[tokio::test]
async fn real_servers_have_their_tools_before_the_model_is_asked() {
    let model = Server::start().await.unwrap();
    let Some([time, everything]) = tool_server::real() else {
        return;
    };
    let codex =
        Setup::codex(&model).map(|setup| (setup.set("tools.exec.ask", "off"), "mcp__openclaw__"));
    for (setup, prefix) in setups(&model).into_iter().chain(codex) {
        let suite = setup
            .set("mcp.servers.time", time.clone())
            .set("mcp.servers.everything", everything.clone())
            .start()
            .await;
        // Where the machine has much else to do they come later than a message
        // waits, and are there for the next one.
        let wanted = ["time__convert_time", "everything__echo"];
        let tools = within("the tools of the real servers", async {
            loop {
                model.forget();
                suite.say("hello").await;
                let tools = asked::tools(&asked::turns(&model, 1).await[0]);
                let has = |tool: &&str| tools.contains(&format!("{prefix}{tool}"));
                if wanted.iter().all(has) {
                    return tools;
                }
            }
        })
        .await;
        for tool in wanted {
            let tool = format!("{prefix}{tool}");
            assert!(tools.contains(&tool), "no {tool} among {tools:?}");
        }
        let tool = format!("{prefix}time__get_current_time");
        let called = call(&suite, &model, &tool, json!({"timezone": "UTC"})).await;
        assert_eq!(called["success"], true, "{called}");
        assert!(called.to_string().contains("UTC"), "{called}");
    }
}

#[tokio::test]
async fn hanging_server_holds_up_no_message_and_is_told() {
    let model = Server::start().await.unwrap();
    let server = ToolServer::default();
    let suite = Setup::anthropic(&model)
        .set("mcp.servers.good", server.entry(&json!({})))
        .set("mcp.servers.hanging", server.entry(&json!({"hang": true})))
        .start()
        .await;
    let first = Instant::now();
    let said = notes(&suite, "one").await;
    assert!(first.elapsed() < UNHELD, "{:?}", first.elapsed());
    assert!(said.contains("hanging is still being started"), "{said}");
    let tools = asked::tools(&asked::turns(&model, 1).await[0]);
    assert!(tools.iter().any(|tool| tool == "good__count"), "{tools:?}");
    let second = Instant::now();
    notes(&suite, "two").await;
    assert!(second.elapsed() < first.elapsed() - second.elapsed());
}

/// Has the server of a session count; its count, and which process it is.
async fn count(suite: &Suite, model: &Server, session: &str) -> (String, String) {
    model.push(Scenario::tool("test__count", json!({})).then(Scenario::text("Done.")));
    let said = ["message", "--json", "--session", session, "go on"];
    let said = suite.ctl(&said).await.ok();
    let output = said.split("\"output\":\"").nth(1).unwrap_or(&said);
    let output = output.split('"').next().unwrap_or_default();
    let (count, process) = output.split_once(' ').unwrap_or_default();
    (count.to_owned(), process.to_owned())
}

fn counting(model: &Server, server: &ToolServer) -> Setup {
    Setup::anthropic(model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", server.entry(&json!({})))
}

#[tokio::test]
async fn servers_stay_up_between_the_messages_of_their_session_alone() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = counting(&model, &server).start().await;
    let first = count(&suite, &model, "one").await;
    let second = count(&suite, &model, "one").await;
    assert_eq!((first.0.as_str(), second.0.as_str()), ("1", "2"));
    assert_eq!(first.1, second.1, "it is the same process");
    let mut others = Vec::new();
    for other in ["two", "three", "four"] {
        let said = count(&suite, &model, other).await;
        assert_eq!(said.0, "1", "{other}");
        assert!(said.1 != first.1 && !others.contains(&said.1), "{other}");
        others.push(said.1);
    }
    assert_eq!(
        count(&suite, &model, "one").await,
        ("3".to_owned(), first.1.clone())
    );
    // The fifth takes the place of the one that was silent longest.
    count(&suite, &model, "five").await;
    assert_eq!(count(&suite, &model, "one").await.0, "4");
    let again = count(&suite, &model, "two").await;
    assert!(again.0 == "1" && again.1 != others[0], "{again:?}");
}

#[tokio::test]
async fn servers_end_when_no_message_comes() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = counting(&model, &server)
        .set("mcp.sessionIdleTtlMs", 1)
        .start()
        .await;
    let first = count(&suite, &model, "one").await;
    let second = count(&suite, &model, "one").await;
    assert_eq!((first.0.as_str(), second.0.as_str()), ("1", "1"));
    assert_ne!(first.1, second.1);
}

/// Nobody is asked about a call that cannot be made.
#[tokio::test]
async fn calls_of_dead_and_silent_servers_fail_before_anybody_is_asked() {
    let model = Server::start().await.unwrap();
    let server = ToolServer::default();
    let mut silent = server.entry(&json!({}));
    silent["requestTimeoutMs"] = json!(300);
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "on-miss")
        .set("tools.exec.allowlist", json!(["silent__t0", "dead__die"]))
        .set("mcp.servers.silent", silent)
        .set("mcp.servers.dead", server.entry(&json!({})))
        .start()
        .await;
    for (first, arguments, then, reason) in [
        (
            "silent__count",
            json!({"stuck": true}),
            "silent__image",
            "has said nothing since",
        ),
        ("dead__die", json!({}), "dead__count", "it has ended"),
    ] {
        model.push(
            Scenario::tool(first, arguments)
                .then(Scenario::tool(then, json!({})).then(Scenario::text("Done."))),
        );
        let mut talk = suite.begin(&["message", "--json", "go on"]);
        if first == "silent__count" {
            talk.hear("\"approval_requested\"").await;
            let list = suite.ctl(&["approvals", "list", "--json"]).await.document();
            let id = list["waiting"][0]["id"].as_str().unwrap().to_owned();
            suite.ctl(&["approvals", "allow", &id]).await.ok();
        }
        let said = talk.end().await.ok();
        let asked = said.matches("\"approval_requested\"").count();
        let expected = usize::from(first == "silent__count");
        assert_eq!(asked, expected, "{said}");
        assert!(said.contains(reason), "{reason}: {said}");
    }
}

#[tokio::test]
async fn causes_of_a_server_that_does_not_run_are_told() {
    let model = Server::start().await.unwrap();
    let server = ToolServer::default();
    let absent = json!({"command": "python3", "args": ["-m", "no_such_module_here"]});
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.absent", absent)
        .set("mcp.servers.tired", server.entry(&json!({})))
        .start()
        .await;
    let said = notes(&suite, "hello").await;
    assert!(
        said.contains("No module named no_such_module_here"),
        "{said}"
    );
    let called = call(&suite, &model, "tired__die", json!({})).await;
    assert_eq!(called["success"], false, "{called}");
    assert!(called.to_string().contains("I have had enough"), "{called}");
    let again = call(&suite, &model, "tired__count", json!({})).await;
    assert_eq!(again["success"], true, "{again}");
}

/// A folder with the suite's programs in which the agent's own takes longer to start its
/// tools than a CLI waits by itself.
fn slow_tools() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for name in ["gateway", "agent-runner", "memory", "sandbox"] {
        let name = format!("openclaw-{name}");
        symlink(program::path(&name), place(&name)).unwrap();
    }
    std::fs::copy(program::path("openclaw-agent"), place("agent")).unwrap();
    let agent = place("agent").display().to_string();
    let script =
        format!("#!/bin/sh\ncase \"$*\" in mcp*) /bin/sleep 6;; esac\nexec {agent} \"$@\"\n");
    std::fs::write(place("openclaw-agent"), script).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place("openclaw-agent"), mode).unwrap();
    folder
}

#[tokio::test]
async fn cli_has_our_tools_on_a_machine_that_is_slow_to_start_them() {
    let model = Server::start().await.unwrap();
    let programs = slow_tools();
    let setups = [Setup::claude(&model), Setup::codex(&model)];
    for setup in setups.into_iter().flatten() {
        let suite = setup
            .variable("OPENCLAW_LIBEXEC", programs.path().to_str().unwrap())
            .start()
            .await;
        model.forget();
        suite.say("hello").await;
        let tools = asked::tools(&asked::turns(&model, 1).await[0]);
        let ours = |tool: &String| tool == "mcp__openclaw__memory_search";
        assert!(tools.iter().any(ours), "{tools:?}");
    }
}
