//! What there is to say on channels, and who is given it.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use openclaw_proto::approval::{ApprovalRequested, Decision};
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::event::Kind as Said;
use openclaw_proto::gateway::{Accepted, ChatKind, Message, Route};
use openclaw_proto::outbox::{Client, Delivery, Kind, Outcome, Report, State, Wanted};

use crate::suite::{Doomed, Replies, Suite, done, rest, soon, text, text_of};

/// Long enough that nothing is taken back meanwhile.
const LONG: u32 = 60_000;
/// The shortest there is.
const SHORT: u32 = 1_000;
/// Longer than it takes to be given what there is.
const MOMENT: Duration = Duration::from_millis(300);

type Deliveries = Pin<Box<dyn Stream<Item = Result<Delivery, CallError>> + Send>>;

fn client(suite: &Suite) -> Client {
    Client::new(suite.paths().gateway_socket())
}

async fn take(suite: &Suite, lease_ms: u32) -> Deliveries {
    let wanted = Wanted {
        channel: "telegram".to_owned(),
        account: String::new(),
        lease_ms,
    };
    Box::pin(soon(client(suite).take(wanted)).await.unwrap())
}

/// The next one that is to be reported.
async fn next(deliveries: &mut Deliveries) -> Delivery {
    loop {
        let delivery = soon(deliveries.next()).await.unwrap().unwrap();
        if delivery.kind != Kind::Typing {
            return delivery;
        }
    }
}

async fn none(deliveries: &mut Deliveries) {
    let waited = tokio::time::timeout(MOMENT, next(deliveries)).await;
    assert!(waited.is_err(), "{waited:?}");
}

async fn report(suite: &Suite, delivery: &Delivery, outcome: Outcome) -> State {
    let report = Report {
        id: delivery.id,
        attempt: delivery.attempt,
        outcome,
    };
    soon(client(suite).report(report)).await.unwrap()
}

fn delivered(id: &str) -> Outcome {
    Outcome::Delivered(vec![id.to_owned()])
}

fn routed(text: &str, key: &str) -> Message {
    Message {
        channel: "telegram".to_owned(),
        idempotency_key: key.to_owned(),
        route: Some(Route {
            account: String::new(),
            chat: ChatKind::Group,
            id: "-100".to_owned(),
            thread: Some("7".to_owned()),
            sender: Some("42".to_owned()),
            present_id: None,
            message: None,
            sender_name: None,
            title: None,
        }),
        ..text_of(text)
    }
}

async fn send(suite: &Suite, key: &str) -> (Accepted, Replies) {
    let sent = suite.send(routed("hello", key)).await.unwrap();
    suite.runner.started().await;
    sent
}

async fn answer(suite: &Suite, key: &str, answer: &str) -> Accepted {
    let (accepted, replies) = send(suite, key).await;
    suite.runner.say(&accepted.run_id, text(answer));
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    accepted
}

#[tokio::test]
async fn outbox_has_one_reply_for_each_message_of_a_channel() {
    let suite = Suite::start().await;
    let mut deliveries = take(&suite, LONG).await;
    let accepted = answer(&suite, "k1", "good day").await;
    let delivery = next(&mut deliveries).await;
    assert_eq!(delivery.run_id, accepted.run_id);
    assert_eq!(
        delivery.session_key,
        "agent:main:telegram:group:-100:topic:7"
    );
    assert_eq!((delivery.id, delivery.attempt), (1, 1));
    let place = &delivery.place;
    assert_eq!(
        (place.to.as_str(), place.thread.as_deref()),
        ("-100", Some("7"))
    );
    assert_eq!(place.chat, Some(ChatKind::Group));
    let reply = Kind::Reply {
        text: "good day".to_owned(),
        state: "done".to_owned(),
        reason: String::new(),
    };
    assert_eq!(delivery.kind, reply);
    let (again, replies) = suite.send(routed("hello", "k1")).await.unwrap();
    assert!(again.existing);
    rest(replies).await;
    // Of the command line's there is nothing, nor of what is not to be said.
    suite
        .exchange("from the command line", "for the command line")
        .await;
    answer(&suite, "k2", "NO_REPLY").await;
    // What says nothing unasked is an answer, and said to be empty.
    answer(&suite, "k3", " \n").await;
    assert_eq!(
        report(&suite, &delivery, delivered("m1")).await,
        State::Delivered
    );
    assert_eq!(
        report(&suite, &delivery, delivered("m2")).await,
        State::Delivered
    );
    let empty = next(&mut deliveries).await;
    assert!(
        matches!(&empty.kind, Kind::Reply { text, state, .. } if text.trim().is_empty() && state == "done"),
        "{empty:?}"
    );
    report(&suite, &empty, delivered("m3")).await;
    none(&mut deliveries).await;
}

