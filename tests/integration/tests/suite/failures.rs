//! What goes wrong at the model is said in words that help, and what was said
//! before is kept.

use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Suite};
use scripted_model::{Ending, Scenario, Server};
use serde_json::Value;

/// Half of this arrives where an answer breaks off.
const ANSWER: &str =
    "The quick brown fox jumps over the lazy dog, and the dog does not mind at all.";

/// Runs the same failure through both APIs.
async fn with_both(scenario: Scenario, check: impl AsyncFn(&str, &Suite)) {
    for api in ["anthropic", "openai"] {
        let model = Server::start().await.unwrap();
        let setup = match api {
            "anthropic" => Setup::anthropic(&model),
            _ => Setup::openai(&model),
        }
        .set("agents.defaults.limits.retrySeconds", 0);
        model.default(scenario.clone());
        let suite = setup.start().await;
        check(api, &suite).await;
    }
}

async fn refused(scenario: Scenario, code: &str, texts: &[&str]) {
    with_both(scenario, async |api, suite| {
        let said = suite.ctl(&["message", "hello"]).await.ended(1);
        said.complains(&["error: "]).complains(texts);
        let run = suite.ask("hello again").await;
        assert_eq!(run["error"]["code"], code, "{api}: {run}");
        assert_eq!(last_reply(suite)["stopReason"], "error", "{api}");
    })
    .await;
}

async fn broken_off(ending: Ending, codes: &[&str]) {
    with_both(Scenario::text(ANSWER).ending(ending), async |api, suite| {
        let said = suite.ctl(&["message", "hello"]).await.ended(1);
        let said = said.says(&["The quick brown"]).complains(&["error: "]);
        let run = suite.ask("hello again").await;
        let code = run["error"]["code"].as_str().unwrap();
        assert!(codes.contains(&code), "{api}: {run}");
        let reply = last_reply(suite);
        assert!(
            text(&reply).starts_with("The quick brown"),
            "{api}: {reply}"
        );
        assert_eq!(reply["stopReason"], "error", "{api}: {reply}");
        let message = reply["errorMessage"].as_str().unwrap_or_default();
        assert!(
            said.stderr.contains(message) && !message.is_empty(),
            "{api}: {reply}"
        );
    })
    .await;
}

fn last_reply(suite: &Suite) -> Value {
    let messages = suite.messages();
    of_role(&messages, "assistant").pop().unwrap().clone()
}

#[tokio::test]
async fn refused_key_is_named_as_such() {
    let texts = ["HTTP 401", "API key"];
    refused(Scenario::failure(401), "auth", &texts).await;
}

#[tokio::test]
async fn rate_limit_says_when_to_try_again() {
    let scenario = Scenario::failure(429).retry_after(20);
    let texts = ["HTTP 429", "Try again in 20 s"];
    refused(scenario.clone(), "rate_limited", &texts).await;
    with_both(scenario, async |api, suite| {
        let run = suite.ask("hello").await;
        assert_eq!(run["error"]["retryAfterMs"], 20_000, "{api}: {run}");
    })
    .await;
}

#[tokio::test]
async fn short_rate_limit_is_waited_for() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::failure(429).retry_after(1));
    model.push(Scenario::text("Now it works."));
    assert_eq!(suite.say("hello").await, "Now it works.\n");
    assert_eq!(model.turns().len(), 2);
}

#[tokio::test]
async fn failure_of_the_provider_is_its_own() {
    refused(Scenario::failure(500), "model_error", &["HTTP 500"]).await;
}

#[tokio::test]
async fn overloaded_provider_is_named_as_such() {
    refused(
        Scenario::failure(529),
        "overloaded",
        &["HTTP 529", "overloaded"],
    )
    .await;
}

#[tokio::test]
async fn answer_that_is_cut_off_is_kept_as_far_as_it_came() {
    broken_off(Ending::CutOff, &["network"]).await;
}

#[tokio::test]
async fn answer_without_an_end_is_no_whole_one() {
    broken_off(Ending::Unfinished, &["network", "malformed_output"]).await;
}

#[tokio::test]
async fn answer_that_becomes_rubbish_is_kept_as_far_as_it_came() {
    broken_off(Ending::MalformedSse, &["malformed_output", "network"]).await;
    broken_off(Ending::MalformedJson, &["malformed_output"]).await;
}

#[tokio::test]
async fn provider_that_is_not_there_is_named() {
    let model = Server::start().await.unwrap();
    let url = model.url();
    let setup = Setup::anthropic(&model).set("agents.defaults.limits.retrySeconds", 0);
    let suite = setup.start().await;
    drop(model);
    // The listener ends with its task, at the runtime's next turn.
    tokio::task::yield_now().await;
    let said = suite.ctl(&["message", "hello"]).await;
    said.ended(1)
        .complains(&["error: ", url.trim_start_matches("http://")]);
    assert_eq!(last_reply(&suite)["stopReason"], "error");
}
