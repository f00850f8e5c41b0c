//! A model that does not answer is asked again, and then somebody else is.

use integration_tests::setup::KEY;
use integration_tests::site::write_private;
use integration_tests::transcript::text;
use integration_tests::{Setup, Site, Suite, asked};
use scripted_model::{Ending, Scenario, Server};
use serde_json::{Value, json};

/// The key of the second profile or provider.
const SECOND: &str = "sk-second-made-up-for-tests";

/// A second provider, with Anthropic's API.
fn with_second(setup: Setup, model: &Server) -> Setup {
    let provider = json!({
        "baseUrl": model.url(), "apiKey": SECOND, "api": "anthropic-messages",
    });
    setup.set("models.providers.second", provider).set(
        "agents.defaults.model",
        json!({"primary": "anthropic/claude-sonnet-5", "fallbacks": ["second/other-model"]}),
    )
}

/// What the user was told beside the answer.
async fn notes(suite: &Suite, text: &str) -> (String, Value) {
    let said = suite.ctl(&["message", "--json", text]).await;
    let lines = said.lines();
    let notes = lines
        .iter()
        .filter(|line| line["type"] == "note")
        .map(|line| line["text"].as_str().unwrap().to_owned());
    (
        notes.collect::<Vec<_>>().join("\n"),
        lines.last().unwrap().clone(),
    )
}

fn usage(site: &Site) -> Value {
    let file = site.state().join("agents/main/auth/usage.json");
    std::fs::read(file)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

#[tokio::test]
async fn busy_provider_is_waited_for_and_the_user_knows() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::failure(529));
    model.push(Scenario::failure(429).retry_after(1));
    model.push(Scenario::failure(500));
    model.push(Scenario::text("Here I am."));
    let (notes, end) = notes(&suite, "hello").await;
    assert_eq!(end["type"], "done", "{end}");
    for words in [
        "overloaded (HTTP 529)",
        "rate of requests (HTTP 429)",
        "HTTP 500",
        "attempt 4",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    assert_eq!(asked::turns(&model, 4).await.len(), 4);
    let texts = suite.messages().len();
    assert_eq!(texts, 2, "one question, one answer");
}

#[tokio::test]
async fn answer_that_breaks_before_its_first_word_is_asked_for_again() {
    for ending in [Ending::ErrorEvent, Ending::CutOff, Ending::Unfinished] {
        let model = Server::start().await.unwrap();
        let suite = Setup::anthropic(&model).start().await;
        model.push(Scenario::text("").ending(ending));
        model.push(Scenario::text("Here I am."));
        assert_eq!(suite.say("hello").await, "Here I am.\n", "{ending:?}");
        assert_eq!(asked::turns(&model, 2).await.len(), 2);
    }
}

#[tokio::test]
async fn provider_that_comes_back_is_found() {
    let model = Server::start().await.unwrap();
    let address = model.address();
    let setup = Setup::anthropic(&model);
    drop(model);
    tokio::task::yield_now().await;
    let suite = setup.start().await;
    let mut talk = suite.begin(&["message", "--json", "hello"]);
    talk.hear("cannot be reached; trying again").await;
    let model = Server::start_at(address).await.unwrap();
    model.push(Scenario::text("Here I am."));
    talk.end().await.ok();
    assert_eq!(text(&suite.messages()[1]), "Here I am.");
}

#[tokio::test]
async fn wait_that_is_too_long_is_told_at_once() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::failure(429).retry_after(3600));
    let run = suite.ask("hello").await;
    assert_eq!(run["error"]["code"], "rate_limited", "{run}");
    assert_eq!(run["error"]["retryAfterMs"], 3_600_000);
    assert_eq!(model.turns().len(), 1);
    // Nobody is locked out by that.
    suite.say("hello again").await;
}

#[tokio::test]
async fn request_that_is_wrong_is_not_repeated_and_blames_no_key() {
    let model = Server::start().await.unwrap();
    let suite = with_second(Setup::anthropic(&model), &model).start().await;
    model.push(Scenario::failure(400));
    let run = suite.ask("hello").await;
    assert_eq!(run["error"]["code"], "model_error", "{run}");
    assert_eq!(model.turns().len(), 1);
    assert_eq!(usage(&suite), Value::Null);
    suite.say("something else").await;
    let last = model.turns().pop().unwrap();
    assert_eq!(last.json()["model"], "claude-sonnet-5");
}

#[tokio::test]
async fn next_model_of_the_configuration_answers_and_the_first_is_left_alone() {
    let model = Server::start().await.unwrap();
    let suite = with_second(Setup::anthropic(&model), &model).start().await;
    model.push(Scenario::failure(429).retry_after(60));
    model.push(Scenario::text("The second one."));
    let (said, end) = notes(&suite, "hello").await;
    assert!(
        said.contains("second/other-model answers instead"),
        "{said}"
    );
    assert_eq!(
        (&end["provider"], &end["type"]),
        (&json!("second"), &json!("done")),
        "{end}"
    );
    let requests = asked::turns(&model, 2).await;
    assert_eq!(requests[1].json()["model"], "other-model");
    assert_eq!(requests[1].header("x-api-key"), Some(SECOND));

    let kept = usage(&suite);
    let until = kept["ANTHROPIC_API_KEY"]["cooldownUntil"].as_i64().unwrap();
    let failed = kept["ANTHROPIC_API_KEY"]["lastFailed"].as_i64().unwrap();
    assert_eq!(until - failed, 60_000, "{kept}");
    // It holds over a restart.
    suite.terminate();
    let mut suite = suite;
    suite.ended().await;
    let suite = suite.restart().await;
    let (said, _) = notes(&suite, "again").await;
    assert!(said.contains("left alone until"), "{said}");
    assert_eq!(
        asked::turns(&model, 3).await[2].json()["model"],
        "other-model"
    );
}

