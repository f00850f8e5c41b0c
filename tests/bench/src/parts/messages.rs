//! One client, one session, one message after the other.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use openclaw_proto::gateway::Client;

use super::start;
use crate::conversation::{self, Exchange, TEXT};
use crate::daemon::Daemon;
use crate::home::{Backend, Home};
use crate::model::Model;
use crate::process::{Cpu, Process};
use crate::programs::Programs;
use crate::sample::{Sample, milliseconds};
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Messages before those that count: connections, caches, the session.
const WARM_UP: usize = 20;
/// Messages that count.
const MESSAGES: usize = 200;
/// Messages at either end that show whether a longer session costs more.
const END: usize = 50;
/// Whole `openclawctl message` processes.
const PROCESSES: usize = 50;
/// Messages with a pause before each.
const PAUSED: usize = 50;
/// What people wait at least before they say the next thing; what the suite does after an answer
/// is over by then.
const PAUSE: Duration = Duration::from_millis(100);
/// Milliseconds of a round trip, at most.
const ROUND_TRIP_TARGET: f64 = 12.0;
/// Bytes of the first request to the model, at most.
const REQUEST_TARGET: f64 = 8000.0;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("messages", Backend::Native, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let measured = talk(&suite, &stage.programs, &home, &model, table).await;
    measured.with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
    suite.stop().await
}

async fn talk(
    suite: &Suite,
    programs: &Programs,
    home: &Home,
    model: &Model,
    table: &mut Table,
) -> anyhow::Result<()> {
    let client = suite.client();
    let first = messages(&client, 1).await?;
    let sizes = model.take_sizes().await?;
    ensure!(
        sizes.len() == 1,
        "one message made {} requests",
        sizes.len()
    );
    messages(&client, WARM_UP - 1).await?;
    let daemons = suite.daemons()?;
    let before = times(&daemons)?;
    let exchanges = messages(&client, MESSAGES).await?;
    let after = times(&daemons)?;
    round_trips(&exchanges, &first, table);
    processor_time(&daemons, &before, &after, table);
    let paused = with_pauses(&client).await?;
    table.figure(
        "round trip, native, 100 ms after the last, p50",
        Unit::Milliseconds,
        paused.p50(),
    );
    let total = start::memory(&daemons, "after 200 messages", table)?;
    table.figure(
        "PSS, the three together, after 200 messages",
        Unit::Mebibytes,
        total,
    );
    kept(&daemons, table)?;
    let size = sizes.first().copied().unwrap_or_default();
    table.target(
        "request to the model for \"hi\", native, empty workspace",
        Unit::Bytes,
        size as f64,
        REQUEST_TARGET,
    );
    let whole = processes(programs, home).await?;
    table.figure(
        "openclawctl message, whole process, p50",
        Unit::Milliseconds,
        whole.p50(),
    );
    table.figure(
        "openclawctl message, whole process, p95",
        Unit::Milliseconds,
        whole.percentile(95),
    );
    Ok(())
}

async fn messages(client: &Client, count: usize) -> anyhow::Result<Vec<Exchange>> {
    let mut exchanges = Vec::with_capacity(count);
    for _ in 0..count {
        exchanges.push(conversation::exchange(client, "main").await?);
    }
    Ok(exchanges)
}

async fn with_pauses(client: &Client) -> anyhow::Result<Sample> {
    let mut times = Sample::default();
    for _ in 0..PAUSED {
        tokio::time::sleep(PAUSE).await;
        times.add(conversation::exchange(client, "main").await?.ended);
    }
    Ok(times)
}

/// What else is there between two messages: an agent that stands ready for the next one.
fn kept(daemons: &[(Daemon, Process)], table: &mut Table) -> anyhow::Result<()> {
    let mut processes = Vec::new();
    for (_, daemon) in daemons {
        processes.extend(daemon.descendants()?);
    }
    let mut total = 0.0;
    for process in &processes {
        match process.memory() {
            Ok(memory) => total += memory.total,
            // An agent is not dumpable: only root may look.
            Err(error) => {
                table.words(
                    "PSS, processes kept for the next message",
                    format!("{error:#}"),
                );
                return Ok(());
            }
        }
    }
    table.words(
        "PSS, processes kept for the next message",
        format!("{total:.2} MB ({} processes)", processes.len()),
    );
    Ok(())
}

fn round_trips(exchanges: &[Exchange], first: &[Exchange], table: &mut Table) {
    let times =
        |moment: fn(&Exchange) -> Duration| exchanges.iter().map(moment).collect::<Sample>();
    let ended = times(|exchange| exchange.ended);
    let unit = Unit::Milliseconds;
    table.target(
        "round trip, native, sequential, p50",
        unit,
        ended.p50(),
        ROUND_TRIP_TARGET,
    );
    table.figure(
        "round trip, native, sequential, p95",
        unit,
        ended.percentile(95),
    );
    table.figure(
        "round trip, native, sequential, p99",
        unit,
        ended.percentile(99),
    );
    table.figure(
        "  of it until accepted (durable), p50",
        unit,
        times(|e| e.accepted).p50(),
    );
    table.figure(
        "  of it until the first text, p50",
        unit,
        times(|e| e.first_text).p50(),
    );
    let (early, late) = ended.ends(END);
    table.words(
        format!("  the first and the last {END} of the session, p50"),
        format!("{:.2} ms, {:.2} ms", early.p50(), late.p50()),
    );
    let first = first.first().copied().unwrap_or_default();
    table.figure("  the very first message", unit, milliseconds(first.ended));
}

fn times(daemons: &[(Daemon, Process)]) -> anyhow::Result<Vec<Cpu>> {
    daemons.iter().map(|(_, process)| process.cpu()).collect()
}

fn processor_time(daemons: &[(Daemon, Process)], before: &[Cpu], after: &[Cpu], table: &mut Table) {
    let each = |time: Duration| milliseconds(time) / MESSAGES as f64;
    let spent = after
        .iter()
        .zip(before)
        .map(|(after, before)| after.since(*before));
    let spent: Vec<Cpu> = spent.collect();
    let all: Duration = spent.iter().map(|cpu| cpu.own + cpu.reaped).sum();
    table.figure(
        "processor time of a message, all processes",
        Unit::Milliseconds,
        each(all),
    );
    for ((daemon, _), cpu) in daemons.iter().zip(&spent) {
        table.figure(
            format!("  of it {daemon}"),
            Unit::Milliseconds,
            each(cpu.own),
        );
        if !cpu.reaped.is_zero() {
            let measure = format!("  of it the processes {daemon} started");
            table.figure(measure, Unit::Milliseconds, each(cpu.reaped));
        }
    }
}

async fn processes(programs: &Programs, home: &Home) -> anyhow::Result<Sample> {
    let mut whole = Sample::default();
    for _ in 0..PROCESSES {
        let mut command = home.command(&programs.path("openclawctl"));
        command.args(["message", TEXT]).stdin(Stdio::null());
        let started = Instant::now();
        let output = tokio::process::Command::from(command).output().await;
        let output = output.context("cannot start openclawctl message")?;
        whole.add(started.elapsed());
        ensure!(
            output.status.success(),
            "openclawctl message failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(whole)
}
