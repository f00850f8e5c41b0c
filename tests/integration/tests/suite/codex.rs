//! The codex-cli backend, with the real Codex CLI.

use integration_tests::setup::KEY;
use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, asked, processes};
use scripted_model::{Scenario, Server};
use serde_json::json;

#[tokio::test]
async fn message_is_answered_as_it_comes() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
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
    assert_eq!(reply["model"], "gpt-scripted", "{reply}");
    let asked = asked::turns(&model, 1).await.remove(0);
    assert_eq!(asked.path, "/v1/responses");
    assert_eq!(
        asked.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
}

#[tokio::test]
async fn codex_session_goes_on_from_turn_to_turn() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
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
async fn session_whose_files_are_gone_is_told_everything() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.start().await;
    model.push(Scenario::text("Noted: xylophone."));
    suite.say("The word is xylophone.").await;
    let kept = suite.path("state/agents/main/cli");
    std::fs::remove_dir_all(&kept).unwrap();
    suite.say("Which word was it?").await;
    let words = asked::words(&asked::turns(&model, 2).await[1]);
    for said in [
        "outside this session",
        "The word is xylophone.",
        "Which word",
    ] {
        assert!(words.contains(said), "no {said:?}: {words}");
    }
}

#[tokio::test]
async fn codex_has_our_instructions_and_our_tools() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup
        .note("SOUL.md", "You speak like a lighthouse keeper.\n")
        .note("memory/house.md", "The boiler was serviced by Nováček.\n")
        .start()
        .await;
    let arguments = json!({"text": "Buy milk."});
    model.push(Scenario::tool("mcp__openclaw__memory_write", arguments));
    let run = suite.ask("write a list").await;
    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    assert_eq!(run["toolCalls"][0]["name"], "mcp__openclaw__memory_write");
    let found = suite.ctl(&["memory", "search", "milk"]).await.ok();
    assert!(found.contains("Buy milk."), "{found}");

    let turns = asked::turns(&model, 2).await;
    let words = asked::words(&turns[0]);
    assert!(words.contains("like a lighthouse keeper"), "{words}");
    let tools = asked::tools(&turns[0]);
    let ours = tools
        .iter()
        .filter_map(|tool| tool.strip_prefix("mcp__openclaw__"));
    let mut ours: Vec<&str> = ours.collect();
    ours.sort_unstable();
    let those = [
        "apply_patch",
        "cron",
        "memory_get",
        "memory_search",
        "memory_write",
        "remind",
        "session_status",
    ];
    assert_eq!(ours, those, "and no second one of its own");

    let arguments = json!({"query": "who serviced the boiler"});
    model.push(Scenario::tool("mcp__openclaw__memory_search", arguments));
    let run = suite.ask("look something up").await;
    let output = run["toolCalls"][0]["output"].as_str().unwrap();
    assert!(output.contains("by Nováček"), "{run}");
}

#[tokio::test]
async fn codex_is_confined_and_has_no_key() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.start().await;
    let read = format!("cat {}", suite.configuration().display());
    model.push(Scenario::tool("exec_command", json!({"cmd": read})));
    let run = suite.ask("read it").await;
    assert_eq!(run["toolCalls"][0]["success"], false, "{run}");
    let output = run["toolCalls"][0]["output"].as_str().unwrap();
    assert!(output.contains("No such file"), "{run}");

    let look = "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; grep -rs -D skip sk-made-up ~ $TMPDIR; true";
    model.push(Scenario::tool("exec_command", json!({"cmd": look})));
    let run = suite.ask("look for it").await;
    let output = run["toolCalls"][0]["output"].as_str();
    let output = output.unwrap_or_else(|| panic!("{run}"));
    assert!(
        output.contains("CODEX_HOME") && !output.contains(KEY),
        "{run}"
    );
}

#[tokio::test]
async fn status_says_that_it_answers_and_why() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.start().await;
    let status = suite.ctl(&["status", "--json"]).await.ended(0).document();
    assert_eq!(status["runner"]["backend"], "codex-cli", "{status}");
    let words = suite.ctl(&["status", "--verbose"]).await.ok();
    assert!(
        words.contains("codex-cli") && words.contains("OPENAI_API_KEY"),
        "{words}"
    );
}

#[tokio::test]
async fn command_that_goes_on_ends_with_the_turn() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.start().await;
    let command = json!({"cmd": "echo begun; sleep 1000", "yield_time_ms": 500});
    model.push(Scenario::tool("exec_command", command));
    let run = suite.ask("start it").await;
    assert_eq!(run["status"], "done", "{run}");
    let output = run["toolCalls"][0]["output"].as_str().unwrap();
    assert!(output.contains("ended with the turn"), "{run}");
    let left: Vec<String> = processes::of_folder(&suite.path(""))
        .into_iter()
        .filter_map(processes::program)
        .collect();
    assert!(!left.iter().any(|name| name == "sleep"), "{left:?}");
}

/// What an answer costs comes from the provider's prices; its tokens count.
#[tokio::test]
async fn codex_tokens_are_counted() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.start().await;
    let run = suite.ask("hello").await;
    assert!(run["usage"]["output"].as_u64().unwrap() > 0, "{run}");
}
