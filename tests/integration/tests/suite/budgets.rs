//! What a turn and a day may cost.

use integration_tests::{Setup, asked};
use scripted_model::{Scenario, Server, Usage};
use serde_json::{Value, json};

/// A tool call for ever, each answer with these tokens.
fn dear(input: u64, output: u64) -> Scenario {
    let usage = Usage {
        input,
        output,
        ..Usage::default()
    };
    let mut scenario = Scenario::text("Done.").usage(usage);
    for number in (0..9).rev() {
        let call = json!({"path": "x".repeat(number + 1)});
        scenario = Scenario::tool("list_directory", call)
            .usage(usage)
            .then(scenario);
    }
    scenario
}

fn priced(setup: Setup, input: f64, output: f64) -> Setup {
    let model = json!({"id": "claude-sonnet-5", "cost": {"input": input, "output": output}});
    setup.set("models.providers.anthropic.models", json!([model]))
}

fn message(run: &Value) -> &str {
    assert_eq!(run["error"]["code"], "resource_limit", "{run}");
    run["error"]["message"].as_str().unwrap()
}

#[tokio::test]
async fn turn_ends_when_the_model_has_written_enough() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("agents.defaults.limits.outputTokens", 250);
    let suite = setup.start().await;
    model.push(dear(1, 100));
    let run = suite.ask("go on").await;
    let said = message(&run);
    assert!(
        said.contains("300 tokens") && said.contains("limits.outputTokens"),
        "{said}"
    );
    assert_eq!(asked::turns(&model, 3).await.len(), 3);
    suite.say("something else").await;
}

#[tokio::test]
async fn turn_ends_when_it_is_too_dear() {
    let model = Server::start().await.unwrap();
    let setup = priced(Setup::anthropic(&model), 1.0, 10.0);
    let suite = setup
        .set("agents.defaults.limits.costPerTurn", 0.5)
        .start()
        .await;
    // 0.1 + 0.1 dollars an answer.
    model.push(dear(100_000, 10_000));
    let run = suite.ask("go on").await;
    let said = message(&run);
    assert!(said.contains("$0.60") && said.contains("$0.50"), "{said}");
    assert!(said.contains("limits.costPerTurn"), "{said}");
    assert_eq!(asked::turns(&model, 3).await.len(), 3);
    let cost = run["resources"]["costUsd"].as_f64().unwrap();
    assert!((cost - 0.6).abs() < 1e-9, "{run}");
}

#[tokio::test]
async fn days_money_is_counted_over_turns_and_restarts() {
    let model = Server::start().await.unwrap();
    let setup = priced(Setup::anthropic(&model), 1.0, 10.0);
    let suite = setup
        .set("agents.defaults.limits.costPerDay", 0.35)
        .start()
        .await;
    let usage = Usage {
        input: 100_000,
        output: 10_000,
        ..Usage::default()
    };
    model.push(Scenario::text("First.").usage(usage));
    suite.say("one").await;
    suite.terminate();
    let mut suite = suite;
    suite.ended().await;
    let suite = suite.restart().await;
    model.push(Scenario::text("Second.").usage(usage));
    suite.say("two").await;
    let run = suite.ask("three").await;
    let said = message(&run);
    for words in [
        "no turn is started",
        "$0.40",
        "$0.35",
        "tomorrow",
        "limits.costPerDay",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(model.turns().len(), 2, "nobody was asked");
}

#[tokio::test]
async fn price_that_nobody_knows_is_said_once() {
    let model = Server::start().await.unwrap();
    let setup = Setup::openai(&model).set("agents.defaults.model", "openai/own-model");
    let suite = setup.start().await;
    let said = suite.ctl(&["message", "--json", "hello"]).await;
    said.says(&[
        "it is not known what openai/own-model costs",
        "models.providers.openai.models",
    ]);
    let said = suite.ctl(&["message", "--json", "hello"]).await.ok();
    assert!(!said.contains("it is not known"), "{said}");
    let run = suite.ask("hello").await;
    assert_eq!(run["resources"]["costUsd"], Value::Null, "{run}");
}

#[tokio::test]
async fn session_has_limits_of_its_own() {
    let model = Server::start().await.unwrap();
    let setup = priced(Setup::anthropic(&model), 1.0, 10.0);
    let suite = setup.start().await;
    suite.say("hello").await;
    let set = |limits: &'static [&'static str]| {
        let suite = &suite;
        async move {
            let mut arguments = vec!["sessions", "patch", "main"];
            limits
                .iter()
                .for_each(|limit| arguments.extend(["--set", limit]));
            suite.ctl(&arguments).await
        }
    };
    set(&["limits.steps=2", "limits.costPerTurn=0.5"])
        .await
        .ok();
    model.push(dear(1, 1));
    let run = suite.ask("go on").await;
    assert_eq!(run["stopReason"], "step_limit", "{run}");
    let said = run["text"].as_str().unwrap();
    assert!(said.contains("limit of 2 model requests"), "{said}");
    assert!(said.contains("the session's limits.steps"), "{said}");
    assert!(!said.contains("agents.defaults"), "{said}");

    set(&["limits.steps="]).await.ok();
    model.push(dear(100_000, 10_000));
    let run = suite.ask("go on").await;
    let said = message(&run);
    assert!(said.contains("the session's limits.costPerTurn"), "{said}");

    // Others have what is configured, and so has this one without its own.
    model.push(dear(100_000, 10_000));
    suite
        .ctl(&["message", "--session", "other", "go on"])
        .await
        .ok();
    set(&["limits="]).await.ok();
    model.push(dear(1, 1));
    suite.say("go on").await;

    for (limit, words) in [
        ("limits.memoryMax=lots", "512M"),
        ("limits.stepz=1", "there are steps"),
        ("limits.steps=0", "at least 1"),
        ("limits=many", "an object"),
    ] {
        let said = suite
            .ctl(&["sessions", "patch", "main", "--set", limit])
            .await;
        said.ended(64).complains(&[words]);
    }
}

