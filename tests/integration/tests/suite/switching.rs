//! One session that is answered by another backend than before: what stands
//! ready for the one is not in the way of the other.

use integration_tests::{Setup, Suite};
use scripted_model::{Scenario, Server};

use crate::standing::is_standing;

/// Configures another backend, which holds for the next message.
async fn switch(suite: &Suite, backend: &str) {
    let set = ["config", "set", "agents.defaults.backend", backend];
    suite.ctl(&set).await.ok();
}

/// Every order of the backends, with and without CLIs that stand ready.
async fn goes_through(setup: Setup, cli: &str, model: &Server) {
    for seconds in [0, 60] {
        let suite = setup
            .clone()
            .set("agents.defaults.backend", "native")
            .set("agents.defaults.cliWarmSeconds", seconds)
            .start()
            .await;
        model.push(Scenario::text("Answer 0."));
        assert_eq!(suite.say("hello").await, "Answer 0.\n");
        let order = [cli, "native", "offline", cli, cli, "offline", "native", cli];
        for (number, backend) in order.into_iter().enumerate() {
            // A CLI leaves none where it is not kept warm.
            let before = if number == 0 {
                "native"
            } else {
                order[number - 1]
            };
            if before != cli || seconds > 0 {
                is_standing(&suite).await;
            }
            switch(&suite, backend).await;
            let answer = format!("Answer {}.", number + 1);
            if backend != "offline" {
                model.push(Scenario::text(answer.as_str()));
            }
            let run = suite.ask("and now?").await;
            assert_eq!(run["status"], "done", "{before} to {backend}: {run}");
            assert_eq!(run["backend"], backend, "{run}");
            if backend != "offline" {
                assert_eq!(run["text"], answer, "{before} to {backend}: {run}");
                let turns = model.turns();
                let asked = String::from_utf8_lossy(&turns.last().unwrap().body);
                for earlier in (0..=number).filter(|at| *at == 0 || order[at - 1] != "offline") {
                    let answer = format!("Answer {earlier}.");
                    assert!(
                        asked.contains(&answer),
                        "{before} to {backend}: no {answer}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn claude_cli_answers_the_first_message_after_another_backend() {
    let model = Server::start().await.unwrap();
    if let Some(setup) = Setup::claude(&model) {
        goes_through(setup, "claude-cli", &model).await;
    }
}

#[tokio::test]
async fn codex_cli_answers_the_first_message_after_another_backend() {
    let model = Server::start().await.unwrap();
    if let Some(setup) = Setup::codex(&model) {
        goes_through(setup, "codex-cli", &model).await;
    }
}

/// A spare that nobody takes is not left to stand, nor is its id used again.
#[tokio::test]
async fn switching_what_cannot_be_started_leaves_the_next_turn_its_place() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    is_standing(&suite).await;
    let program = "agents.defaults.claudeCliPath";
    suite
        .ctl(&["config", "set", program, "/nowhere/claude"])
        .await
        .ok();
    switch(&suite, "claude-cli").await;
    let run = suite.ask("hello?").await;
    assert_eq!(run["error"]["code"], "backend_missing", "{run}");
    switch(&suite, "native").await;
    for number in 0..3 {
        let answer = format!("Answer {number}.");
        model.push(Scenario::text(answer.as_str()));
        assert_eq!(suite.say("and now?").await, answer + "\n");
        is_standing(&suite).await;
    }
}
