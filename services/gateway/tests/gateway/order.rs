//! Lanes and attaching.

use futures_util::StreamExt as _;
use openclaw_proto::gateway::Message;
use openclaw_proto::wire::run::history_message;

use crate::suite::{Suite, done, next, rest, soon, text, text_of};

#[tokio::test]
async fn session_answers_one_message_after_the_other() {
    let suite = Suite::start().await;
    let (first, first_replies) = suite.say("first").await;
    suite.runner.started().await;
    let (second, second_replies) = suite.say("second").await;
    let status = soon(suite.client.status()).await.unwrap();
    assert_eq!((status.turns_running, status.turns_waiting), (1, 1));
    assert!(
        !suite.runner.has_started().await,
        "two turns of one session at once"
    );

    suite.runner.say(&first.run_id, text("to the first"));
    suite.runner.say(&first.run_id, done());
    rest(first_replies).await;
    let turn = suite.runner.started().await;
    assert_eq!(turn.run_id, second.run_id);
    let words: Vec<_> = turn
        .history
        .iter()
        .map(|message| match message.kind.as_ref().unwrap() {
            history_message::Kind::User(user) => user.text.as_str(),
            history_message::Kind::Assistant(assistant) => assistant.text.as_str(),
            history_message::Kind::Tool(tool) => tool.output.as_str(),
        })
        .collect();
    assert_eq!(words, ["first", "to the first"]);
    suite.runner.say(&second.run_id, done());
    rest(second_replies).await;
}

#[tokio::test]
async fn sessions_do_not_wait_for_each_other_below_the_cap() {
    let suite = Suite::configured("{ gateway: { maxConcurrentTurns: 2 } }").await;
    let mut runs = Vec::new();
    for session in ["a", "b", "c"] {
        let message = Message {
            session_key: session.to_owned(),
            ..text_of("go")
        };
        runs.push(suite.send(message).await.unwrap());
    }
    let mut started = [suite.runner.started().await, suite.runner.started().await];
    // Which of the two is there first is not said.
    started.sort_by(|a, b| a.session_key.cmp(&b.session_key));
    assert_eq!(started[0].session_key, "agent:main:a");
    assert_eq!(started[1].session_key, "agent:main:b");
    assert!(!suite.runner.has_started().await, "more turns than the cap");
    suite.runner.say(&started[1].run_id, done());
    let third = suite.runner.started().await;
    assert_eq!(third.session_key, "agent:main:c");
    suite.runner.say(&started[0].run_id, done());
    suite.runner.say(&third.run_id, done());
    for (_, replies) in runs {
        rest(replies).await;
    }
}

#[tokio::test]
async fn late_reader_gets_what_it_missed() {
    let suite = Suite::start().await;
    let (accepted, mut replies) = suite.say("count").await;
    suite.runner.started().await;
    for word in ["one", "two", "three"] {
        suite.runner.say(&accepted.run_id, text(word));
        next(&mut replies).await;
    }
    let attached = soon(suite.client.attach(&accepted.run_id, 2))
        .await
        .unwrap();
    suite.runner.say(&accepted.run_id, done());
    let seqs: Vec<_> = soon(attached.map(|event| event.unwrap().seq).collect::<Vec<_>>()).await;
    assert_eq!(seqs, [2, 3, 4]);
    rest(replies).await;
    let after = soon(suite.client.attach(&accepted.run_id, 4))
        .await
        .unwrap();
    let kinds: Vec<_> = soon(after.map(|event| event.unwrap().kind).collect::<Vec<_>>()).await;
    assert_eq!(kinds, [done()]);
}

#[tokio::test]
async fn broken_stream_is_taken_up_again_without_a_seam() {
    let suite = Suite::start().await;
    let (accepted, mut replies) = suite.say("tell").await;
    suite.runner.started().await;
    for round in 0..5 {
        let piece = text(&format!("{round} "));
        suite.runner.say(&accepted.run_id, piece.clone());
        assert_eq!(next(&mut replies).await.kind, piece);
        suite.runner.interrupt().await;
    }
    suite.runner.say(&accepted.run_id, text("end"));
    suite.runner.say(&accepted.run_id, done());
    assert_eq!(rest(replies).await, [text("end"), done()]);
    let reply = &suite.messages(&accepted)[1];
    assert_eq!(reply["content"][0]["text"], "0 1 2 3 4 end");
}