#[tokio::test]
async fn outbox_gives_what_nobody_reported_to_the_next_one() {
    let suite = Suite::start().await;
    answer(&suite, "k1", "good day").await;
    let mut first = take(&suite, SHORT).await;
    let taken = next(&mut first).await;
    let mut second = take(&suite, LONG).await;
    let error = soon(first.next()).await.unwrap().unwrap_err();
    assert_eq!(error.code(), Some(RefusalCode::Aborted), "{error}");
    none(&mut second).await;
    let again = next(&mut second).await;
    assert_eq!((again.id, again.attempt), (taken.id, 2));
    // The first one is late, and knows no better.
    let failed = Outcome::Undeliverable("blocked".to_owned());
    assert_eq!(report(&suite, &taken, failed.clone()).await, State::Leased);
    assert_eq!(report(&suite, &again, failed).await, State::Failed);
    let unknown = Delivery { id: 99, ..again };
    let unknown = Report {
        id: unknown.id,
        attempt: 1,
        outcome: delivered("m"),
    };
    let error = soon(client(&suite).report(unknown)).await.unwrap_err();
    assert_eq!(error.code(), Some(RefusalCode::NotFound));
}

#[tokio::test]
async fn outbox_survives_a_gateway_that_dies_wherever_that_is() {
    let mut suite = Suite::start().await;
    suite.stop().await;
    // While it is answered.
    let doomed = Doomed::start(suite);
    let (accepted, replies) = send(doomed.suite(), "k1").await;
    drop(replies);
    let mut suite = doomed.vanish().again().await;
    let events = soon(suite.client.attach(&accepted.run_id, 0))
        .await
        .unwrap();
    suite.runner.say(&accepted.run_id, text("still here"));
    suite.runner.say(&accepted.run_id, done());
    let events: Vec<_> = soon(events.collect()).await;
    assert!(events.len() >= 2);
    suite.stop().await;
    // Between the lease and the report.
    let doomed = Doomed::start(suite);
    let mut deliveries = take(doomed.suite(), SHORT).await;
    let taken = next(&mut deliveries).await;
    assert_eq!(taken.attempt, 1);
    drop(deliveries);
    let mut suite = doomed.vanish().again().await;
    let mut deliveries = take(&suite, LONG).await;
    let again = next(&mut deliveries).await;
    assert_eq!((again.id, again.attempt), (taken.id, 2));
    drop(deliveries);
    suite.stop().await;
    // After the report.
    let doomed = Doomed::start(suite);
    assert_eq!(
        report(doomed.suite(), &again, delivered("m1")).await,
        State::Delivered
    );
    let suite = doomed.vanish().again().await;
    let mut deliveries = take(&suite, LONG).await;
    none(&mut deliveries).await;
    assert_eq!(
        report(&suite, &again, delivered("m1")).await,
        State::Delivered
    );
}

/// A command that somebody is asked about, once and for good.
fn to_allow(command: &str) -> ApprovalRequested {
    ApprovalRequested {
        id: "a-1".to_owned(),
        tool: "exec".to_owned(),
        command: command.to_owned(),
        cwd: "/ws".to_owned(),
        expires_ms: i64::MAX,
        form: "line".to_owned(),
        ..ApprovalRequested::default()
    }
}

#[tokio::test]
async fn outbox_asks_and_says_there_what_was_decided_elsewhere() {
    let suite = Suite::start().await;
    let mut deliveries = take(&suite, LONG).await;
    let (accepted, replies) = send(&suite, "k1").await;
    let asked = ApprovalRequested {
        cwd: "/w\u{1b}[2J".to_owned(),
        reason: "it\nwrites".to_owned(),
        ..to_allow("make # \u{202e}llatsni\nrm -rf \u{200b}x")
    };
    suite
        .runner
        .say(&accepted.run_id, Said::ApprovalRequested(Box::new(asked)));
    let question = next(&mut deliveries).await;
    let Kind::Question {
        id,
        command,
        cwd,
        reason,
        ..
    } = &question.kind
    else {
        panic!("{question:?}");
    };
    // What is not seen is written out before somebody decides.
    assert_eq!(
        (id.as_str(), command.as_str()),
        ("a-1", "make # \\u{202e}llatsni⏎\nrm -rf \\u{200b}x")
    );
    assert_eq!((cwd.as_str(), reason.as_str()), (r"/w\x1b[2J", "it⏎writes"));
    report(&suite, &question, delivered("m7")).await;
    soon(suite.client.decide_approval("a-1", Decision::Deny, "cli"))
        .await
        .unwrap();
    let edit = next(&mut deliveries).await;
    let expected = Kind::Edit {
        delivery_id: question.id,
        provider_ids: vec!["m7".to_owned()],
        text: "```\nmake # \\u{202e}llatsni⏎\nrm -rf \\u{200b}x\n```\n\nDenied, by cli.".to_owned(),
    };
    assert_eq!(edit.kind, expected);
    report(&suite, &edit, delivered("m7")).await;
    suite.runner.say(&accepted.run_id, text("well then"));
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    let reply = next(&mut deliveries).await;
    assert!(matches!(reply.kind, Kind::Reply { .. }), "{reply:?}");
}

