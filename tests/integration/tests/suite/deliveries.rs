//! Replies on channels, while the channel's daemon and the gateway are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use futures_util::StreamExt as _;
use integration_tests::{Setup, Suite, processes};
use nix::sys::signal::Signal;
use openclaw_proto::gateway::{ChatKind, Message, Reply, Route};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// The shortest lease there is.
const LEASE_MS: &str = "1000";

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A chat of its own for each message, so that none waits for another.
fn message(number: usize) -> Message {
    Message {
        text: format!("message {number}"),
        channel: "test".to_owned(),
        idempotency_key: format!("test-{number}"),
        route: Some(Route {
            account: String::new(),
            chat: ChatKind::Group,
            id: number.to_string(),
            thread: None,
            sender: None,
            present_id: None,
            message: None,
            sender_name: None,
            title: None,
        }),
        ..Message::default()
    }
}

/// Hands a message in until it is accepted, as a channel's daemon does.
async fn hand_in(suite: &Suite, number: usize) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let sent = suite.gateway().send_message(message(number)).await;
        if let Ok(replies) = sent {
            let mut replies = std::pin::pin!(replies);
            if let Some(Ok(Reply::Accepted(accepted, ..))) = replies.next().await {
                return accepted.run_id;
            }
        }
        assert!(Instant::now() < until, "message {number} is not accepted");
        sleep(Duration::from_millis(50)).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "it is no agent process")]
fn channel(suite: &Suite, mode: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_channel"))
        .arg(suite.runtime().join("gateway.sock"))
        .arg(suite.path("sent"))
        .args([LEASE_MS, mode])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("start the channel")
}

/// Of each run, the delivery and the attempts at it.
fn sent(suite: &Suite) -> BTreeMap<String, (BTreeSet<u64>, Vec<u32>)> {
    let text = std::fs::read_to_string(suite.path("sent")).unwrap_or_default();
    let mut sent: BTreeMap<String, (BTreeSet<u64>, Vec<u32>)> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (ids, attempts) = sent.entry(fields[2].to_owned()).or_default();
        ids.insert(fields[0].parse().unwrap());
        attempts.push(fields[1].parse().unwrap());
    }
    sent
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let waited = async {
        while !condition() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(timeout(PATIENCE, waited).await.is_ok(), "not seen: {what}");
}

#[tokio::test]
async fn deliveries_survive_a_channel_that_is_killed_before_it_reports() {
    let suite = Setup::offline().start().await;
    let run_id = hand_in(&suite, 1).await;
    let mut first = channel(&suite, "silent");
    until("the first attempt", || sent(&suite).contains_key(&run_id)).await;
    first.kill().await.unwrap();
    let mut second = channel(&suite, "report");
    until("the second attempt", || sent(&suite)[&run_id].1 == [1, 2]).await;
    // Nobody is given what was reported.
    sleep(Duration::from_millis(1_500)).await;
    second.kill().await.unwrap();
    let _third = channel(&suite, "silent");
    sleep(Duration::from_millis(1_500)).await;
    assert_eq!(sent(&suite)[&run_id].1, [1, 2]);
}

#[tokio::test]
async fn deliveries_are_there_once_however_the_gateway_is_killed() {
    const MESSAGES: usize = 12;
    let suite = Setup::offline().start().await;
    let mut daemon = channel(&suite, "report");
    let mut runs = BTreeSet::new();
    for number in 0..MESSAGES {
        runs.insert(hand_in(&suite, number).await);
        // At another point of the message's way each time.
        sleep(Duration::from_millis(17 * number as u64)).await;
        processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
        if number % 3 == 0 {
            daemon.kill().await.unwrap();
            daemon = channel(&suite, "report");
        }
        suite.ctl(&["status", "--wait", "30"]).await.ok();
    }
    until("a reply to each message", || sent(&suite).len() == MESSAGES).await;
    let sent = sent(&suite);
    assert_eq!(sent.keys().cloned().collect::<BTreeSet<_>>(), runs);
    for (run_id, (ids, attempts)) in &sent {
        assert_eq!(ids.len(), 1, "{run_id} is in the outbox once: {ids:?}");
        // One that was lost with the gateway is counted too.
        assert!(
            attempts.is_sorted_by(|one, next| one < next),
            "{run_id}: {attempts:?}"
        );
    }
    // Handed in again, they are the same messages.
    for number in 0..MESSAGES {
        assert!(runs.contains(&hand_in(&suite, number).await));
    }
}

#[tokio::test]
async fn events_are_followed_over_a_gateway_that_is_killed() {
    let suite = Setup::offline().start().await;
    let mut talk = suite.begin(&["events", "--after", "0"]);
    suite.say("before").await;
    talk.hear("run done").await;
    let old = suite.daemon("openclaw-gateway");
    processes::send(old, Signal::SIGKILL);
    suite
        .ctl(&["message", "--session", "work", "after"])
        .await
        .ok();
    let heard = talk.hear("agent:main:work").await;
    let accepted = heard.matches("message accepted from cli").count();
    let of_main = heard.matches("agent:main:main").count();
    // Of the first message once: user, accepted, started, assistant, done.
    assert!(accepted <= 2 && of_main == 5, "{heard}");
}
