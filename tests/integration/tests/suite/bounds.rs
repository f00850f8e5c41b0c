//! A model that does not come to an end is stopped.

use integration_tests::transcript::of_role;
use integration_tests::{Setup, asked};
use scripted_model::{Scenario, Server};
use serde_json::json;

#[tokio::test]
async fn step_limit_ends_a_turn_and_says_so() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("agents.defaults.limits.steps", 3);
    let suite = setup.start().await;
    model.push(Scenario::tool_forever("list_directory", json!({})));
    let said = suite.ctl(&["message", "go on"]).await.ended(0);

    said.says(&["limit of 3 model requests"])
        .complains(&["as many steps as it may"]);
    assert_eq!(asked::turns(&model, 3).await.len(), 3);
}

#[tokio::test]
async fn same_call_again_and_again_is_a_loop() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::tool_forever(
        "list_directory",
        json!({"path": "."}),
    ));
    let run = suite.ask("loop").await;

    assert_eq!(run["error"]["code"], "loop_detected", "{run}");
    let message = run["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("list_directory") && message.contains("5 times"),
        "{message}"
    );
    assert_eq!(model.turns().len(), 5, "stopped by default");
    let messages = suite.messages();
    let last = of_role(&messages, "assistant").pop().unwrap();
    assert_eq!(last["stopReason"], "error", "{last}");
    suite.say("something else").await;
}

#[tokio::test]
async fn turn_that_takes_too_long_is_stopped() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("agents.defaults.timeoutSeconds", 2);
    let suite = setup.start().await;
    model.push(Scenario::held(
        "Half of an answer that never ends.",
        "never",
    ));
    let said = suite.ctl(&["message", "think"]).await;
    said.ended(1)
        .says(&["Half of"])
        .complains(&["took longer than 2 seconds", "timeoutSeconds"]);
}

#[tokio::test]
async fn silent_turn_is_stopped() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("agents.defaults.noOutputSeconds", 2);
    let suite = setup.start().await;
    model.push(Scenario::held(
        "Half of an answer that never ends.",
        "never",
    ));
    let said = suite.ctl(&["message", "think"]).await;
    said.ended(1)
        .says(&["Half of"])
        .complains(&["said nothing for 2 seconds", "noOutputSeconds"]);
}
