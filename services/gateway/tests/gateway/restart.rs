//! What a gateway leaves, and what the next one makes of it.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::StreamExt as _;
use openclaw_config::restored::Restored;
use openclaw_proto::event::{Code, Event, Failed, Kind};
use openclaw_proto::gateway::Message;
use openclaw_proto::schedule;
use openclaw_proto::wire::runner::StartTurnRequest;
use serde_json::{Value, json};

use crate::suite::{Doomed, Suite, done, next, rest, soon, text, text_of};

/// Sessions at once.
const CHATS: usize = 4;

#[tokio::test]
async fn stop_waits_for_the_running_turn_and_accepts_nothing_new() {
    let mut suite = Suite::start().await;
    let (accepted, replies) = suite.say("one moment").await;
    suite.runner.started().await;
    suite.begin_shutdown();
    let refused = loop {
        match suite.send(text_of("too late")).await {
            Err(status) => break status,
            // The signal had not got through yet.
            Ok((late, replies)) => {
                soon(suite.client.cancel_run(&late.run_id, ""))
                    .await
                    .unwrap();
                rest(replies).await;
            }
        }
    };
    assert!(refused.is_lost(), "{refused}");
    suite.runner.say(&accepted.run_id, text("done in time"));
    suite.runner.say(&accepted.run_id, done());
    assert_eq!(rest(replies).await, [text("done in time"), done()]);
    suite.ended().await.unwrap();
    let entry = &suite.index()["agent:main:main"];
    assert_eq!(entry["status"], "done");
    assert_eq!(entry["model"], "m");
    assert_eq!(entry["openclawBackendSessions"]["native"]["id"], "b-1");
}

#[tokio::test]
async fn conversations_and_runs_survive_a_restart() {
    let mut suite = Suite::start().await;
    let message = Message {
        idempotency_key: "k1".to_owned(),
        ..text_of("remember me")
    };
    let (first, replies) = suite.send(message.clone()).await.unwrap();
    suite.runner.started().await;
    suite.runner.say(&first.run_id, text("I "));
    suite.runner.say(&first.run_id, text("will"));
    suite.runner.say(&first.run_id, done());
    rest(replies).await;
    suite.stop().await;

    let ledger = std::fs::metadata(suite.paths().ledger()).unwrap();
    assert_eq!(ledger.permissions().mode() & 0o777, 0o600);

    let suite = suite.again().await;
    let (again, replies) = suite.send(message).await.unwrap();
    assert!(again.existing);
    assert_eq!(again.run_id, first.run_id);
    assert_eq!(rest(replies).await, [text("I will"), done()]);
    let (second, replies) = suite.say("do you?").await;
    assert_eq!(second.session_id, first.session_id);
    let turn = suite.runner.started().await;
    assert_eq!(turn.history.len(), 2);
    suite.runner.say(&second.run_id, done());
    rest(replies).await;
}

#[tokio::test]
async fn run_whose_gateway_died_goes_on() {
    let mut suite = Suite::start().await;
    suite.stop().await;
    let doomed = Doomed::start(suite);
    let suite = doomed.suite();
    let (accepted, mut replies) = suite.say("will I get an answer?").await;
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, text("you wi"));
    next(&mut replies).await;
    drop(replies);
    let suite = doomed.vanish().again().await;

    let events = soon(suite.client.attach(&accepted.run_id, 0))
        .await
        .unwrap();
    suite.runner.say(&accepted.run_id, text("ll"));
    suite.runner.say(&accepted.run_id, done());
    let events = events.map(|event| event.unwrap());
    let events: Vec<Event> = soon(events.collect()).await;
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
    let messages = suite.messages(&accepted);
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1]["content"][0]["text"], "you will");
    assert_eq!(messages[1]["stopReason"], "stop");
    suite.exchange("again", "yes").await;
}

#[tokio::test]
async fn turn_of_a_gateway_that_died_is_asked_with_nothing_that_waits_behind_it() {
    let mut suite = Suite::start().await;
    suite.stop().await;
    let doomed = Doomed::start(suite);
    let suite = doomed.suite();
    for text in ["first", "second", "third"] {
        for chat in 0..CHATS {
            let message = Message {
                session_key: format!("chat{chat}"),
                text: text.to_owned(),
                ..Message::default()
            };
            drop(suite.send(message).await.unwrap());
        }
    }
    for _ in 0..CHATS {
        suite.runner.started().await;
    }
    // Neither knows of the turns that were begun.
    suite.runner.forget();
    let suite = doomed.vanish().again().await;
    for _ in 0..CHATS {
        let turn = suite.runner.started().await;
        assert_eq!(turn.text, "first");
        assert!(turn.history.is_empty(), "{:?}", turn.history);
    }
}

