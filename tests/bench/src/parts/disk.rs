//! What a message costs the disk, by how many sessions there are.

use std::time::Duration;

use anyhow::Context as _;
use openclaw_proto::gateway::Client;

use crate::conversation;
use crate::daemon::Daemon;
use crate::home::Backend;
use crate::model::Model;
use crate::process::Process;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// A person's, and those of a machine that many people talk to.
const SESSIONS: [usize; 2] = [70, 700];
/// Messages to different sessions, one after the other.
const MESSAGES: usize = 200;
/// Messages with a pause after each, so that none shares a write with another.
const ALONE: usize = 10;
/// Everything that follows a message is written by then: the index after a second, the ledger half
/// a second later.
const PAUSE: Duration = Duration::from_secs(4);
/// Bytes of one message, at most.
const TARGET: f64 = 40_000.0;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    for sessions in SESSIONS {
        let model = Model::start(&stage.programs).await?;
        let home = stage.home(&format!("disk-{sessions}"), Backend::Native, model.url())?;
        let suite = Suite::start(&stage.programs, &home).await?;
        let measured = write(&suite, sessions, table).await;
        measured.with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
        suite.stop().await?;
    }
    Ok(())
}

async fn write(suite: &Suite, sessions: usize, table: &mut Table) -> anyhow::Result<()> {
    let client = suite.client();
    let daemons = suite.daemons()?;
    let gateway = daemons
        .iter()
        .find(|(daemon, _)| *daemon == Daemon::Gateway);
    let (_, gateway) = gateway.context("the suite has no gateway")?;
    messages(&client, sessions, sessions).await?;
    tokio::time::sleep(PAUSE).await;
    let before = gateway.written()?;
    messages(&client, MESSAGES, sessions).await?;
    tokio::time::sleep(PAUSE).await;
    let each = (gateway.written()? - before) as f64 / MESSAGES as f64;
    table.target(
        format!("written for a message of {MESSAGES}, {sessions} sessions"),
        Unit::Bytes,
        each,
        TARGET,
    );
    let alone = alone(&client, *gateway).await?;
    table.target(
        format!("written for a message alone, {sessions} sessions, p50"),
        Unit::Bytes,
        alone.p50(),
        TARGET,
    );
    table.figure(
        format!("written for a message alone, {sessions} sessions, most"),
        Unit::Bytes,
        alone.percentile(100),
    );
    Ok(())
}

async fn messages(client: &Client, count: usize, sessions: usize) -> anyhow::Result<()> {
    for number in 0..count {
        conversation::exchange(client, &format!("s{}", number % sessions)).await?;
    }
    Ok(())
}

async fn alone(client: &Client, gateway: Process) -> anyhow::Result<Sample> {
    let mut written = Sample::default();
    for number in 0..ALONE {
        let before = gateway.written()?;
        conversation::exchange(client, &format!("s{number}")).await?;
        tokio::time::sleep(PAUSE).await;
        written.add_value((gateway.written()? - before) as f64);
    }
    Ok(written)
}
