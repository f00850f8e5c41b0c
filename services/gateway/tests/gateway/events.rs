//! What subscribers are told, over restarts too.

use std::pin::Pin;

use futures_util::{Stream, StreamExt as _};
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::event;
use openclaw_proto::feed::{Change, Client, Event, FeedItem, Kind, Role, Selector, Subscription};
use openclaw_proto::sessions::Named;

use crate::suite::{Doomed, Suite, done, rest, soon, text};

type Telling = Pin<Box<dyn Stream<Item = Result<FeedItem, CallError>> + Send>>;

async fn subscribe(suite: &Suite, subscription: Subscription) -> Telling {
    let client = Client::new(suite.paths().gateway_socket());
    Box::pin(soon(client.subscribe(subscription)).await.unwrap())
}

fn after(sequence: u64) -> Subscription {
    Subscription {
        after: Some(sequence),
        ..Subscription::default()
    }
}

async fn next(telling: &mut Telling) -> FeedItem {
    soon(telling.next()).await.unwrap().unwrap()
}

/// What is kept after `sequence`.
async fn kept(suite: &Suite, subscription: Subscription) -> Vec<Event> {
    let mut telling = subscribe(suite, subscription).await;
    let mut events = Vec::new();
    loop {
        match next(&mut telling).await {
            FeedItem::CaughtUp { .. } => return events,
            FeedItem::Event(event) => events.push(event),
            FeedItem::Opened { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

fn words(kind: &Kind) -> String {
    match kind {
        Kind::MessageAccepted { channel, .. } => format!("accepted from {channel}"),
        Kind::RunStarted => "started".to_owned(),
        Kind::EntryAppended(entry) => format!("{} said", entry.role.as_str()),
        Kind::RunEnded(ended) => ended.state.clone(),
        Kind::SessionChanged { change, .. } => change.as_str().to_owned(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn events_of_a_message_are_told_live_and_replayed() {
    let suite = Suite::start().await;
    let mut telling = subscribe(&suite, Subscription::default()).await;
    let FeedItem::Opened { epoch, sequence } = next(&mut telling).await else {
        panic!("not opened");
    };
    assert_eq!(next(&mut telling).await, FeedItem::CaughtUp { sequence });
    let accepted = suite.exchange("hello", "good day").await;
    let (mut events, mut live) = (Vec::new(), Vec::new());
    while events.len() < 5 {
        match next(&mut telling).await {
            FeedItem::Event(event) => events.push(event),
            FeedItem::Live {
                sequence, event, ..
            } => {
                let before = events.last().map_or(0, |event: &Event| event.sequence);
                assert_eq!(sequence, before);
                live.push(event.kind);
            }
            other => panic!("{other:?}"),
        }
    }
    let told: Vec<String> = events.iter().map(|event| words(&event.kind)).collect();
    let expected = [
        "user said",
        "accepted from cli",
        "started",
        "assistant said",
        "done",
    ];
    assert_eq!(told, expected);
    assert!(events.iter().all(|event| event.run_id == accepted.run_id));
    assert_eq!(live, [text("good day")]);
    let ids: Vec<String> = suite
        .transcript(&accepted)
        .iter()
        .filter(|line| line["type"] == "message")
        .map(|line| line["id"].as_str().unwrap().to_owned())
        .collect();
    let entries = events.iter().filter_map(|event| match &event.kind {
        Kind::EntryAppended(entry) => Some((entry.entry_id.clone(), entry.role)),
        _ => None,
    });
    let roles = [Role::User, Role::Assistant];
    assert_eq!(
        entries.collect::<Vec<_>>(),
        ids.into_iter().zip(roles).collect::<Vec<_>>()
    );

    assert_eq!(kept(&suite, after(sequence)).await, events);
    let third = events[2].sequence;
    assert_eq!(kept(&suite, after(third)).await, events[3..]);
    let elsewhere = Subscription {
        selector: Selector::Session("other".to_owned()),
        ..after(0)
    };
    assert_eq!(kept(&suite, elsewhere).await, []);
    let of_epoch = Subscription {
        epoch,
        ..after(third)
    };
    assert_eq!(kept(&suite, of_epoch).await, events[3..]);
}

#[tokio::test]
async fn events_go_on_where_a_gateway_that_died_was() {
    let mut suite = Suite::start().await;
    suite.stop().await;
    let doomed = Doomed::start(suite);
    let suite = doomed.suite();
    let (accepted, replies) = suite.say("will I get an answer?").await;
    suite.runner.started().await;
    drop(replies);
    let before = loop {
        let before = kept(suite, after(0)).await;
        if before.len() == 3 {
            break before;
        }
    };
    let last = before[2].sequence;
    let suite = doomed.vanish().again().await;
    let mut telling = subscribe(&suite, after(last)).await;
    suite.runner.say(&accepted.run_id, text("yes"));
    suite.runner.say(&accepted.run_id, done());
    let mut later = Vec::new();
    while later.len() < 2 {
        match next(&mut telling).await {
            FeedItem::Event(event) => later.push(event),
            FeedItem::Gap { reason, .. } => panic!("{reason}"),
            _ => {}
        }
    }
    assert!(later[0].sequence > last);
    assert_eq!(words(&later[1].kind), "done");
    assert_eq!(kept(&suite, after(0)).await, [before, later].concat());
}

#[tokio::test]
async fn events_that_are_not_there_are_a_gap_by_name() {
    let suite = Suite::start().await;
    suite.exchange("hello", "good day").await;
    let last = kept(&suite, after(0)).await.last().unwrap().sequence;
    let other = Subscription {
        epoch: "another".to_owned(),
        ..after(1)
    };
    for (subscription, given) in [(after(last + 1), last + 1), (other, 1)] {
        let mut telling = subscribe(&suite, subscription).await;
        assert!(matches!(next(&mut telling).await, FeedItem::Opened { .. }));
        let FeedItem::Gap {
            after_sequence,
            through_sequence,
            ..
        } = next(&mut telling).await
        else {
            panic!("no gap");
        };
        assert_eq!((after_sequence, through_sequence), (given, last));
        assert_eq!(
            next(&mut telling).await,
            FeedItem::CaughtUp { sequence: last }
        );
    }
}

#[tokio::test]
async fn events_of_sessions_tell_what_is_done_with_them() {
    let suite = Suite::start().await;
    let message = openclaw_proto::gateway::Message {
        session_key: "work".to_owned(),
        ..crate::suite::text_of("hello")
    };
    let (accepted, replies) = suite.send(message).await.unwrap();
    suite.runner.started().await;
    suite.runner.say(&accepted.run_id, done());
    rest(replies).await;
    let work = Named {
        session: "work",
        agent_id: "",
    };
    soon(suite.sessions.reset(work, "new")).await.unwrap();
    soon(suite.sessions.delete(work, false)).await.unwrap();
    let of_work = Subscription {
        selector: Selector::Session("work".to_owned()),
        ..after(0)
    };
    let events = kept(&suite, of_work).await;
    let changes: Vec<Change> = events
        .iter()
        .filter_map(|event| match &event.kind {
            Kind::SessionChanged { change, .. } => Some(*change),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [Change::Reset, Change::Deleted]);
}

#[tokio::test]
async fn events_that_nobody_reads_end_with_where_to_go_on() {
    let suite = Suite::start().await;
    let mut telling = subscribe(&suite, Subscription::default()).await;
    let (accepted, replies) = suite.say("tell me all").await;
    suite.runner.started().await;
    let long = "x".repeat(64 * 1024);
    for _ in 0..256 {
        suite.runner.say(&accepted.run_id, text(&long));
    }
    suite.runner.say(&accepted.run_id, done());
    let said = rest(replies).await;
    assert_eq!(said.last(), Some(&done()));
    let mut last = 0;
    let error = loop {
        match soon(telling.next()).await.unwrap() {
            Ok(FeedItem::Event(event)) => last = event.sequence,
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), Some(RefusalCode::ResourceExhausted));
    let hint = format!("after_sequence {last}");
    assert!(error.to_string().contains(&hint), "{error}");
    let events = kept(&suite, after(last)).await;
    let event::Kind::Done(_) = done() else {
        panic!("not the end");
    };
    assert_eq!(words(&events.last().unwrap().kind), "done");
}