/// As `openclawctl restore` leaves a state directory, by a clock that is behind the suite's.
fn restore(suite: &Suite, behind_ms: i64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let restored = Restored {
        made_ms: 1,
        restored_ms: i64::try_from(now.as_millis()).unwrap() - behind_ms,
        taken: false,
    };
    restored.write(&suite.paths().restored()).unwrap();
}

#[tokio::test]
async fn run_that_came_with_a_backup_is_not_begun_again() {
    backed_up_run_ends(0).await;
}

#[tokio::test]
async fn run_that_came_with_a_backup_from_the_future_is_not_begun_again() {
    backed_up_run_ends(3_600_000).await;
}

async fn backed_up_run_ends(behind_ms: i64) {
    let mut suite = Suite::start().await;
    suite.stop().await;
    let doomed = Doomed::start(suite);
    let suite = doomed.suite();
    let (accepted, replies) = suite.say("will I get an answer?").await;
    suite.runner.started().await;
    drop(replies);
    suite.runner.forget();
    let vanished = doomed.vanish();
    restore(&vanished, behind_ms);
    let suite = vanished.again().await;

    let events = soon(suite.client.attach(&accepted.run_id, 0))
        .await
        .unwrap();
    let events: Vec<Result<Event, _>> = soon(events.collect()).await;
    let Some(Ok(last)) = events.last() else {
        panic!("the run did not end: {events:?}");
    };
    let said = format!("{:?}", last.kind);
    assert!(said.contains("restored from a backup"), "{said}");
    let messages = suite.messages(&accepted);
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[1]["stopReason"], "error");
    // What comes from now on is this suite's own.
    suite.exchange("again", "yes").await;
    assert_eq!(suite.messages(&accepted).len(), 4);
}

#[tokio::test]
async fn run_that_the_runner_never_heard_of_is_started() {
    let mut suite = Suite::start().await;
    suite.stop().await;
    let doomed = Doomed::start(suite);
    let suite = doomed.suite();
    let (accepted, replies) = suite.say("will I get an answer?").await;
    suite.runner.started().await;
    drop(replies);
    suite.runner.forget();
    let suite = doomed.vanish().again().await;

    let turn = suite.runner.started().await;
    assert_eq!(
        (turn.run_id, turn.text),
        (accepted.run_id.clone(), "will I get an answer?".to_owned())
    );
    suite.runner.say(&accepted.run_id, text("yes"));
    suite.runner.say(&accepted.run_id, done());
    let events = soon(suite.client.attach(&accepted.run_id, 0))
        .await
        .unwrap();
    let events: Vec<Result<Event, _>> = soon(events.collect()).await;
    assert_eq!(events.len(), 2);
    assert_eq!(suite.messages(&accepted).len(), 2);
}

/// What bounds a turn.
fn bounds(turn: &StartTurnRequest) -> Value {
    let limits: Value = serde_json::from_str(&turn.limits).unwrap_or_default();
    json!({
        "model": turn.model,
        "thinking": turn.thinking_level,
        "limits": limits,
        "bootstrap": turn.bootstrap.len(),
    })
}

/// A job's model and limit are its message's, and its session knows nothing of them.
#[tokio::test]
async fn run_that_is_started_again_is_bounded_as_its_message_said() {
    let mut suite = Suite::configured(r#"{"session": {"interrupted": "resume"}}"#).await;
    suite.stop().await;
    let doomed = Doomed::start(suite);
    let suite = doomed.suite();
    let jobs = schedule::Client::new(suite.paths().gateway_socket());
    let job = json!({
        "name": "look", "sessionTarget": "isolated", "wakeMode": "now",
        "schedule": { "kind": "every", "everyMs": 86_400_000 },
        "budget": { "perRunUsd": 0.5 },
        "payload": {
            "kind": "agentTurn", "message": "look around", "model": "openai/gpt-5",
            "thinking": "high", "lightContext": true,
        },
    });
    let job = soon(jobs.add(&job)).await.unwrap();
    soon(jobs.run(&job.id)).await.unwrap();
    let first = suite.runner.started().await;
    let expected = json!({
        "model": "openai/gpt-5", "thinking": "high", "limits": { "costPerTurn": 0.5 },
        "bootstrap": 0,
    });
    assert_eq!(bounds(&first), expected);
    suite.runner.forget();
    let suite = doomed.vanish().again().await;
    let second = suite.runner.started().await;
    assert_eq!((&second.run_id, &second.text), (&first.run_id, &first.text));
    assert_eq!(bounds(&second), expected);

    // What goes on with it when it was cut off is bounded like it.
    let interrupted = Kind::Failed(Failed {
        code: Code::Interrupted,
        message: "cut off".to_owned(),
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    });
    suite.runner.say(&first.run_id, interrupted);
    let third = suite.runner.started().await;
    assert_ne!(third.run_id, first.run_id);
    assert!(third.text.contains("go on from there"), "{}", third.text);
    assert_eq!(bounds(&third), expected);
}
