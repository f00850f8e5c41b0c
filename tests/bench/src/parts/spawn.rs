//! The agent's program started and ended, doing nothing: what the sandbox costs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use openclaw_sandbox::{Launcher, Plan};

use crate::conversation;
use crate::home::{Backend, Home};
use crate::model::Model;
use crate::programs;
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Starts of each kind that count.
const STARTS: usize = 100;
/// Starts of each kind before them.
const WARM_UP: usize = 5;
/// Makes the agent end at once.
const ARGUMENT: &str = "--version";

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let home = lived_in(stage).await?;
    let agent = stage.programs.path("openclaw-agent");
    let plain = times(|| {
        let mut command = programs::command(&agent);
        command.arg(ARGUMENT);
        Ok(command)
    })?;
    let launcher = Launcher {
        helper: stage.programs.path("openclaw-sandbox"),
    };
    let plan = plan(&home, &agent);
    let confined = times(|| Ok(launcher.command(&plan, &agent, &[ARGUMENT.into()], &[])?))?;
    let unit = Unit::Milliseconds;
    table.figure("agent process, plain, start to end, p50", unit, plain.p50());
    table.figure(
        "agent process, confined, start to end, p50",
        unit,
        confined.p50(),
    );
    Ok(())
}

/// A home whose folders a turn has made and given to the agent's user.
async fn lived_in(stage: &Stage) -> anyhow::Result<Home> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("spawn", Backend::Native, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let exchange = conversation::exchange(&suite.client(), "main").await;
    exchange.with_context(|| suite.last_lines())?;
    suite.stop().await?;
    Ok(home)
}

/// As the agent-runner makes it for a native turn.
fn plan(home: &Home, agent: &Path) -> Plan {
    let workspace = home.paths.default_workspace("main");
    let mut plan = Plan::new("bench", "main", &workspace);
    plan.read_write = vec![workspace, home.paths.agent_home("main")];
    plan.grant_program(agent);
    plan.hide = home.paths.home.iter().cloned().collect();
    plan.hide.push("/tmp".into());
    plan
}

fn times(command: impl Fn() -> anyhow::Result<Command>) -> anyhow::Result<Sample> {
    let mut times = Sample::default();
    for round in 0..WARM_UP + STARTS {
        let mut command = command()?;
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let started = Instant::now();
        let status = command.status().context("cannot start the agent")?;
        let time = started.elapsed();
        ensure!(status.success(), "the agent ended with {status}");
        if round >= WARM_UP {
            times.add(time);
        }
    }
    Ok(times)
}
