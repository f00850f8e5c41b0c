//! The claude-cli backend, with the real Claude Code CLI.

use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, asked};
use scripted_model::{Scenario, Server};
use serde_json::json;

#[tokio::test]
async fn message_is_answered_as_it_comes() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.start().await;
    model.push(Scenario::held(
        "First words, and then the rest of them.",
        "rest",
    ));
    let mut talk = suite.begin(&["message", "speak"]);
    let heard = talk.hear("First words").await;
    assert!(!heard.contains("rest of them"), "{heard}");
    model.release("rest");
    assert_eq!(
        talk.end().await.ok(),
        "First words, and then the rest of them.\n"
    );

    let messages = suite.messages();
    let reply = of_role(&messages, "assistant").pop().unwrap();
    assert_eq!(text(reply), "First words, and then the rest of them.");
    assert_eq!(reply["stopReason"], "stop", "{reply}");
}

#[tokio::test]
async fn claude_session_goes_on_from_turn_to_turn() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.start().await;
    model.push(Scenario::text("Noted: xylophone."));
    suite.say("The word is xylophone.").await;
    suite.say("Which word was it?").await;

    let last = asked::turns(&model, 2).await.pop().unwrap();
    let messages = asked::messages(&last);
    let said = |role: &str, words: &str| {
        messages
            .iter()
            .any(|(r, text)| r == role && text.contains(words))
    };
    assert!(said("user", "The word is xylophone."), "{messages:?}");
    assert!(
        said("assistant", "Noted: xylophone."),
        "resumed, not retold: {messages:?}"
    );
    assert!(!said("user", "outside this session"), "{messages:?}");
}

#[tokio::test]
async fn claude_has_our_instructions_and_our_tools() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup
        .note("SOUL.md", "You speak like a lighthouse keeper.\n")
        .start()
        .await;
    let arguments = json!({"text": "Buy milk."});
    model.push(Scenario::tool("mcp__openclaw__memory_write", arguments));
    let run = suite.ask("write a list").await;

    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    let found = suite.ctl(&["memory", "search", "milk"]).await.ok();
    assert!(found.contains("Buy milk."), "{found}");
    let turns = asked::turns(&model, 2).await;
    let system = turns[0].json()["system"].to_string();
    assert!(system.contains("like a lighthouse keeper"), "{system}");
    let tools = asked::tools(&turns[0]);
    let ours = tools
        .iter()
        .filter_map(|tool| tool.strip_prefix("mcp__openclaw__"));
    let ours: Vec<&str> = ours.collect();
    let those = [
        "cron",
        "memory_get",
        "memory_search",
        "memory_write",
        "remind",
        "session_status",
    ];
    assert_eq!(ours, those, "and no second one of its own");
}

#[tokio::test]
async fn claude_searches_memory_through_our_tool() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let note = "# House\n\nThe boiler was serviced by Nováček.\n";
    let suite = setup.note("memory/house.md", note).start().await;
    let arguments = json!({"query": "who serviced the boiler"});
    model.push(Scenario::tool("mcp__openclaw__memory_search", arguments));
    let run = suite.ask("look something up").await;

    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    let output = run["toolCalls"][0]["output"].as_str().unwrap();
    assert!(
        output.contains("memory/house.md") && output.contains("by Nováček"),
        "{run}"
    );
    let words = asked::words(&asked::turns(&model, 2).await[1]);
    assert!(words.contains("by Nováček"), "{words}");
}

#[tokio::test]
async fn claude_is_confined() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.start().await;
    let command = format!("cat {}", suite.configuration().display());
    model.push(Scenario::tool(
        "Bash",
        json!({"command": command, "description": "read"}),
    ));
    let run = suite.ask("read it").await;
    assert_eq!(run["toolCalls"][0]["success"], false, "{run}");
    let output = run["toolCalls"][0]["output"].as_str().unwrap();
    assert!(
        !output.contains("claude-cli"),
        "the configuration was read: {run}"
    );
}

#[tokio::test]
async fn claude_is_chosen_when_it_is_there() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.set("agents.defaults.backend", "auto").start().await;
    let status = suite.ctl(&["status", "--json"]).await.ended(0).document();
    assert_eq!(status["runner"]["backend"], "claude-cli", "{status}");
    let reason = status["runner"]["reason"].as_str().unwrap();
    assert!(reason.contains("ANTHROPIC_API_KEY"), "{reason}");
}

/// The words of a note that no turn is to read.
const UNREAD: &str = "The safe opens with 4711.";

/// Words that begin with an @ name files to it, and anybody may say such words.
#[tokio::test]
async fn claude_reads_no_file_that_words_name() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.note("drawer/note.md", UNREAD).start().await;
    let whole = suite.workspace().join("drawer/note.md");
    suite.say("What is in @drawer/note.md?").await;
    suite.say(&format!("And in @{}", whole.display())).await;
    suite.say("@drawer/note.md").await;
    suite.say("/ @drawer/note.md /").await;
    suite.say("See @\"drawer/note.md\"").await;

    let mut turns = asked::turns(&model, 5).await;
    let last = asked::messages(&turns[4]);
    let named = |text: &str| last.iter().any(|(_, words)| words.contains(text));
    assert!(
        named("in @drawer/note.md") && named("And in @/"),
        "{last:?}"
    );
    turns.extend(model.requests());
    for asked in turns {
        let body = String::from_utf8_lossy(&asked.body).into_owned();
        assert!(!body.contains(UNREAD), "{body}");
    }
}
