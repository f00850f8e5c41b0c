//! What goes wrong with the Codex CLI is said in words that help, and what was
//! said before is kept.

use integration_tests::codex::{CODEX, delta, opened};
use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Suite, asked, processes};
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
async fn codex_failures_not_installed() {
    let suite = Setup::empty()
        .set("agents.defaults.backend", "codex-cli")
        .set("agents.defaults.codexCliPath", "/nonexistent/codex")
        .start()
        .await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1)
        .complains(&["/nonexistent/codex", "npm install -g @openai/codex"]);
    assert_eq!(suite.ask("hello").await["error"]["code"], "backend_missing");
}

#[tokio::test]
async fn codex_failures_not_logged_in() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.without("OPENAI_API_KEY").start().await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1).complains(&["not logged in", "codex login"]);
    assert_eq!(suite.ask("hello").await["error"]["code"], "not_logged_in");
    assert!(model.turns().is_empty());
}

#[tokio::test]
async fn codex_failures_what_the_provider_refuses() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.start().await;
    for (status, code, advice) in [
        (401, "auth", "OPENAI_API_KEY"),
        (429, "rate_limited", "wait"),
    ] {
        model.default(Scenario::failure(status));
        let run = suite.ask("hello").await;
        assert_eq!(run["error"]["code"], code, "{run}");
        let message = run["error"]["message"].as_str().unwrap();
        assert!(message.contains(advice), "{message}");
        assert_eq!(last_reply(&suite)["stopReason"], "error");
    }
}

#[tokio::test]
async fn too_long() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup
        .set("agents.defaults.timeoutSeconds", PATIENCE)
        .start()
        .await;
    model.push(Scenario::held(
        "Half of an answer that never ends.",
        "never",
    ));
    let said = suite.ctl(&["message", "think"]).await.ended(1);
    said.says(&["Half of"])
        .complains(&["took longer than 8 seconds", "timeoutSeconds"]);
    assert!(text(&last_reply(&suite)).starts_with("Half of"));
}

#[tokio::test]
async fn codex_failures_crash() {
    let script = opened(&format!(
        "echo '{}'\necho 'out of luck' >&2\nexit 3\n",
        delta("Half of it")
    ));
    let suite = Setup::imitated(&CODEX, &script).await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1)
        .says(&["Half of it"])
        .complains(&["Codex CLI", "exit code 3", "out of luck"]);
    let reply = last_reply(&suite);
    assert_eq!(
        (text(&reply).as_str(), &reply["stopReason"]),
        ("Half of it", &"error".into())
    );
    assert_eq!(suite.ask("hello").await["error"]["code"], "crashed");
}

#[tokio::test]
async fn line_that_is_no_json() {
    let script = opened(&format!(
        "echo '{}'\necho 'Segfault at 0x0'\n",
        delta("Half of it")
    ));
    let suite = Setup::imitated(&CODEX, &script).await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1).says(&["Half of it"]).complains(&[
        "not JSON",
        "Segfault at 0x0",
        "codex --version",
    ]);
    assert_eq!(text(&last_reply(&suite)), "Half of it");
    assert_eq!(
        suite.ask("hello").await["error"]["code"],
        "malformed_output"
    );
}

#[tokio::test]
async fn ctrl_c_ends_it_and_the_conversation_goes_on() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
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
    let left: Vec<String> = processes::of_folder(&suite.path(""))
        .into_iter()
        .filter_map(processes::program)
        .collect();
    assert!(!left.iter().any(|name| name.contains("codex")), "{left:?}");
    assert_eq!(last_reply(&suite)["stopReason"], "aborted");
    assert!(text(&last_reply(&suite)).starts_with("Half of"));

    suite.say("and now?").await;
    let words = asked::words(&asked::turns(&model, 2).await[1]);
    for said in ["think of an elephant", "and now?"] {
        assert!(words.contains(said), "no {said:?}: {words}");
    }
}
