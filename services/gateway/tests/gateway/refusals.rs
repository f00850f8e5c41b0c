//! What the gateway does not do, and how it says so.

use openclaw_proto::call::RefusalCode;
use openclaw_proto::gateway::Message;
use openclaw_proto::sessions::Query;

use crate::suite::{Suite, done, rest, soon, text_of};

#[tokio::test]
async fn message_that_makes_no_sense_is_refused_with_the_reason() {
    let suite = Suite::start().await;
    let long = "x".repeat(2 * 1024 * 1024);
    for (message, words) in [
        (text_of("  \n"), "empty"),
        (text_of(&long), "at most 1048576"),
        (
            Message {
                session_key: "a b".to_owned(),
                ..text_of("x")
            },
            "<channel>:<peer>",
        ),
        (
            Message {
                agent_id: "../x".to_owned(),
                ..text_of("x")
            },
            "agent id",
        ),
        (
            Message {
                agent_id: "other".to_owned(),
                ..text_of("x")
            },
            "configured: main",
        ),
        (
            Message {
                session_key: "agent:other:main".to_owned(),
                ..text_of("x")
            },
            "configured: main",
        ),
        (
            Message {
                session_key: "agent:other:main".to_owned(),
                agent_id: "main".to_owned(),
                ..text_of("x")
            },
            "belongs to agent other",
        ),
        (
            Message {
                idempotency_key: "k".repeat(300),
                ..text_of("x")
            },
            "idempotency key",
        ),
    ] {
        let Err(status) = suite.send(message).await else {
            panic!("accepted what should say {words:?}");
        };
        assert_eq!(status.code(), Some(RefusalCode::InvalidArgument));
        assert!(
            status.to_string().contains(words),
            "{:?} lacks {words:?}",
            status.to_string()
        );
    }
    assert!(
        soon(suite.sessions.list(Query::default()))
            .await
            .unwrap()
            .sessions
            .is_empty()
    );
}

#[tokio::test]
async fn run_nobody_knows_is_not_found() {
    let suite = Suite::start().await;
    let Err(status) = soon(suite.client.attach("no-such-run", 0)).await else {
        panic!("attached to nothing");
    };
    assert_eq!(status.code(), Some(RefusalCode::NotFound));
    let status = soon(suite.client.cancel_run("no-such-run", ""))
        .await
        .unwrap_err();
    assert_eq!(status.code(), Some(RefusalCode::NotFound));
}

#[tokio::test]
async fn message_that_cannot_be_written_is_not_accepted() {
    let suite = Suite::start().await;
    let sessions = suite.paths().sessions("main");
    std::fs::create_dir_all(sessions.parent().unwrap()).unwrap();
    std::fs::write(&sessions, "in the way").unwrap();
    let Err(status) = suite.send(text_of("keep this")).await else {
        panic!("accepted what is not durable");
    };
    assert_eq!(status.code(), Some(RefusalCode::Internal));
    let path = sessions.display().to_string();
    assert!(
        status.to_string().contains(&path),
        "{:?} lacks the path",
        status.to_string()
    );
    assert!(
        !suite.runner.has_started().await,
        "ran what was not accepted"
    );

    std::fs::remove_file(&sessions).unwrap();
    suite.exchange("keep this", "kept").await;
}

#[tokio::test]
async fn too_many_waiting_messages_are_refused() {
    let suite = Suite::start().await;
    let (first, replies) = suite.say("first").await;
    suite.runner.started().await;
    let mut waiting = Vec::new();
    let status = loop {
        match suite.send(text_of("more")).await {
            Ok(sent) => waiting.push(sent),
            Err(status) => break status,
        }
        assert!(waiting.len() < 1000, "there is no limit");
    };
    assert_eq!(status.code(), Some(RefusalCode::ResourceExhausted));
    for (accepted, _) in &waiting {
        soon(suite.client.cancel_run(&accepted.run_id, ""))
            .await
            .unwrap();
    }
    for (_, replies) in waiting {
        rest(replies).await;
    }
    suite.runner.say(&first.run_id, done());
    rest(replies).await;
}
