//! What the agent CLIs bring along: a prompt within bounds, results that are no
//! answers, commands in the background, words that they take for their own.

use integration_tests::{Setup, asked};
use scripted_model::{Scenario, Server};
use serde_json::json;

/// Bytes of the request for "hi".
const PROMPT_LIMIT: usize = 35_000;

fn in_background(command: &str) -> Scenario {
    let arguments =
        json!({"command": command, "description": "wait for it", "run_in_background": true});
    Scenario::tool("Bash", arguments).then(Scenario::text("It runs."))
}

#[tokio::test]
async fn short_message_makes_a_short_request() {
    let model = Server::start().await.unwrap();
    for setup in [Setup::claude(&model), Setup::codex(&model)] {
        let Some(setup) = setup else {
            continue;
        };
        let before = model.turns().len();
        setup.start().await.say("hi").await;
        let turns = asked::turns(&model, before + 1).await;
        let request = &turns[before];
        let size = request.json().to_string().len();
        assert!(size <= PROMPT_LIMIT, "{size}");
        let words = asked::words(request);
        assert!(!words.contains("persistent file-based memory"), "{words}");
        assert!(
            !words.contains("available for use with the Skill tool"),
            "{words}"
        );
    }
}

#[tokio::test]
async fn cli_own_what_was_left_in_the_background_is_no_answer_to_the_next_message() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.set("tools.exec.ask", "off").start().await;
    model.push(in_background("sleep 300"));
    let said = suite.ctl(&["message", "--verbose", "start it"]).await;
    let told = "what still ran in the background was ended with the turn: wait for it";
    said.ended(0).says(&["It runs."]).complains(&[told]);
    let system = asked::turns(&model, 1).await[0].json()["system"].to_string();
    assert!(system.contains("ended when you have"), "{system}");

    model.push(Scenario::text("Four."));
    let run = suite.ask("what is two and two?").await;
    assert_eq!(run["text"], "Four.", "{run}");
}

#[tokio::test]
async fn cli_own_what_ended_in_time_is_not_told_of() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.set("tools.exec.ask", "off").start().await;
    let waits = json!({"command": "until test -e over; do sleep 0.05; done; echo seen"});
    let starts =
        json!({"command": "touch over", "description": "end it", "run_in_background": true});
    let then = Scenario::tool("Bash", waits).then(Scenario::text("Over."));
    model.push(Scenario::tool("Bash", starts).then(then));
    let said = suite
        .ctl(&["message", "--verbose", "start it"])
        .await
        .ended(0);
    let said = said.says(&["Over."]);
    assert!(!said.stderr.contains("ended with the turn"), "{said}");
}

#[tokio::test]
async fn message_that_begins_with_a_slash_is_for_the_model() {
    let model = Server::start().await.unwrap();
    for setup in [Setup::claude(&model), Setup::codex(&model)] {
        let Some(setup) = setup else {
            continue;
        };
        let suite = setup.start().await;
        for text in [
            "/cost",
            "/clear please",
            "/help me",
            "/etc/hosts, what is it?",
        ] {
            let said = suite.say(text).await;
            assert!(said.contains(text), "{text}: {said}");
        }
    }
}