#[tokio::test]
async fn model_with_another_api_takes_over_in_the_middle_of_a_turn() {
    let model = Server::start().await.unwrap();
    let other = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .variable("OPENAI_API_KEY", SECOND)
        .variable("OPENAI_BASE_URL", other.openai_url())
        .set(
            "agents.defaults.model",
            json!({"primary": "anthropic/claude-sonnet-5", "fallbacks": ["openai/gpt-5"]}),
        )
        .start()
        .await;
    let mut first = Scenario::tool("list_directory", json!({})).thinking("I look around.");
    first.then = Some(Box::new(Scenario::failure(401)));
    model.push(first);
    let run = suite.ask("look").await;
    assert_eq!(
        (&run["status"], &run["provider"]),
        (&json!("done"), &json!("openai")),
        "{run}"
    );
    assert!(
        run["text"].as_str().unwrap().contains("The tool said"),
        "{run}"
    );
    assert_eq!(asked::turns(&model, 2).await.len(), 2);
    let requests = asked::turns(&other, 1).await;
    assert_eq!(requests[0].json()["model"], "gpt-5");
    let roles: Vec<String> = asked::messages(&requests[0])
        .into_iter()
        .map(|said| said.0)
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    let pause = &usage(&suite)["ANTHROPIC_API_KEY"];
    assert_eq!(
        pause["cooldownUntil"].as_i64().unwrap() - pause["lastFailed"].as_i64().unwrap(),
        600_000
    );
}

#[tokio::test]
async fn next_key_of_the_provider_is_used_before_another_model() {
    let model = Server::start().await.unwrap();
    let site = with_second(Setup::anthropic(&model), &model).site();
    let auth = site.state().join("agents/main/auth");
    std::fs::create_dir_all(&auth).unwrap();
    let profile = json!({"id": "anthropic:work", "provider": "anthropic",
        "credential": {"type": "api-key", "apiKey": SECOND}});
    write_private(&auth.join("work.json"), &profile.to_string());
    let suite = Suite::start(site).await;
    model.push(Scenario::failure(401));
    model.push(Scenario::text("Here I am."));
    let (said, end) = notes(&suite, "hello").await;
    assert_eq!(end["provider"], "anthropic", "{end}");
    assert!(
        said.contains("does not accept the key (HTTP 401)"),
        "{said}"
    );
    assert!(
        said.contains("an auth profile for anthropic") && said.contains("ANTHROPIC_API_KEY"),
        "{said}"
    );
    let requests = asked::turns(&model, 2).await;
    assert_eq!(requests[0].header("x-api-key"), Some(SECOND));
    assert_eq!(requests[1].header("x-api-key"), Some(KEY));
    assert_eq!(usage(&suite)["anthropic:work"]["failureCount"], 1);
    // The next turn begins with the one that works.
    suite.say("again").await;
    assert_eq!(
        asked::turns(&model, 3).await[2].header("x-api-key"),
        Some(KEY)
    );
}

#[tokio::test]
async fn model_that_the_user_chose_is_never_replaced() {
    let model = Server::start().await.unwrap();
    let suite = with_second(Setup::anthropic(&model), &model).start().await;
    suite.say("hello").await;
    let chosen = [
        "sessions",
        "patch",
        "main",
        "--model",
        "anthropic/claude-opus-4-6",
    ];
    suite.ctl(&chosen).await.ok();
    model.push(Scenario::failure(401));
    let run = suite.ask("hello").await;
    assert_eq!(run["error"]["code"], "auth", "{run}");
    let requests = asked::turns(&model, 2).await;
    assert_eq!(requests[1].json()["model"], "claude-opus-4-6");
    assert_eq!(requests[1].header("x-api-key"), Some(KEY));
    // The key is left alone where there is another, but not for this session.
    suite.say("hello again").await;
    let last = asked::turns(&model, 3).await.pop().unwrap();
    assert_eq!(last.json()["model"], "claude-opus-4-6");
}

#[tokio::test]
async fn model_without_fallbacks_is_never_replaced() {
    let model = Server::start().await.unwrap();
    let suite = with_second(Setup::anthropic(&model), &model)
        .set("agents.defaults.model", "anthropic/claude-sonnet-5")
        .start()
        .await;
    model.push(Scenario::failure(401));
    let run = suite.ask("hello").await;
    assert_eq!(run["error"]["code"], "auth", "{run}");
    assert_eq!(model.turns().len(), 1);
    // One that is left alone is asked all the same when there is no other.
    suite.say("hello again").await;
    assert_eq!(usage(&suite)["ANTHROPIC_API_KEY"]["failureCount"], 0);
}