/// Whoever allows it as the turn gives up is not told that it ran.
#[tokio::test]
async fn decision_that_the_turn_does_not_take_is_refused() {
    let suite = Suite::start().await;
    suite.runner.give_up();
    let mut deliveries = take(&suite, LONG).await;
    let (accepted, _replies) = send(&suite, "k1").await;
    let asked = Said::ApprovalRequested(Box::new(to_allow("make")));
    suite.runner.say(&accepted.run_id, asked);
    let question = next(&mut deliveries).await;
    report(&suite, &question, delivered("m7")).await;
    let allow = || {
        suite
            .client
            .decide_approval("a-1", Decision::AllowOnce, "cli")
    };
    soon(allow()).await.unwrap_err();
    let edit = next(&mut deliveries).await;
    let Kind::Edit { text, .. } = &edit.kind else {
        panic!("{edit:?}");
    };
    assert!(!text.contains("llowed"), "{text}");
    soon(allow()).await.unwrap_err();
}

/// A runner that ends when it has a decision is told again, and whoever decided hears that
/// it counts; nobody's second decision does.
#[tokio::test]
async fn decision_that_a_runner_was_lost_over_counts_once() {
    let suite = Suite::start().await;
    suite.runner.lose_over_decision();
    let mut deliveries = take(&suite, LONG).await;
    let (accepted, _replies) = send(&suite, "k1").await;
    let asked = Said::ApprovalRequested(Box::new(to_allow("make")));
    suite.runner.say(&accepted.run_id, asked);
    next(&mut deliveries).await;
    let decide = |decision| suite.client.decide_approval("a-1", decision, "cli");
    soon(decide(Decision::AllowOnce)).await.unwrap();
    soon(decide(Decision::AllowOnce)).await.unwrap_err();
    soon(decide(Decision::Deny)).await.unwrap_err();
}

#[tokio::test]
async fn outbox_tells_that_somebody_is_being_answered() {
    let suite = Suite::start().await;
    let mut deliveries = take(&suite, LONG).await;
    let (accepted, _replies) = send(&suite, "k1").await;
    let typing = soon(deliveries.next()).await.unwrap().unwrap();
    assert_eq!((typing.id, typing.kind), (0, Kind::Typing));
    assert_eq!(typing.run_id, accepted.run_id);
}

#[tokio::test]
async fn outbox_refuses_what_cannot_be() {
    let suite = Suite::start().await;
    let none = Wanted::default();
    let hasty = Wanted {
        channel: "telegram".to_owned(),
        lease_ms: 1,
        ..Wanted::default()
    };
    for wanted in [none, hasty] {
        let Err(error) = soon(client(&suite).take(wanted)).await else {
            panic!("not refused");
        };
        assert_eq!(error.code(), Some(RefusalCode::InvalidArgument), "{error}");
    }
}

/// Whoever types a decision has no button that is not there.
#[tokio::test]
async fn outbox_offers_and_takes_nothing_for_good_that_is_longer_than_a_screen() {
    let suite = Suite::start().await;
    let mut deliveries = take(&suite, LONG).await;
    let (accepted, _replies) = send(&suite, "k1").await;
    let asked = to_allow(&format!("rm {}", "a ".repeat(400)));
    suite
        .runner
        .say(&accepted.run_id, Said::ApprovalRequested(Box::new(asked)));
    let question = next(&mut deliveries).await;
    assert_eq!(question.extras.buttons[0].len(), 2, "{question:?}");
    let typed = async |decision: &str| {
        let (_, replies) = suite.say(&format!("/approve a-1 {decision}")).await;
        format!("{:?}", rest(replies).await)
    };
    let said = typed("allow-always").await;
    assert!(said.contains("it is longer than a screen"), "{said}");
    let said = typed("allow-once").await;
    assert!(said.contains("Approval a-1 decided"), "{said}");
}

#[tokio::test]
async fn outbox_says_of_a_question_that_its_turn_was_stopped() {
    let suite = Suite::start().await;
    let mut deliveries = take(&suite, LONG).await;
    let (accepted, replies) = send(&suite, "k1").await;
    let asked = ApprovalRequested {
        form: String::new(),
        ..to_allow("make")
    };
    suite
        .runner
        .say(&accepted.run_id, Said::ApprovalRequested(Box::new(asked)));
    let question = next(&mut deliveries).await;
    report(&suite, &question, delivered("m7")).await;
    assert!(
        soon(suite.client.cancel_run(&accepted.run_id, "/stop"))
            .await
            .unwrap()
    );
    rest(replies).await;
    let edit = loop {
        let delivery = next(&mut deliveries).await;
        if let Kind::Edit { text, .. } = &delivery.kind {
            break text.clone();
        }
        // What its run answered may be before it, and holds the chat up until it is there.
        report(&suite, &delivery, delivered("m8")).await;
    };
    assert_eq!(
        edit,
        "```\nmake\n```\n\nIt was stopped before anybody decided; it does not run."
    );
}
