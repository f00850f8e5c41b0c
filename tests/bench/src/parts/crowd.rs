//! A hundred turns at once.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use tokio::task::JoinSet;
use tokio::time::{Duration, MissedTickBehavior, interval};

use crate::conversation;
use crate::daemon::Daemon;
use crate::home::Backend;
use crate::model::Model;
use crate::process::Process;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Turns that run at once, each in a session of its own.
const TURNS: usize = 100;
/// MiB of the gateway meanwhile, at most.
const GATEWAY_TARGET: f64 = 25.0;
/// Between two looks at its memory.
const LOOK: Duration = Duration::from_millis(50);

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("crowd", Backend::Native, model.url())?;
    home.configure(&serde_json::json!({ "gateway": { "maxConcurrentTurns": TURNS } }))?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let talked = talk(&suite, table).await;
    talked.with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
    suite.stop().await
}

async fn talk(suite: &Suite, table: &mut Table) -> anyhow::Result<()> {
    let daemons = suite.daemons()?;
    let gateway = daemons
        .iter()
        .find(|(daemon, _)| *daemon == Daemon::Gateway);
    let (_, gateway) = gateway.context("the gateway does not run")?;
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for index in 0..TURNS {
        let client = suite.client();
        tasks.spawn(async move {
            // Slow enough that all of them run before the first one ends.
            let text = "[[scenario:slow 200]]";
            let session = format!("crowd-{index}");
            conversation::exchange_of(&client, &session, text).await
        });
    }
    let mut times = Sample::default();
    let (mut most, mut most_running) = (0.0_f64, 0);
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let client = suite.client();
    while !tasks.is_empty() {
        tokio::select! {
            Some(task) = tasks.join_next() => times.add(task.context("a client ended")??.ended),
            _ = look.tick() => {
                most = most.max(pss(*gateway)?);
                most_running = most_running.max(client.status().await?.turns_running);
            }
        }
    }
    ensure!(times.len() == TURNS, "{} answers", times.len());
    table.words(
        format!("{TURNS} turns at once, answered in full"),
        format!(
            "{} in {:.1} s, {most_running} running at once",
            times.len(),
            started.elapsed().as_secs_f64()
        ),
    );
    table.figure(
        format!("  longest answer of {TURNS}"),
        Unit::Milliseconds,
        times.percentile(100),
    );
    table.target(
        format!("PSS, gateway, {TURNS} turns at once, at most"),
        Unit::Mebibytes,
        most,
        GATEWAY_TARGET,
    );
    Ok(())
}

fn pss(process: Process) -> anyhow::Result<f64> {
    Ok(process.memory()?.total)
}
