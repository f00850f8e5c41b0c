//! Replay and what comes, without a gap and without a double.

use futures_util::StreamExt as _;
use openclaw_proto::feed::{Kind, Subscription};

use super::*;

/// Events of a schedule.
const EVENTS: u64 = 1500;

/// Events of one transaction: each of those waits for the disk here.
const BATCH: usize = 25;

fn event(sequence: u64) -> Event {
    Event {
        sequence,
        at_ms: now_ms(),
        agent_id: "main".to_owned(),
        session_key: "agent:main:main".to_owned(),
        run_id: String::new(),
        kind: Kind::RunStarted,
    }
}

/// Writes events as the storage does, some in one transaction, and tells of them
/// a little later.
async fn write(database: Database, feed: Arc<Feed>, numbers: std::ops::RangeInclusive<u64>) {
    let numbers: Vec<u64> = numbers.collect();
    for batch in numbers.chunks(BATCH) {
        let written = batch.to_vec();
        let insert = move |connection: &rusqlite::Connection| {
            for sequence in written {
                connection.execute(
                    "INSERT INTO events (seq, at_ms, agent_id, session_key, run_id, facts)
                     VALUES (?1, ?2, 'main', 'agent:main:main', '', '[{\"type\":\"runStarted\"}]')",
                    [i64::try_from(sequence).unwrap(), now_ms()],
                )?;
            }
            Ok(())
        };
        database.call("add events", insert).await.unwrap();
        tokio::task::yield_now().await;
        let events: Vec<Event> = batch.iter().copied().map(event).collect();
        feed.recorded(&events);
    }
}

async fn feed() -> (tempfile::TempDir, Database, Arc<Feed>) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("ledger.sqlite"));
    let series = Series {
        epoch: "e".to_owned(),
        start: 0,
        last: 0,
    };
    let feed = Feed::new(database.clone(), series);
    (folder, database, feed)
}

#[tokio::test]
async fn feed_goes_over_from_what_is_kept_to_what_comes() {
    let (_folder, database, feed) = feed().await;
    write(database.clone(), Arc::clone(&feed), 1..=600).await;
    let readers = [0, 1, 599, 600, 300].map(|after| {
        let feed = Arc::clone(&feed);
        tokio::spawn(async move {
            let subscription = Subscription {
                after: Some(after),
                ..Subscription::default()
            };
            let mut told = Box::pin(feed.subscribe(subscription).unwrap());
            let mut sequences = Vec::new();
            while sequences.last() != Some(&EVENTS) {
                match told.next().await.unwrap().unwrap() {
                    FeedItem::Event(event) => sequences.push(event.sequence),
                    FeedItem::Gap { reason, .. } => panic!("{reason}"),
                    _ => {}
                }
            }
            assert_eq!(
                sequences,
                Vec::from_iter(after + 1..=EVENTS),
                "after {after}"
            );
        })
    });
    write(database, Arc::clone(&feed), 601..=EVENTS).await;
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(feed.lock().queues.is_empty());
}

#[tokio::test]
async fn feed_has_room_for_so_many_and_no_more() {
    let (_folder, _database, feed) = feed().await;
    let all = (0..SUBSCRIBERS).map(|_| feed.subscribe(Subscription::default()));
    let all: Vec<_> = all.map(|one| one.ok().unwrap()).collect();
    let refused = feed.subscribe(Subscription::default()).err();
    assert!(matches!(refused, Some(Broken::TooMany)));
    drop(all);
    assert!(feed.subscribe(Subscription::default()).is_ok());
}

#[tokio::test]
async fn feed_that_is_closed_ends_its_readers_with_where_to_go_on() {
    let (_folder, database, feed) = feed().await;
    write(database, Arc::clone(&feed), 1..=3).await;
    let mut told = Box::pin(feed.subscribe(Subscription::default()).unwrap());
    assert!(matches!(
        told.next().await,
        Some(Ok(FeedItem::Opened { sequence: 3, .. }))
    ));
    feed.close();
    assert!(matches!(
        told.next().await,
        Some(Ok(FeedItem::CaughtUp { .. }))
    ));
    assert!(matches!(told.next().await, Some(Err(Broken::Stopping(3)))));
    assert!(told.next().await.is_none());
}
