//! `/stop`: the circuit breaker, also without a runner.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use integration_tests::socket::Socket;
use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Suite, Talk, processes};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Message, Reply};
use scripted_model::{Scenario, Server};
use serde_json::json;

/// What a loaded machine may add to the second within which a stop is confirmed.
const BOUND: Duration = Duration::from_secs(5);

/// What is said when the runner had not ended the turn in time.
const LATER: &str = "as soon as it is back";

/// A number that no other process on this machine sleeps for.
fn unique_seconds() -> String {
    format!("86400.{}", uuid::Uuid::new_v4().as_u128())
}

/// A turn that has left a daemon behind, which is deaf to what can be ignored,
/// and is still being answered.
async fn begun(model: &Server, suite: &Suite, seconds: &str) -> Talk {
    let command = format!(
        "perl -e 'use POSIX; if (!fork) {{ POSIX::setsid(); $SIG{{$_}} = q(IGNORE) for qw(TERM INT HUP); \
         open STDOUT, q(>/dev/null); open STDERR, q(>/dev/null); \
         if (!fork) {{ exec q(sleep), q({seconds}) }} exit }} wait' && echo started"
    );
    let then = Scenario::held("It is running, as you wanted it to.", "never");
    model.push(Scenario::tool("execute_shell", json!({"command": command})).then(then));
    let mut talk = suite.begin(&["message", "start a daemon"]);
    talk.hear("It is running").await;
    assert_eq!(
        processes::with_argument(seconds).len(),
        1,
        "the daemon runs"
    );
    talk
}

/// Says `words`; what was answered, after what time.
async fn said(suite: &Suite, words: &str) -> (String, Duration) {
    let message = Message {
        text: words.to_owned(),
        ..Message::default()
    };
    let start = Instant::now();
    let replies = suite.gateway().send_message(message).await.unwrap();
    let mut replies = std::pin::pin!(replies);
    let mut said = String::new();
    while let Some(reply) = replies.next().await {
        if let Reply::Event(event) = reply.unwrap()
            && let Kind::TextDelta { text } = event.kind
        {
            said.push_str(&text);
        }
    }
    (said, start.elapsed())
}

fn confirmed(what: &str, (said, took): &(String, Duration)) {
    eprintln!("stop confirmed after {took:?}: {what}: {said}");
    assert!(said.contains("Agent was aborted"), "{what}: {said}");
    assert!(*took < BOUND, "{what}: {took:?}");
}

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::anthropic(&model).start().await, model)
}

fn send(message: &str, id: &str) -> serde_json::Value {
    json!({
        "sessionKey": "main", "message": message, "idempotencyKey": id, "queueMode": "followup",
    })
}

#[tokio::test]
async fn stop_ends_the_turn_with_all_it_left_and_drops_what_waits() {
    let (suite, model) = scene().await;
    let seconds = unique_seconds();
    let talk = begun(&model, &suite, &seconds).await;
    let mut socket = Socket::enter(&suite).await;
    for id in ["w1", "w2"] {
        socket.call("chat.send", send("and then", id)).await;
    }
    let stopped = said(&suite, "please stop!").await;
    confirmed("a turn with a daemon", &stopped);
    assert!(
        stopped.0.contains("2 messages that waited were dropped"),
        "{}",
        stopped.0
    );
    if stopped.0.contains(LATER) {
        // So it may be on a loaded machine.
        processes::gone(&seconds).await;
    }
    assert_eq!(processes::with_argument(&seconds), []);
    talk.end().await.ended(1);
    for id in ["w1", "w2"] {
        let end = socket.end_of(id).await;
        assert_eq!(end["payload"]["state"], "aborted", "{end}");
        let reason = end["payload"]["stopReason"].as_str().unwrap();
        assert!(reason.contains("dropped"), "{end}");
    }
    let messages = suite.messages();
    let aborted = of_role(&messages, "assistant");
    let aborted = aborted.iter().filter(|it| it["stopReason"] == "aborted");
    assert_eq!(aborted.count(), 3, "{messages:?}");
    assert!(
        suite.say("go on").await.contains("go on"),
        "the session is free again"
    );
    assert_eq!(model.turns().len(), 3);
}

/// One that does not even hear a signal.
#[tokio::test]
async fn stop_kills_a_turn_that_hangs() {
    let (suite, model) = scene().await;
    let seconds = unique_seconds();
    let talk = begun(&model, &suite, &seconds).await;
    processes::send(suite.turn(), Signal::SIGSTOP);
    confirmed("a turn that hangs", &said(&suite, "/stop").await);
    talk.end().await.ended(1);
    processes::gone(&seconds).await;
    assert!(suite.say("go on").await.contains("go on"));
}

#[tokio::test]
async fn stop_is_confirmed_while_the_runner_is_started_again() {
    let (suite, model) = scene().await;
    for round in 0..3 {
        let seconds = unique_seconds();
        let talk = begun(&model, &suite, &seconds).await;
        processes::send(suite.daemon("openclaw-agent-runner"), Signal::SIGKILL);
        confirmed("the runner was killed", &said(&suite, "stop").await);
        talk.end().await.ended(1);
        processes::gone(&seconds).await;
        let words = format!("go on {round}");
        assert!(
            suite.say(&words).await.contains(&words),
            "the session is free again"
        );
    }
    assert_eq!(model.turns().len(), 9, "nothing was gone on with");
}

/// Freezes the runner, stops a turn, and returns what lets the runner go on.
async fn stopped_without_a_runner(suite: &Suite, talk: Talk) -> Pid {
    let runner = suite.daemon("openclaw-agent-runner");
    processes::send(runner, Signal::SIGSTOP);
    let stopped = said(suite, "stop").await;
    confirmed("the runner hangs", &stopped);
    assert!(stopped.0.contains(LATER), "{}", stopped.0);
    talk.end().await.ended(1);
    let messages = suite.messages();
    let last = of_role(&messages, "assistant");
    let said = last
        .iter()
        .rev()
        .find(|it| it["stopReason"] == "aborted")
        .unwrap();
    assert!(
        text(said).starts_with("It is running"),
        "what was said is kept: {said}"
    );
    runner
}

#[tokio::test]
async fn stop_needs_no_runner_which_ends_the_turn_when_it_is_back() {
    let (suite, model) = scene().await;
    let seconds = unique_seconds();
    let talk = begun(&model, &suite, &seconds).await;
    let runner = stopped_without_a_runner(&suite, talk).await;
    assert_eq!(processes::with_argument(&seconds).len(), 1);
    let mut next = suite.begin(&["message", "go on"]);
    processes::send(runner, Signal::SIGCONT);
    next.hear("go on").await;
    assert_eq!(processes::with_argument(&seconds), [], "one turn at a time");
    next.end().await.ok();
}

/// The stop is durable: the next gateway does not go on with the run, and has
/// its turn ended.
#[tokio::test]
async fn stop_outlives_the_gateway() {
    let (suite, model) = scene().await;
    let seconds = unique_seconds();
    let talk = begun(&model, &suite, &seconds).await;
    let runner = stopped_without_a_runner(&suite, talk).await;
    let old = suite.daemon("openclaw-gateway");
    processes::send(old, Signal::SIGKILL);
    processes::send(runner, Signal::SIGCONT);
    processes::gone(&seconds).await;
    assert!(suite.say("go on").await.contains("go on"));
    assert_ne!(suite.daemon("openclaw-gateway"), old);
    assert_eq!(model.turns().len(), 3, "nothing was gone on with");
}
