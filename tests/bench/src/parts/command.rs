//! Whole `openclawctl` processes, beside OpenClaw's own command line.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::arguments::Arguments;
use crate::conversation::{self, TEXT};
use crate::home::Backend;
use crate::model::Model;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Processes of each kind that count.
const PROCESSES: usize = 50;
/// Processes of OpenClaw's, which take seconds.
const OTHERS: usize = 5;
/// Processes of each kind before those that count.
const WARM_UP: usize = 3;
/// After an answer: what the suite does then is over.
const PAUSE: Duration = Duration::from_millis(100);
/// Milliseconds at most: of the help,
const HELP_TARGET: f64 = 10.0;
/// of a status,
const STATUS_TARGET: f64 = 50.0;
/// and what the command adds to the round trip of a message.
const ADDED_TARGET: f64 = 5.0;

pub(super) async fn measure(
    stage: &Stage,
    arguments: &Arguments,
    table: &mut Table,
) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("command", Backend::Native, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let program = stage.programs.path("openclawctl");
    let command = |words: &[&str]| {
        let mut command = home.command(&program);
        command.args(words);
        command
    };
    let help = repeated(PROCESSES, || command(&["--help"])).await?;
    let status = repeated(PROCESSES, || command(&["status"])).await?;
    let client = suite.client();
    let (mut whole, mut alone) = (Sample::default(), Sample::default());
    // In turns, so that what else the machine does meets both of them.
    for round in 0..WARM_UP + PROCESSES {
        tokio::time::sleep(PAUSE).await;
        let exchange = conversation::exchange(&client, "main").await?;
        tokio::time::sleep(PAUSE).await;
        let time = timed(command(&["message", TEXT])).await?;
        if round >= WARM_UP {
            alone.add(exchange.ended);
            whole.add(time);
        }
    }
    suite.stop().await?;
    let unit = Unit::Milliseconds;
    table.target("openclawctl --help, p50", unit, help.p50(), HELP_TARGET);
    table.target("openclawctl status, p50", unit, status.p50(), STATUS_TARGET);
    table.figure("openclawctl message, p50", unit, whole.p50());
    table.figure("  the same over an open connection, p50", unit, alone.p50());
    let added = whole.p50() - alone.p50();
    table.target("  added by the command", unit, added, ADDED_TARGET);
    let Some(folder) = arguments.openclaw() else {
        table.words("OpenClaw's own command line", "is not here");
        return Ok(());
    };
    let other = |words: &[&str]| of_openclaw(&folder, &home.command(&program), words);
    let help = repeated(OTHERS, || other(&["--help"])).await?;
    table.figure("OpenClaw's own: openclaw --help, p50", unit, help.p50());
    let status = repeated(OTHERS, || other(&["status"])).await?;
    table.figure("  openclaw status, p50", unit, status.p50());
    Ok(())
}

/// OpenClaw's program, in the environment of `like`.
fn of_openclaw(folder: &Path, like: &Command, words: &[&str]) -> Command {
    let modules = folder.join("node_modules");
    let mut command = crate::programs::command(&modules.join("node/bin/node"));
    let variables = like.get_envs();
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    command
        .arg(modules.join("openclaw/openclaw.mjs"))
        .args(words);
    command
}

async fn repeated(count: usize, command: impl Fn() -> Command) -> anyhow::Result<Sample> {
    let mut times = Sample::default();
    for round in 0..WARM_UP + count {
        let time = timed(command()).await?;
        if round >= WARM_UP {
            times.add(time);
        }
    }
    Ok(times)
}

/// From the start of the process to its end.
async fn timed(mut command: Command) -> anyhow::Result<Duration> {
    command.stdin(Stdio::null());
    let shown = format!("{command:?}");
    let started = Instant::now();
    let output = tokio::process::Command::from(command).output().await;
    let output = output.with_context(|| format!("cannot start {shown}"))?;
    let time = started.elapsed();
    ensure!(
        output.status.success(),
        "{shown} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(time)
}
