//! One streaming turn that many clients are told.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use serde_json::json;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::sample::Sample;
use crate::socket::{Place, Socket};
use crate::table::{Table, Unit};

/// Clients that hear the turn.
const CLIENTS: usize = 200;
/// Pieces of its answer.
const DELTAS: usize = 250;
/// Milliseconds before each. With what else a piece takes it is 50 a second.
const PAUSE: usize = 19;
/// Milliseconds from the model to a client, at most, of 99 in 100.
const TARGET: f64 = 20.0;
/// What is before the words in a `chat` event.
const WORDS: &str = "\"deltaText\":\"";

pub(super) async fn measure(place: &Place, table: &mut Table) -> anyhow::Result<()> {
    let session = format!("agent:main:told-{}", Uuid::new_v4());
    let mut tasks = JoinSet::new();
    for _ in 0..CLIENTS {
        let mut client = Socket::enter(place).await?;
        let follow = json!({"key": session});
        client.call("sessions.messages.subscribe", follow).await?;
        tasks.spawn(hear(client));
    }
    let mut sender = Socket::enter(place).await?;
    let message = json!({
        "sessionKey": session,
        "message": format!("[[scenario:clock {PAUSE} {DELTAS}]]"),
        "idempotencyKey": Uuid::new_v4().to_string(),
    });
    sender.call("chat.send", message).await?;
    tasks.spawn(hear(sender));
    let mut times = Sample::default();
    let mut heard = 0;
    let mut all: Option<Vec<u64>> = None;
    while let Some(task) = tasks.join_next().await {
        let said = task.context("a client ended")??;
        let sent: Vec<u64> = said.iter().map(|(sent, _)| *sent).collect();
        ensure!(sent.len() == DELTAS, "a client heard {} deltas", sent.len());
        let first = all.get_or_insert_with(|| sent.clone());
        ensure!(*first == sent, "clients heard different deltas");
        for (_, took) in said {
            times.add(took);
        }
        heard += 1;
    }
    let first = all.context("nobody heard anything")?;
    let took = first
        .last()
        .zip(first.first())
        .map(|(last, first)| last - first);
    let rate = (DELTAS - 1) as f64 / Duration::from_micros(took.unwrap_or(1)).as_secs_f64();
    table.words(
        format!("a turn of {DELTAS} deltas told to {heard} WebSocket clients"),
        format!("every delta to everyone, {rate:.0} a second"),
    );
    table.figure(
        "  from the model to a client, p50",
        Unit::Milliseconds,
        times.p50(),
    );
    let slow = times.percentile(99);
    table.target(
        "  from the model to a client, p99",
        Unit::Milliseconds,
        slow,
        TARGET,
    );
    Ok(())
}

/// Every delta of a turn: when it was sent, in microseconds since 1970, and how long it took to get here.
async fn hear(mut client: Socket) -> anyhow::Result<Vec<(u64, Duration)>> {
    let mut heard = Vec::new();
    loop {
        let frame = client.text().await?;
        let now = now();
        if !frame.contains("\"event\":\"chat\"") {
            continue;
        }
        if frame.contains("\"state\":\"delta\"") {
            heard.extend(
                sent(&frame).map(|sent| (sent, Duration::from_micros(now - sent.min(now)))),
            );
        } else if frame.contains("\"state\":\"final\"") {
            return Ok(heard);
        }
    }
}

/// The times in a delta: the gateway may put several pieces into one.
fn sent(frame: &str) -> impl Iterator<Item = u64> {
    let words = frame.split_once(WORDS).map_or("", |(_, words)| words);
    let end = words.find('"').unwrap_or_default();
    let times = words[..end].split_whitespace();
    times.filter_map(|time| time.parse().ok())
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::sent;

    #[test]
    fn told_every_time_of_a_delta_is_found() {
        let frame = r#"{"event":"chat","payload":{"deltaText":"12 34 ","message":{"text":"1 2"}}}"#;
        assert_eq!(sent(frame).collect::<Vec<_>>(), [12, 34]);
        assert_eq!(sent("{}").count(), 0);
    }
}
