//! What goes wrong with the Claude Code CLI is said in words that help, and
//! what was said before is kept.

use integration_tests::claude::{CLAUDE, delta};
use integration_tests::transcript::{of_role, text};
use integration_tests::{Said, Setup, Suite, asked, processes};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::Value;

/// More than the CLI takes to start, on a busy machine too.
const PATIENCE: u64 = 8;

fn last_reply(suite: &Suite) -> Value {
    let messages = suite.messages();
    of_role(&messages, "assistant").pop().unwrap().clone()
}

#[tokio::test]
async fn claude_failures_not_installed() {
    let suite = Setup::empty()
        .set("agents.defaults.backend", "claude-cli")
        .set("agents.defaults.claudeCliPath", "/nonexistent/claude")
        .start()
        .await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1).complains(&[
        "/nonexistent/claude",
        "npm install -g @anthropic-ai/claude-code",
    ]);
    assert_eq!(suite.ask("hello").await["error"]["code"], "backend_missing");
}

#[tokio::test]
async fn claude_failures_not_logged_in() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.without("ANTHROPIC_API_KEY").start().await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1)
        .complains(&["not logged in", "claude setup-token"]);
    assert_eq!(suite.ask("hello").await["error"]["code"], "not_logged_in");
    assert!(model.turns().is_empty());
}

#[tokio::test]
async fn claude_failures_refused_key() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.start().await;
    model.default(Scenario::failure(401));
    let run = suite.ask("hello").await;
    assert_eq!(run["error"]["code"], "auth", "{run}");
    let message = run["error"]["message"].as_str().unwrap();
    assert!(message.contains("ANTHROPIC_API_KEY"), "{message}");
    assert_eq!(last_reply(&suite)["stopReason"], "error");
}

/// A turn whose model never ends its answer.
async fn held(limit: &str) -> Option<(Suite, Said)> {
    let model = Server::start().await.unwrap();
    let setup = Setup::claude(&model)?;
    let suite = setup
        .set(&format!("agents.defaults.{limit}"), PATIENCE)
        .start()
        .await;
    model.push(Scenario::held(
        "Half of an answer that never ends.",
        "never",
    ));
    let said = suite.ctl(&["message", "think"]).await.ended(1);
    Some((suite, said))
}

#[tokio::test]
async fn too_long() {
    let Some((suite, said)) = held("timeoutSeconds").await else {
        return;
    };
    said.says(&["Half of"])
        .complains(&["took longer than 8 seconds", "timeoutSeconds"]);
    assert!(text(&last_reply(&suite)).starts_with("Half of"));
}

#[tokio::test]
async fn too_silent() {
    let Some((suite, said)) = held("noOutputSeconds").await else {
        return;
    };
    said.says(&["Half of"])
        .complains(&["said nothing for 8 seconds", "noOutputSeconds"]);
    assert!(text(&last_reply(&suite)).starts_with("Half of"));
}

#[tokio::test]
async fn claude_failures_crash() {
    let line = delta("Half of it");
    let script = format!("echo '{line}'\necho 'out of luck' >&2\nexit 3\n");
    let suite = Setup::imitated(&CLAUDE, &script).await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1).says(&["Half of it"]).complains(&[
        "Claude Code CLI",
        "exit code 3",
        "out of luck",
    ]);
    let reply = last_reply(&suite);
    assert_eq!(
        (text(&reply).as_str(), &reply["stopReason"]),
        ("Half of it", &"error".into())
    );
    assert_eq!(suite.ask("hello").await["error"]["code"], "crashed");
}

#[tokio::test]
async fn killed_by_a_signal() {
    let script = format!("echo '{}'\nkill -SEGV $$\n", delta("Half of it"));
    let suite = Setup::imitated(&CLAUDE, &script).await;
    let run = suite.ask("hello").await;
    assert_eq!(
        (&run["text"], &run["error"]["code"]),
        (&"Half of it".into(), &"crashed".into()),
        "{run}"
    );
}

#[tokio::test]
async fn line_that_is_no_json() {
    let script = format!("echo '{}'\necho 'Segfault at 0x0'\n", delta("Half of it"));
    let suite = Setup::imitated(&CLAUDE, &script).await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1).says(&["Half of it"]).complains(&[
        "not JSON",
        "Segfault at 0x0",
        "claude --version",
    ]);
    assert_eq!(text(&last_reply(&suite)), "Half of it");
    assert_eq!(
        suite.ask("hello").await["error"]["code"],
        "malformed_output"
    );
}

/// A line of 1.2 MB, of which forty times as much would be made outside the sandbox.
#[tokio::test]
async fn line_of_more_values_than_can_be_held_ends_the_turn() {
    let script = format!(
        "echo '{}'\nprintf '{{\"type\":\"x\",\"a\":['\n\
         yes 0, | head -n 600000 | tr -d '\\n'\necho '0]}}'\nsleep 60\n",
        delta("Half of it")
    );
    let suite = Setup::imitated(&CLAUDE, &script).await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1)
        .says(&["Half of it"])
        .complains(&["the agent wrote more than can be kept"]);
}

#[tokio::test]
async fn ctrl_c_ends_it_and_the_conversation_goes_on() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.start().await;
    model.push(Scenario::held(
        "Half of an answer that never ends.",
        "never",
    ));
    let mut talk = suite.begin(&["message", "think of an elephant"]);
    talk.hear("Half of").await;
    talk.signal(Signal::SIGINT);
    talk.end().await.ended(130);
    let mut left: Vec<String> = processes::of_folder(&suite.path(""))
        .into_iter()
        .filter_map(processes::program)
        .collect();
    left.sort();
    let daemons = [
        "openclaw-agent-runner",
        "openclaw-gateway",
        "openclaw-memory",
        "openclawctl",
    ];
    assert_eq!(left, daemons, "no process of the turn is left");
    assert_eq!(last_reply(&suite)["stopReason"], "aborted");
    assert!(text(&last_reply(&suite)).starts_with("Half of"));

    suite.say("and now?").await;
    let words = asked::words(&asked::turns(&model, 2).await[1]);
    for said in ["think of an elephant", "and now?"] {
        assert!(words.contains(said), "no {said:?}: {words}");
    }
}
