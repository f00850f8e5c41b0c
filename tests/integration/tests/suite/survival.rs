//! A daemon that is killed is started again, and the next message finds it.

use integration_tests::transcript::{of_role, text};
use integration_tests::{Said, Setup, Suite, asked, processes};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};

async fn killed(daemon: &str) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("before").await;
    let old = suite.daemon(daemon);
    processes::send(old, Signal::SIGKILL);
    assert_eq!(suite.say("after").await, "You said: after\n");
    assert_ne!(suite.daemon(daemon), old);
    let last = asked::turns(&model, 2).await.pop().unwrap();
    assert!(
        asked::words(&last).contains("before"),
        "the conversation goes on"
    );
}

#[tokio::test]
async fn the_gateway() {
    killed("openclaw-gateway").await;
}

#[tokio::test]
async fn the_agent_runner() {
    killed("openclaw-agent-runner").await;
}

#[tokio::test]
async fn the_memory_daemon() {
    killed("openclaw-memory").await;
}

/// Kills `daemon` in the middle of an answer.
async fn killed_in_a_turn(daemon: &str) -> (Server, Suite, Said) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::held(
        "Once upon a time there was a king.",
        "never",
    ));
    let mut talk = suite.begin(&["message", "tell"]);
    talk.hear("Once upon").await;
    processes::send(suite.daemon(daemon), Signal::SIGKILL);
    let said = talk.end().await;
    (model, suite, said)
}

#[tokio::test]
async fn a_runner_killed_in_a_turn_ends_it_with_what_was_said() {
    let (_model, suite, said) = killed_in_a_turn("openclaw-agent-runner").await;
    said.ended(1)
        .says(&["Once upon"])
        .complains(&["agent-runner"]);
    let messages = suite.messages();
    let last = of_role(&messages, "assistant").pop().unwrap();
    assert!(text(last).starts_with("Once upon"), "{last}");
    assert_eq!(last["stopReason"], "error", "{last}");
    assert_eq!(suite.say("after").await, "You said: after\n");
}

#[tokio::test]
async fn a_gateway_killed_in_a_turn_closes_the_run_and_asks_nobody_twice() {
    let (model, suite, said) = killed_in_a_turn("openclaw-gateway").await;
    said.ended(1).says(&["Once upon"]).complains(&["gateway"]);
    assert_eq!(model.turns().len(), 1, "the model was asked once");
    let messages = suite.messages();
    assert_eq!(of_role(&messages, "user").len(), 1);
    assert_eq!(of_role(&messages, "assistant")[0]["stopReason"], "error");
    assert!(suite.say("after").await.contains("after"));
}
