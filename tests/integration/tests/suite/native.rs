//! The native backend, with both APIs it speaks.

use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, asked};
use scripted_model::{Scenario, Server};
use serde_json::json;

/// A model, and a setup for each API with it.
async fn apis() -> [(&'static str, Server, Setup); 2] {
    let (first, second) = (
        Server::start().await.unwrap(),
        Server::start().await.unwrap(),
    );
    let (anthropic, openai) = (Setup::anthropic(&first), Setup::openai(&second));
    [("anthropic", first, anthropic), ("openai", second, openai)]
}

#[tokio::test]
async fn message_is_answered_and_kept() {
    for (api, model, setup) in apis().await {
        let suite = setup.start().await;
        model.push(Scenario::text("Good morning to you."));
        assert_eq!(
            suite.say("good morning").await,
            "Good morning to you.\n",
            "{api}"
        );

        let messages = suite.messages();
        assert_eq!(text(of_role(&messages, "user")[0]), "good morning", "{api}");
        let reply = of_role(&messages, "assistant")[0];
        assert_eq!(text(reply), "Good morning to you.", "{api}");
        assert_eq!(reply["stopReason"], "stop", "{api}: {reply}");
        assert_eq!(reply["provider"], api, "{reply}");
    }
}

#[tokio::test]
async fn deltas_arrive_while_the_model_still_speaks() {
    for (api, model, setup) in apis().await {
        let suite = setup.start().await;
        model.push(Scenario::held(
            "First words, and then the rest of them.",
            "rest",
        ));
        let mut talk = suite.begin(&["message", "speak"]);
        let heard = talk.hear("First words").await;
        assert!(!heard.contains("rest of them"), "{api}: {heard}");
        model.release("rest");
        let said = talk.end().await.ok();
        assert_eq!(said, "First words, and then the rest of them.\n", "{api}");
    }
}

#[tokio::test]
async fn tool_writes_a_file_and_the_model_hears_of_it() {
    for (api, model, setup) in apis().await {
        let suite = setup.start().await;
        let arguments = json!({"path": "notes/list.txt", "content": "milk\n"});
        model.push(Scenario::tool("write_file", arguments));
        let run = suite.ask("write a list").await;

        assert_eq!(run["status"], "done", "{api}: {run}");
        assert_eq!(run["toolCalls"][0]["name"], "write_file", "{api}: {run}");
        assert_eq!(run["toolCalls"][0]["success"], true, "{api}: {run}");
        assert_eq!(
            suite.written("notes/list.txt").as_deref(),
            Some("milk\n"),
            "{api}"
        );
        let turns = asked::turns(&model, 2).await;
        assert!(
            asked::tools(&turns[0]).contains(&"write_file".to_owned()),
            "{api}"
        );
        let words = asked::words(&turns[1]);
        assert!(words.contains("wrote 5 bytes to"), "{api}: {words}");
        let messages = suite.messages();
        assert_eq!(
            of_role(&messages, "toolResult").len(),
            1,
            "{api}: {messages:?}"
        );
    }
}

#[tokio::test]
async fn command_gives_the_model_its_output_its_errors_and_its_exit_code() {
    for (api, model, setup) in apis().await {
        let suite = setup.start().await;
        let command = "echo to-out; echo to-err >&2; exit 3";
        model.push(Scenario::tool("execute_shell", json!({"command": command})));
        let run = suite.ask("run it").await;

        assert_eq!(run["status"], "done", "{api}: {run}");
        let turns = asked::turns(&model, 2).await;
        let words = asked::words(&turns[1]);
        let report = "exit code: 3\nstdout (7 bytes):\nto-out\nstderr (7 bytes):\nto-err\n";
        assert!(words.contains(report), "{api}: {words}");
    }
}

#[tokio::test]
async fn wrong_arguments_run_nothing_and_name_the_tool() {
    for (api, model, setup) in apis().await {
        let suite = setup.start().await;
        let arguments = json!({"path": "x.txt", "content": "x", "colour": "red"});
        model.push(Scenario::tool("write_file", arguments));
        let run = suite.ask("write").await;

        assert_eq!(run["toolCalls"][0]["success"], false, "{api}: {run}");
        assert_eq!(suite.written("x.txt"), None, "{api}");
        let turns = asked::turns(&model, 2).await;
        let words = asked::words(&turns[1]);
        assert!(
            words.contains("write_file") && words.contains("colour"),
            "{api}: {words}"
        );
    }
}

#[tokio::test]
async fn memory_is_searched_when_the_model_asks() {
    for (api, model, setup) in apis().await {
        let note = "# House\n\nThe boiler was serviced by Nováček.\n";
        let suite = setup.note("memory/house.md", note).start().await;
        let arguments = json!({"query": "who serviced the boiler"});
        model.push(Scenario::tool("memory_search", arguments));
        suite.say("look something up").await;

        let turns = asked::turns(&model, 2).await;
        let words = asked::words(&turns[1]);
        let found = words.contains("memory/house.md") && words.contains("by Nováček");
        assert!(found, "{api}: {words}");
    }
}

#[tokio::test]
async fn native_what_memory_knows_goes_with_the_message() {
    for (api, model, setup) in apis().await {
        let note = "# Cats\n\nThe cat is called Mourek.\n";
        let suite = setup
            .note("memory/cats.md", note)
            .note("SOUL.md", "You speak like a lighthouse keeper.\n")
            .start()
            .await;
        suite.say("What is the cat called?").await;

        let words = asked::words(&asked::turns(&model, 1).await[0]);
        assert!(words.contains("like a lighthouse keeper"), "{api}: {words}");
        let passage = words.contains("[memory/cats.md:") && words.contains("called Mourek");
        assert!(passage, "{api}: {words}");
    }
}

#[tokio::test]
async fn short_message_is_a_small_request() {
    for (api, model, setup) in apis().await {
        let suite = setup.start().await;
        suite.say("hi").await;
        let size = asked::turns(&model, 1).await[0].size;
        // Twelve tools, those for jobs among them.
        assert!(size < 8_000, "{api}: {size} bytes");
    }
}
