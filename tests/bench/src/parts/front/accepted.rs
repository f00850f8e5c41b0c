//! Messages over WebSockets, until they are acknowledged: their entries are durable then.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use uuid::Uuid;

use crate::home::Home;
use crate::sample::Sample;
use crate::socket::{Place, Socket, is_end};
use crate::table::{Table, Unit};

/// Messages that count when they come one by one, and those before them.
const MESSAGES: usize = 200;
const WARM_UP: usize = 20;
/// Milliseconds until one is acknowledged, at most, of every second.
const TARGET: f64 = 3.0;

/// Messages a second that are to be accepted at least.
const LEAST: f64 = 500.0;
/// Messages a second that are sent, and for how many seconds: a tenth more, so
/// that the time until the last one is acknowledged does not decide.
const RATE: usize = 550;
const SECONDS: usize = 4;
/// Sessions they are spread over.
const SESSIONS: usize = 64;
/// Connections they come over.
const CLIENTS: usize = 8;
/// Until all of them are answered. Nobody asks how fast: it is the turns' affair.
const PATIENCE: Duration = Duration::from_secs(120);

/// Each when the one before it is answered.
pub(super) async fn one_by_one(place: &Place, table: &mut Table) -> anyhow::Result<()> {
    let mut client = Socket::enter(place).await?;
    let mut times = Sample::default();
    for n in 0..WARM_UP + MESSAGES {
        let key = Uuid::new_v4().to_string();
        let started = Instant::now();
        let message = message("agent:main:acks", &key);
        client.call("chat.send", message).await?;
        if n >= WARM_UP {
            times.add(started.elapsed());
        }
        while !is_end(&client.frame().await?) {}
    }
    table.target(
        "chat.send, acknowledged, p50",
        Unit::Milliseconds,
        times.p50(),
        TARGET,
    );
    table.figure("  the same, p99", Unit::Milliseconds, times.percentile(99));
    Ok(())
}

/// Many a second, whether or not those before them are answered.
pub(super) async fn by_the_hundred(
    place: &Place,
    home: &Home,
    table: &mut Table,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..CLIENTS {
        let client = Socket::enter(place).await?;
        tasks.spawn(flood(client, number));
    }
    let mut acks = Sample::default();
    let mut keys = HashSet::new();
    let mut last = Duration::ZERO;
    while let Some(task) = tasks.join_next().await {
        let flooded = task.context("a client ended")??;
        acks.extend(flooded.acks);
        keys.extend(flooded.keys);
        last = last.max(flooded.sent);
    }
    ensure!(keys.len() == RATE * SECONDS, "{} messages", keys.len());
    let missing = missing(home, &keys)?;
    ensure!(
        missing == 0,
        "{missing} acknowledged messages are in no transcript"
    );
    let rate = keys.len() as f64 / last.as_secs_f64();
    table.words(
        format!("chat.send, {} on {SESSIONS} sessions", keys.len()),
        format!(
            "{rate:.0} accepted a second, none lost, all answered in {:.1} s",
            started.elapsed().as_secs_f64()
        ),
    );
    table.figure(
        "  acknowledged meanwhile, p50",
        Unit::Milliseconds,
        acks.p50(),
    );
    table.figure(
        "  acknowledged meanwhile, p99",
        Unit::Milliseconds,
        acks.percentile(99),
    );
    ensure!(
        rate >= LEAST,
        "only {rate:.0} messages a second were accepted"
    );
    Ok(())
}

struct Flooded {
    keys: Vec<String>,
    acks: Sample,
    /// Until the last one was acknowledged.
    sent: Duration,
}

/// One client's share of the messages.
async fn flood(mut client: Socket, number: usize) -> anyhow::Result<Flooded> {
    let share = RATE * SECONDS / CLIENTS;
    let mut ticks =
        interval(Duration::from_secs(1) * u32::try_from(CLIENTS)? / u32::try_from(RATE)?);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let started = Instant::now();
    let mut under_way: Vec<(String, Instant)> = Vec::new();
    let mut flooded = Flooded {
        keys: Vec::new(),
        acks: Sample::default(),
        sent: Duration::ZERO,
    };
    let mut ended = HashSet::new();
    let all = async {
        while ended.len() < share {
            tokio::select! {
                biased;
                _ = ticks.tick(), if flooded.keys.len() < share => {
                    let key = Uuid::new_v4().to_string();
                    let place = (flooded.keys.len() * CLIENTS + number) % SESSIONS;
                    let message = message(&format!("agent:main:many-{place}"), &key);
                    let id = client.begin("chat.send", message).await?;
                    under_way.push((id, Instant::now()));
                    flooded.keys.push(key);
                }
                frame = client.frame() => {
                    let frame = frame?;
                    if let Some(took) = acknowledged(&frame, &mut under_way)? {
                        flooded.acks.add(took);
                        flooded.sent = started.elapsed();
                    } else if is_end(&frame) {
                        let run = frame["payload"]["runId"].as_str().unwrap_or_default();
                        if flooded.keys.iter().any(|key| key == run) {
                            ended.insert(run.to_owned());
                        }
                    }
                }
            }
        }
        Ok::<_, anyhow::Error>(())
    };
    timeout(PATIENCE, all)
        .await
        .context("not all messages were answered")??;
    Ok(flooded)
}

/// How long the request took that `frame` answers, if it answers one.
fn acknowledged(
    frame: &Value,
    under_way: &mut Vec<(String, Instant)>,
) -> anyhow::Result<Option<Duration>> {
    if frame["type"] != "res" {
        return Ok(None);
    }
    ensure!(frame["ok"] == true, "a message was refused: {frame}");
    let at = under_way
        .iter()
        .position(|(id, _)| frame["id"] == id.as_str());
    Ok(at.map(|at| under_way.swap_remove(at).1.elapsed()))
}

/// How many of the messages are in no transcript.
fn missing(home: &Home, keys: &HashSet<String>) -> anyhow::Result<usize> {
    let folder = home.paths.sessions("main");
    let mut left = keys.clone();
    let files = fs::read_dir(&folder).context("list the transcripts")?;
    for file in files {
        let path = file.context("list the transcripts")?.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            let text = fs::read_to_string(&path).context("read a transcript")?;
            let written = text
                .lines()
                .filter(|line| line.contains("\"role\":\"user\""));
            for line in written {
                left.retain(|key| !line.contains(key.as_str()));
            }
        }
    }
    Ok(left.len())
}

fn message(session: &str, key: &str) -> Value {
    json!({"sessionKey": session, "message": "hi", "idempotencyKey": key})
}
