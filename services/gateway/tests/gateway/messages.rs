//! A message and its answer.

use futures_util::StreamExt as _;
use openclaw_proto::event::{Kind, Resources, ToolResult, Usage};
use openclaw_proto::gateway::Message;
use openclaw_proto::sessions::Query;
use openclaw_proto::wire::run::history_message;
use serde_json::json;

use crate::doubles::Reading;
use crate::suite::{Suite, done, next, rest, soon, text, text_of};

/// What the conversation says best is not given again, and keeps no note away.
#[tokio::test]
async fn message_asks_memory_once_where_its_conversation_answers_too() {
    let suite = Suite::start().await;
    suite.memory.read(Reading::Own);
    for number in 1..=2 {
        let (accepted, replies) = suite.say("who is my cat?").await;
        let turn = suite.runner.started().await;
        let paths: Vec<&str> = turn.passages.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["MEMORY.md"]);
        assert_eq!(suite.memory.queries.lock().unwrap().len(), number);
        suite.runner.say(&accepted.run_id, done());
        rest(replies).await;
    }
}

#[tokio::test]
async fn message_is_answered_and_kept() {
    let suite = Suite::start().await;
    let (accepted, mut replies) = suite.say("who is my cat?").await;
    assert_eq!(accepted.session_key, "agent:main:main");
    assert!(!accepted.existing);
    let user = &suite.messages(&accepted)[0];
    assert_eq!(
        user["content"], "who is my cat?",
        "acknowledged before it is durable"
    );
    assert_eq!(user["idempotencyKey"], format!("{}:user", accepted.run_id));

    let turn = suite.runner.started().await;
    assert_eq!(turn.run_id, accepted.run_id);
    assert_eq!(turn.text, "who is my cat?");
    assert_eq!(turn.channel, "cli");
    assert_eq!(turn.bootstrap[0].content, "kind");
    assert_eq!(turn.passages[0].snippet, "the cat is Mourek");
    assert!(turn.history.is_empty(), "the message itself is no history");
    assert_eq!(*suite.memory.queries.lock().unwrap(), ["who is my cat?"]);

    suite.runner.say(&accepted.run_id, text("Mou"));
    assert_eq!(
        next(&mut replies).await.kind,
        text("Mou"),
        "not streamed as it comes"
    );
    suite.runner.say(&accepted.run_id, text("rek"));
    suite.runner.say(
        &accepted.run_id,
        Kind::Usage(Usage {
            input: 5,
            output: 2,
            ..Usage::default()
        }),
    );
    suite.runner.say(&accepted.run_id, done());
    let kinds = rest(replies).await;
    assert_eq!(kinds.len(), 3);
    assert_eq!(kinds.last(), Some(&done()));

    let messages = suite.messages(&accepted);
    assert_eq!(messages.len(), 2);
    assert_eq!(
        messages[1]["content"],
        json!([{ "type": "text", "text": "Mourek" }])
    );
    assert_eq!(messages[1]["model"], "m");
    assert_eq!(messages[1]["usage"]["totalTokens"], 7);
}

