//! What is remembered of a conversation, and what is on the disk.

use std::collections::HashSet;

use integration_tests::transcript::{self, of_role, text};
use integration_tests::{Setup, Suite, asked, within};
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Accepted, Message, Reply};
use scripted_model::{Pace, Scenario, Server};
use serde_json::json;
use tokio_stream::StreamExt as _;

async fn started() -> (Server, Suite) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    (model, suite)
}

/// Sends a message over gRPC and hears it to its end.
async fn send(suite: &Suite, text: &str, key: &str) -> (Accepted, String) {
    let message = Message {
        text: text.to_owned(),
        idempotency_key: key.to_owned(),
        channel: "test".to_owned(),
        ..Message::default()
    };
    let client = suite.gateway();
    let replies = within("SendMessage", client.send_message(message))
        .await
        .unwrap();
    let replies: Vec<Reply> = within("the replies", replies.map(Result::unwrap).collect()).await;
    let Reply::Accepted(accepted, ..) = &replies[0] else {
        panic!("not accepted first: {replies:?}");
    };
    let said = replies.iter().filter_map(|reply| match reply {
        Reply::Event(event) => match &event.kind {
            Kind::TextDelta { text } => Some(text.as_str()),
            _ => None,
        },
        Reply::Accepted(..) => None,
    });
    let ended = matches!(replies.last(), Some(Reply::Event(event)) if event.kind.is_terminal());
    assert!(ended, "no end: {replies:?}");
    (accepted.clone(), said.collect())
}

#[tokio::test]
async fn next_request_holds_the_exchange_before() {
    for (api, model) in [
        ("anthropic", Server::start().await),
        ("openai", Server::start().await),
    ] {
        let model = model.unwrap();
        let setup = match api {
            "anthropic" => Setup::anthropic(&model),
            _ => Setup::openai(&model),
        };
        let suite = setup.start().await;
        model.push(Scenario::tool("list_directory", json!({})).then(Scenario::text("Blue it is.")));
        suite.say("My favourite colour is blue.").await;
        suite.say("Which colour?").await;

        let last = asked::turns(&model, 3).await.pop().unwrap();
        let messages = asked::messages(&last);
        let place = |role: &str, words: &str| {
            let found = messages
                .iter()
                .position(|(r, text)| r == role && text.contains(words));
            found.unwrap_or_else(|| panic!("{api}: no {words:?} by {role}: {messages:?}"))
        };
        let order = [
            place("user", "My favourite colour is blue."),
            place("assistant", "list_directory"),
            place("assistant", "Blue it is."),
            place("user", "Which colour?"),
        ];
        assert!(order.is_sorted(), "{api}: {messages:?}");
    }
}

#[tokio::test]
async fn conversation_outlives_the_daemons() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model);
    let mut suite = setup.start().await;
    suite.say("The word is xylophone.").await;
    suite.terminate();
    assert_eq!(suite.ended().await, Some(0));

    let suite = suite.restart().await;
    suite.say("Which word?").await;
    let last = asked::turns(&model, 2).await.pop().unwrap();
    assert!(asked::words(&last).contains("The word is xylophone."));
}

#[tokio::test]
async fn message_is_on_disk_before_it_is_acknowledged() {
    let (model, suite) = started().await;
    model.default(Scenario {
        pace: Pace {
            gate: Some("never".to_owned()),
            silent: true,
            ..Pace::default()
        },
        ..Scenario::echo()
    });
    let mut talk = suite.begin(&["message", "--json", "keep this"]);
    talk.hear("accepted").await;
    let messages = transcript::only_messages(&suite);
    assert_eq!(text(of_role(&messages, "user")[0]), "keep this");
}

#[tokio::test]
async fn same_key_is_the_same_run() {
    let (model, suite) = started().await;
    model.push(Scenario::text("Only once."));
    let (first, said) = send(&suite, "do it", "key-1").await;
    let (second, again) = send(&suite, "do it", "key-1").await;

    assert!(!first.existing && second.existing);
    assert_eq!(first.run_id, second.run_id);
    assert_eq!(
        (said.as_str(), again.as_str()),
        ("Only once.", "Only once.")
    );
    assert_eq!(model.turns().len(), 1);
    assert_eq!(of_role(&suite.messages(), "user").len(), 1);
    let (other, _) = send(&suite, "do it", "key-2").await;
    assert_ne!(other.run_id, first.run_id);
}

#[tokio::test]
async fn same_key_joins_a_run_that_still_goes_on() {
    let (model, suite) = started().await;
    model.push(Scenario::held("Slowly, but only one single time.", "go"));
    let ((first, said), (second, again), ()) = tokio::join!(
        send(&suite, "do it", "key-1"),
        send(&suite, "do it", "key-1"),
        async {
            asked::turns(&model, 1).await;
            model.release("go");
        },
    );
    assert_eq!(first.run_id, second.run_id);
    assert_eq!(said, again);
    assert_eq!(
        (
            model.turns().len(),
            of_role(&suite.messages(), "user").len()
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn messages_of_a_session_are_answered_one_after_the_other() {
    let (model, suite) = started().await;
    model.push(Scenario::held("The first answer is a long one.", "go"));
    let mut first = suite.begin(&["message", "first"]);
    first.hear("The first").await;
    let second = suite.begin(&["message", "second"]);
    let other = suite.ctl(&["message", "--session", "other", "third"]).await;
    other.ended(0).says(&["third"]);
    assert_eq!(model.turns().len(), 2, "the second message waits");
    model.release("go");
    first.end().await.ended(0);
    second.end().await.ended(0);
    let last = asked::turns(&model, 3).await.pop().unwrap();
    assert!(asked::words(&last).contains("The first answer is a long one."));
}

#[tokio::test]
async fn transcript_is_a_chain_of_version_3() {
    let (model, suite) = started().await;
    let arguments = json!({"command": "echo hello"});
    model.push(Scenario::tool("execute_shell", arguments).then(Scenario::text("It said hello.")));
    suite.say("greet").await;
    suite.say("and again").await;

    let lines = transcript::lines(&suite, "agent:main:main");
    let header = &lines[0];
    assert_eq!(
        (&header["type"], &header["version"]),
        (&json!("session"), &json!(3)),
        "{header}"
    );
    assert_eq!(header["cwd"], json!(suite.workspace()), "{header}");
    let mut ids = HashSet::new();
    let mut parent = json!(null);
    for entry in &lines[1..] {
        assert_eq!(entry["parentId"], parent, "{entry}");
        assert!(ids.insert(entry["id"].as_str().unwrap()), "twice: {entry}");
        assert!(
            entry["timestamp"].as_str().unwrap().ends_with('Z'),
            "{entry}"
        );
        parent = entry["id"].clone();
    }
    let messages = suite.messages();
    let roles: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["role"].as_str())
        .collect();
    let expected = [
        "user",
        "assistant",
        "toolResult",
        "assistant",
        "user",
        "assistant",
    ];
    assert_eq!(roles, expected);
    assert_eq!(messages[1]["stopReason"], "toolUse", "{}", messages[1]);
    let call = &messages[1]["content"].as_array().unwrap()[0];
    assert_eq!(
        (&call["type"], &call["name"]),
        (&json!("toolCall"), &json!("execute_shell"))
    );
    assert_eq!(messages[2]["toolCallId"], call["id"]);
    assert!(text(&messages[2]).contains("hello"), "{}", messages[2]);
}
