//! What the real CLIs keep of a session is there for its own turns alone: others speak in a group than in private.

use integration_tests::{Setup, Suite};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

const GROUP: &str = "agent:main:telegram:group:-9";
const SECRET: &str = "walrus-4711";

/// What the model was asked last.
fn last(model: &Server) -> String {
    String::from_utf8_lossy(&model.turns().pop().unwrap().body).into_owned()
}

/// What came of a message in the group.
async fn in_group(suite: &Suite, text: &str) -> Value {
    let words = ["message", "--json", "--no-stream", "--session", GROUP, text];
    suite.ctl(&words).await.document()
}

/// The same of one in which a command looks for the words beneath the agents' folder.
async fn searched(suite: &Suite, model: &Server, (tool, key): (&str, &str)) -> Value {
    let place = suite.state().join("agents").display().to_string();
    // As a pattern, or it would be found in what the CLI keeps of this call.
    let line = format!("grep -rhoE 'walrus-4[0-9]+' {place} | sort -u");
    model.push(Scenario::tool(tool, json!({ (key): line })));
    in_group(suite, "look").await
}

#[tokio::test]
async fn group_sees_nothing_of_what_a_cli_keeps_of_private_sessions() {
    let model = Server::start().await.unwrap();
    let setups = [
        (
            Setup::claude(&model),
            ("Bash", "command"),
            ".claude/projects",
        ),
        (
            Setup::codex(&model),
            ("exec_command", "cmd"),
            ".codex/sessions",
        ),
    ];
    for (setup, tool, in_home) in setups {
        let Some(setup) = setup else {
            continue;
        };
        let suite = setup.asks_nobody("off").start().await;
        suite.say(&format!("The safe opens with {SECRET}.")).await;
        assert!(
            !suite
                .state()
                .join("agents/main/home")
                .join(in_home)
                .exists()
        );
        let run = searched(&suite, &model, tool).await;
        assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
        let told = run.to_string();
        assert!(!told.contains(SECRET), "{told}");

        // Its own session goes on, and so does the private one.
        model.push(Scenario::text("It is."));
        assert_eq!(in_group(&suite, "again").await["status"], "done");
        let told = last(&model);
        assert!(!told.contains(SECRET), "{told}");
        model.push(Scenario::text("With that."));
        suite.say("How?").await;
        let told = last(&model);
        assert!(told.contains(SECRET), "{told}");
    }
}