#[tokio::test]
async fn tool_calls_are_entries_and_history() {
    let suite = Suite::start().await;
    let (accepted, replies) = suite.say("list").await;
    suite.runner.started().await;
    let events = [
        Kind::ToolCall {
            id: "c1".to_owned(),
            name: "list_directory".to_owned(),
            arguments: json!({ "path": "." }),
        },
        Kind::ToolResult(ToolResult {
            call_id: "c1".to_owned(),
            success: true,
            output: "a.txt".to_owned(),
            error: None,
        }),
        text("There is a.txt."),
        done(),
    ];
    for event in events {
        suite.runner.say(&accepted.run_id, event);
    }
    assert_eq!(rest(replies).await.len(), 4);
    let roles: Vec<_> = suite
        .messages(&accepted)
        .iter()
        .map(|m| m["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "assistant"]);

    let (second, replies) = suite.say("and now?").await;
    let turn = suite.runner.started().await;
    let kinds: Vec<_> = turn
        .history
        .iter()
        .map(|message| message.kind.as_ref().unwrap())
        .collect();
    assert_eq!(kinds.len(), 4);
    let history_message::Kind::Assistant(assistant) = kinds[1] else {
        panic!("not the assistant: {:?}", kinds[1]);
    };
    assert_eq!(assistant.tool_calls[0].name, "list_directory");
    let history_message::Kind::Tool(tool) = kinds[2] else {
        panic!("not the tool: {:?}", kinds[2]);
    };
    assert_eq!(tool.output, "a.txt");
    assert_eq!(turn.backend_sessions[0].id, "b-1");
    assert_eq!(turn.backend_sessions[0].unseen, 0);
    suite.runner.say(&second.run_id, done());
    rest(replies).await;
}

#[tokio::test]
async fn client_that_goes_away_does_not_stop_the_run() {
    let suite = Suite::start().await;
    let (accepted, replies) = suite.say("go on without me").await;
    suite.runner.started().await;
    drop(replies);
    suite.runner.say(&accepted.run_id, text("still here"));
    let mut attached = Box::pin(
        soon(suite.client.attach(&accepted.run_id, 0))
            .await
            .unwrap(),
    );
    assert_eq!(
        soon(attached.next()).await.unwrap().unwrap().kind,
        text("still here")
    );
    suite.runner.say(&accepted.run_id, done());
    assert_eq!(soon(attached.next()).await.unwrap().unwrap().kind, done());
    assert!(soon(attached.next()).await.is_none());
    assert_eq!(
        suite.messages(&accepted)[1]["content"][0]["text"],
        "still here"
    );
}

#[tokio::test]
async fn same_key_is_the_same_run() {
    let suite = Suite::start().await;
    let message = Message {
        idempotency_key: "k1".to_owned(),
        ..text_of("once")
    };
    let (first, replies) = suite.send(message.clone()).await.unwrap();
    suite.runner.started().await;
    suite.runner.say(&first.run_id, text("one"));
    let (second, mut again) = suite.send(message.clone()).await.unwrap();
    assert_eq!(second.run_id, first.run_id);
    assert!(second.existing && !first.existing);
    assert_eq!(next(&mut again).await.kind, text("one"));
    suite.runner.say(&first.run_id, done());
    rest(again).await;
    let live = rest(replies).await;

    let (third, replay) = suite.send(message).await.unwrap();
    assert_eq!(third.run_id, first.run_id);
    assert!(third.existing);
    assert_eq!(rest(replay).await, live);
    assert!(!suite.runner.has_started().await, "it was run again");
    assert_eq!(suite.messages(&first).len(), 2);
}

#[tokio::test]
async fn concurrent_messages_with_one_key_are_one_run() {
    let suite = Suite::start().await;
    let message = Message {
        idempotency_key: "k1".to_owned(),
        ..text_of("once")
    };
    let all = (0..8).map(|_| suite.send(message.clone()));
    let all = futures_util::future::join_all(all).await;
    let runs: Vec<_> = all.into_iter().map(|sent| sent.unwrap()).collect();
    let first = runs[0].0.run_id.clone();
    assert!(runs.iter().all(|(accepted, _)| accepted.run_id == first));
    assert_eq!(
        runs.iter()
            .filter(|(accepted, _)| !accepted.existing)
            .count(),
        1
    );
    suite.runner.started().await;
    suite.runner.say(&first, done());
    for (_, replies) in runs {
        rest(replies).await;
    }
    assert!(!suite.runner.has_started().await);
}

#[tokio::test]
async fn sessions_are_listed_with_their_messages() {
    let suite = Suite::start().await;
    let main = suite.exchange("hello", "hi").await;
    let work = Message {
        session_key: "Work".to_owned(),
        ..text_of("start")
    };
    let (work, replies) = suite.send(work).await.unwrap();
    suite.runner.started().await;
    suite.runner.say(&work.run_id, done());
    rest(replies).await;
    let page = soon(suite.sessions.list(Query::default())).await.unwrap();
    let sessions = page.sessions;
    let listed: Vec<_> = sessions
        .iter()
        .map(|s| (s.key.as_str(), s.message_count))
        .collect();
    assert_eq!(listed, [("agent:main:work", 2), ("agent:main:main", 2)]);
    assert_eq!(sessions[1].id, main.session_id);
    assert!(
        sessions[0].created_at_ms > 0 && sessions[0].updated_at_ms >= sessions[0].created_at_ms
    );
    let status = soon(suite.client.status()).await.unwrap();
    assert_eq!(status.sessions, 2);
    assert_eq!(status.runner.unwrap().backend, "native");
    assert!(status.memory.is_some() && status.memory_problem.is_empty());
}

#[tokio::test]
async fn commands_say_what_was_charged_and_which_model_the_backend_chose() {
    let suite = Suite::start().await;
    let (accepted, replies) = suite.say("hello").await;
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, text("hi"));
    // No provider of the configuration has a price of it.
    let charged = Resources {
        cost_usd: Some(0.25),
        ..Resources::default()
    };
    suite.runner.say(&accepted.run_id, Kind::Resources(charged));
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    let answer = async |command: &str| {
        let (_, replies) = suite.say(command).await;
        let kinds = rest(replies).await;
        let words = kinds.iter().filter_map(|kind| match kind {
            Kind::TextDelta { text } => Some(text.as_str()),
            _ => None,
        });
        words.collect::<String>()
    };
    let usage = answer("/usage").await;
    assert!(usage.contains("Cost: $0.25"), "{usage}");
    for command in ["/status", "/model"] {
        let said = answer(command).await;
        assert!(
            said.contains("anthropic/m, chosen by the backend"),
            "{said}"
        );
    }
}
