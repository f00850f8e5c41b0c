//! The agent's program started and ended, doing nothing: what the sandbox costs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use openclaw_sandbox::{Closed, Launcher, Level, Plan, identity};

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
/// Milliseconds that level strict may add to a plain start.
const ADDED_TARGET: f64 = 5.0;
/// Makes the agent end at once.
const ARGUMENT: &str = "--version";

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let home = lived_in(stage).await?;
    let agent = stage.programs.path("openclaw-agent");
    let launcher = Launcher {
        helper: stage.programs.path("openclaw-sandbox"),
    };
    let strict = plan(&home, &agent)?;
    let workspace = Plan {
        level: Level::Workspace,
        ..strict.clone()
    };
    let plain = || {
        let mut command = programs::command(&agent);
        command.arg(ARGUMENT);
        command
    };
    let confined = |plan: &Plan| launcher.command(plan, &agent, &[ARGUMENT.into()], &[]);
    // In turns, so that what else the machine does meets all of them.
    let mut times: [Sample; 3] = Default::default();
    for round in 0..WARM_UP + STARTS {
        let commands = [plain(), confined(&strict)?, confined(&workspace)?];
        for (command, times) in commands.into_iter().zip(&mut times) {
            let time = timed(command)?;
            if round >= WARM_UP {
                times.add(time);
            }
        }
    }
    let [plain, strict, workspace] = times;
    report(&plain, &strict, &workspace, table);
    Ok(())
}

fn report(plain: &Sample, strict: &Sample, workspace: &Sample, table: &mut Table) {
    let unit = Unit::Milliseconds;
    for (name, times) in [
        ("plain", plain),
        ("at level strict", strict),
        ("at level workspace", workspace),
    ] {
        let measure = format!("agent process, {name}, start to end, p50");
        table.figure(measure, unit, times.p50());
    }
    table.target(
        "agent process, added by level strict, p50",
        unit,
        strict.over(plain).p50(),
        ADDED_TARGET,
    );
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
fn plan(home: &Home, agent: &Path) -> anyhow::Result<Plan> {
    let workspace = home.paths.default_workspace();
    let temporary = home.paths.turn_temporary("main", "bench");
    fs::create_dir_all(&temporary).context("cannot make the turn's folder")?;
    let mut plan = Plan::new("bench", "main", &workspace);
    plan.read_write = vec![workspace, home.paths.agent_home("main"), temporary.clone()];
    let closed = Closed::new(home.paths.home.as_deref(), &home.paths.state);
    plan.grant_program(agent, &closed);
    plan.hide = home.paths.home.iter().cloned().collect();
    plan.hide.push("/tmp".into());
    plan.tmp = Some(temporary);
    if identity::is_root() {
        let identity = identity::agent(&plan.agent_user).context("find the agents' user")?;
        plan.run_as(&identity);
    }
    Ok(plan)
}

fn timed(mut command: Command) -> anyhow::Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let started = Instant::now();
    let status = command.status().context("cannot start the agent")?;
    let time = started.elapsed();
    ensure!(status.success(), "the agent ended with {status}");
    Ok(time)
}