/// The Claude Code CLI that does not stop calling a tool.
async fn claude_goes_on(limit: &str, value: u64, scenario: Scenario) -> Option<Value> {
    let model = Server::start().await.unwrap();
    let key = format!("agents.defaults.limits.{limit}");
    let suite = Setup::claude(&model)?.set(&key, value).start().await;
    model.push(scenario);
    Some(suite.ask("go on").await)
}

#[tokio::test]
async fn claude_cli_makes_so_many_steps_and_no_more() {
    let Some(run) = claude_goes_on("steps", 2, dear_for_claude(1)).await else {
        return;
    };
    let error = &run["error"];
    assert_eq!(error["code"], "step_limit", "{run}");
    assert!(
        error["message"].as_str().unwrap().contains("limits.steps"),
        "{run}"
    );
}

#[tokio::test]
async fn claude_cli_does_not_call_the_same_again_and_again() {
    let calls = Scenario::tool_forever("Glob", json!({"pattern": "*.none"}));
    let Some(run) = claude_goes_on("identicalCalls", 2, calls).await else {
        return;
    };
    assert_eq!(run["error"]["code"], "loop_detected", "{run}");
}

#[tokio::test]
async fn claude_cli_writes_so_much_and_no_more() {
    let Some(run) = claude_goes_on("outputTokens", 250, dear_for_claude(100)).await else {
        return;
    };
    let words = message(&run);
    assert!(
        words.contains("300 tokens") && words.contains("outputTokens"),
        "{words}"
    );
}

#[tokio::test]
async fn claude_cli_spends_so_much_and_no_more() {
    for (limit, words) in [
        ("costPerTurn", "raise agents.defaults.limits.costPerTurn"),
        ("costPerDay", "wait for tomorrow"),
    ] {
        let model = Server::start().await.unwrap();
        let Some(setup) = Setup::claude(&model) else {
            return;
        };
        let key = format!("agents.defaults.limits.{limit}");
        let suite = setup.set(&key, 0.0001).start().await;
        model.push(dear_for_claude(1000));
        let run = suite.ask("go on").await;
        assert!(message(&run).contains(words), "{run}");
        assert!(asked::turns(&model, 1).await.len() < 9, "it went on");
        assert!(
            run["resources"]["costUsd"].as_f64().unwrap() > 0.0001,
            "{run}"
        );
    }
}

/// Nine calls of a tool of the CLI, each answer of so many tokens.
fn dear_for_claude(output: u64) -> Scenario {
    let usage = Usage {
        input: 1,
        output,
        ..Usage::default()
    };
    (0..9).fold(Scenario::text("Done.").usage(usage), |then, number| {
        let call = json!({"pattern": format!("{number}.none")});
        Scenario::tool("Glob", call).usage(usage).then(then)
    })
}
