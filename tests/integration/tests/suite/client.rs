//! `openclawctl message`, as people and programs use it.

use integration_tests::transcript::{self, of_role, text};
use integration_tests::{Setup, Suite, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

async fn started() -> (Server, Suite) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    (model, suite)
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    let kinds = lines.iter().map(|line| line["type"].as_str());
    kinds.map(Option::unwrap_or_default).collect()
}

#[tokio::test]
async fn json_is_one_event_a_line() {
    let (model, suite) = started().await;
    model.push(Scenario::tool("list_directory", json!({})).then(Scenario::text("Done and done.")));
    let said = suite.ctl(&["message", "--json", "list"]).await.ended(0);

    let lines = said.lines();
    let kinds = kinds(&lines);
    assert_eq!(
        (kinds[0], kinds[kinds.len() - 1]),
        ("accepted", "done"),
        "{said}"
    );
    for kind in ["tool_call", "tool_result", "text_delta", "usage"] {
        assert!(kinds.contains(&kind), "no {kind}: {said}");
    }
    let run_id = &lines[0]["runId"];
    for (line, seq) in lines[1..].iter().zip(1..) {
        assert_eq!(
            (&line["runId"], &line["seq"]),
            (run_id, &json!(seq)),
            "{said}"
        );
    }
    let deltas = lines.iter().filter(|line| line["type"] == "text_delta");
    let words: String = deltas.filter_map(|line| line["text"].as_str()).collect();
    assert_eq!(words, "Done and done.");
}

#[tokio::test]
async fn json_without_stream_is_one_document() {
    let (model, suite) = started().await;
    model.push(Scenario::text("All of it."));
    let said = suite
        .ctl(&["message", "--json", "--no-stream", "all"])
        .await
        .ended(0);
    let run = said.document();
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(run["text"], "All of it.", "{run}");
    assert_eq!(run["backend"], "native", "{run}");
    assert_eq!(run["sessionKey"], "agent:main:main", "{run}");
    assert!(run["usage"]["input"].as_u64() > Some(0), "{run}");
}

#[tokio::test]
async fn client_without_stream_the_reply_is_printed_once() {
    let (model, suite) = started().await;
    model.push(Scenario::text("In one piece."));
    let said = suite.ctl(&["message", "--no-stream", "say it"]).await.ok();
    assert_eq!(said, "In one piece.\n");
}

#[tokio::test]
async fn message_may_come_on_standard_input() {
    let (model, suite) = started().await;
    for arguments in [&["message"][..], &["message", "-"]] {
        suite
            .ctl_with_input(arguments, "from a pipe\n")
            .await
            .ended(0);
    }
    let turns = asked::turns(&model, 2).await;
    let (_, last) = asked::messages(&turns[1]).pop().unwrap();
    assert_eq!(last.trim_end(), "from a pipe");
}

#[tokio::test]
async fn empty_message_is_wrong_usage() {
    let (model, suite) = started().await;
    let said = suite.ctl_with_input(&["message"], "\n").await;
    said.ended(64).complains(&["the message is empty"]);
    assert!(model.turns().is_empty());
}

#[tokio::test]
async fn sessions_are_conversations_of_their_own() {
    let (model, suite) = started().await;
    suite
        .ctl(&["message", "--session", "garden", "about roses"])
        .await
        .ended(0);
    suite.say("about cars").await;

    let turns = asked::turns(&model, 2).await;
    assert!(!asked::words(&turns[1]).contains("about roses"));
    let garden = transcript::messages(&suite, "agent:main:garden");
    assert_eq!(text(of_role(&garden, "user")[0]), "about roses");
    let list = suite.ctl(&["sessions", "--json"]).await.ok();
    assert!(
        list.contains("agent:main:garden") && list.contains("agent:main:main"),
        "{list}"
    );
}

#[tokio::test]
async fn agent_has_its_own_workspace_and_sessions() {
    let model = Server::start().await.unwrap();
    let setup =
        Setup::anthropic(&model).set("agents.list", json!([{"id": "main"}, {"id": "cook"}]));
    let suite = setup.start().await;
    let arguments = json!({"path": "soup.txt", "content": "leek"});
    model.push(Scenario::tool("write_file", arguments));
    suite
        .ctl(&["message", "--agent", "cook", "soup"])
        .await
        .ended(0);

    let written = std::fs::read_to_string(suite.state().join("workspace-cook/soup.txt"));
    assert_eq!(written.unwrap(), "leek");
    let messages = transcript::messages(&suite, "agent:cook:main");
    assert_eq!(text(of_role(&messages, "user")[0]), "soup");

    let said = suite.ctl(&["message", "--agent", "nobody", "soup"]).await;
    said.ended(1).complains(&["nobody", "cook"]);
}

#[tokio::test]
async fn message_to_no_suite_says_how_to_start_one() {
    let site = Setup::empty().site();
    let said = site.ctl(&["message", "hello"]).await;
    said.ended(1)
        .complains(&["is not running", "openclawctl start"]);
}
