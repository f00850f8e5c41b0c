//! Round trips through the suite of this user's service manager, where every turn is a transient unit.

use std::time::Duration;

use anyhow::Context as _;
use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway::Client;
use uuid::Uuid;

use crate::conversation;
use crate::sample::Sample;
use crate::table::{Table, Unit};

/// Messages before those that count.
const WARM_UP: usize = 20;
/// Messages that count.
const MESSAGES: usize = 200;
/// Messages with a pause before each.
const PAUSED: usize = 100;
/// What people wait at least before they say the next thing.
const PAUSE: Duration = Duration::from_millis(100);
/// Milliseconds of a round trip, at most.
const TARGET: f64 = 12.0;

/// Talks to `agent`, which speaks with a scripted model, in a session of its own.
pub(crate) async fn measure(agent: &str, table: &mut Table) -> anyhow::Result<()> {
    let paths = Paths::resolve(&Environment::inherit()).context("find the suite's folders")?;
    let client = Client::new(paths.gateway_socket());
    let session = format!("agent:{agent}:explicit:{}", Uuid::new_v4());
    talk(&client, &session, WARM_UP, Duration::ZERO).await?;
    let times = talk(&client, &session, MESSAGES, Duration::ZERO).await?;
    let unit = Unit::Milliseconds;
    let name = "round trip, native, a transient unit each";
    // Every turn's process is then started while the one before it is used: it is the time to start a unit.
    table.figure(format!("{name}, back to back, p50"), unit, times.p50());
    table.figure(
        format!("{name}, back to back, p95"),
        unit,
        times.percentile(95),
    );
    let paused = talk(&client, &session, PAUSED, PAUSE).await?;
    let name = format!("{name}, 100 ms after the last");
    table.target(format!("{name}, p50"), unit, paused.p50(), TARGET);
    table.figure(format!("{name}, p95"), unit, paused.percentile(95));
    Ok(())
}

async fn talk(
    client: &Client,
    session: &str,
    count: usize,
    pause: Duration,
) -> anyhow::Result<Sample> {
    let mut times = Sample::default();
    for _ in 0..count {
        tokio::time::sleep(pause).await;
        times.add(conversation::exchange(client, session).await?.ended);
    }
    Ok(times)
}
