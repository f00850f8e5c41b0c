//! Exec to READY of each daemon, and what the three take when nobody asks them anything.

use std::time::Duration;

use anyhow::Context as _;
use tokio::time::{Instant, sleep};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::activator::{Activator, Running};
use crate::daemon::Daemon;
use crate::home::{Backend, Home};
use crate::model::Model;
use crate::notify::Notify;
use crate::process::Process;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::table::{Table, Unit};

/// Starts of each daemon that count. One before them creates its files.
const STARTS: usize = 20;
/// Milliseconds from exec to READY, at most.
const READY_TARGET: f64 = 15.0;
/// MiB of the three daemons together, at most.
const MEMORY_TARGET: f64 = 15.0;
/// For how long nobody asks them anything before their memory is read.
const IDLE: Duration = Duration::from_secs(10);
/// What a daemon's own helpers (the proof of the sandbox) may take after READY.
const SETTLE_DEADLINE: Duration = Duration::from_secs(20);
/// Between two looks at them: there is no event for the end of another process's child.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("start", Backend::Native, model.url())?;
    let activator = Activator::bind(&stage.programs, &home)?;
    for daemon in Daemon::ALL {
        let times = starts(&activator, &home, daemon).await?;
        let measure = |percent: usize| format!("exec to READY, {daemon}, p{percent}");
        table.target(measure(50), Unit::Milliseconds, times.p50(), READY_TARGET);
        table.figure(measure(95), Unit::Milliseconds, times.percentile(95));
    }
    idle(&activator, &home, table).await
}

async fn starts(activator: &Activator<'_>, home: &Home, daemon: Daemon) -> anyhow::Result<Sample> {
    start(activator, home, daemon).await?.0.stop().await?;
    let mut times = Sample::default();
    for _ in 0..STARTS {
        let (running, time) = start(activator, home, daemon).await?;
        times.add(time);
        running.stop().await?;
    }
    Ok(times)
}

/// Starts `daemon` and waits until it is ready; the time since its exec.
async fn start(
    activator: &Activator<'_>,
    home: &Home,
    daemon: Daemon,
) -> anyhow::Result<(Running, Duration)> {
    let notify = Notify::bind(home.paths.runtime.join("notify"))?;
    let running = activator.start(daemon, &notify)?;
    let time = notify.ready().await;
    Ok((running, time.with_context(|| format!("start {daemon}"))?))
}

async fn idle(activator: &Activator<'_>, home: &Home, table: &mut Table) -> anyhow::Result<()> {
    let mut running = Vec::new();
    for daemon in Daemon::ALL {
        running.push(start(activator, home, daemon).await?.0);
    }
    let mut daemons = Vec::new();
    for daemon in &running {
        check_health(home, daemon.daemon).await?;
        settle(daemon.process()?).await?;
        daemons.push((daemon.daemon, daemon.process()?));
    }
    sleep(IDLE).await;
    let total = memory(&daemons, "idle", table)?;
    table.target(
        "PSS, the three together, idle",
        Unit::Mebibytes,
        total,
        MEMORY_TARGET,
    );
    for daemon in running {
        daemon.stop().await?;
    }
    Ok(())
}

async fn check_health(home: &Home, daemon: Daemon) -> anyhow::Result<()> {
    let channel = openclaw_proto::address::channel(daemon.socket(&home.paths));
    let request = HealthCheckRequest::default();
    let answer = HealthClient::new(channel).check(request).await;
    answer.with_context(|| format!("check the health of {daemon}"))?;
    Ok(())
}

/// Waits until what `process` started has ended.
async fn settle(process: Process) -> anyhow::Result<()> {
    let until = Instant::now() + SETTLE_DEADLINE;
    while !process.children()?.is_empty() {
        anyhow::ensure!(Instant::now() < until, "a daemon's helper does not end");
        sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// Adds the memory of each daemon to the table; the sum.
pub(super) fn memory(
    daemons: &[(Daemon, Process)],
    when: &str,
    table: &mut Table,
) -> anyhow::Result<f64> {
    let mut total = 0.0;
    for (daemon, process) in daemons {
        let memory = process.memory()?;
        total += memory.total;
        let figure = format!(
            "{:.2} MB ({:.2} of it data)",
            memory.total, memory.anonymous
        );
        table.words(format!("PSS, {daemon}, {when}"), figure);
    }
    Ok(total)
}
