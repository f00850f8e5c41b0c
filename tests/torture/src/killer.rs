//! Kills one process after the other.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use anyhow::Context as _;
use fastrand::Rng;
use integration_tests::processes;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::Value;
use tokio::time::sleep;

use crate::plan::{Plan, Weights};
use crate::process::{self, Process, Role};
use crate::record::Record;
use crate::running_suite::RunningSuite;

/// Kills of each kind.
pub(crate) type Killed = BTreeMap<Role, usize>;

/// Kills as many processes as the plan says.
pub(crate) async fn kill(
    suite: &RunningSuite,
    plan: &Plan,
    record: &Record,
) -> anyhow::Result<Killed> {
    let mut dice = Rng::with_seed(plan.seed);
    let mut killed = Killed::new();
    let longest = u64::try_from(plan.pause.as_millis())?;
    let mut done = 0;
    while done < plan.kills {
        let pause = sleep(Duration::from_millis(dice.u64(0..=longest)));
        let wanted = draw(&mut dice, plan.weights);
        // Looking for it takes the machine's time, which must not be that before each
        // kill; but a turn may be over when the pause is.
        let early = match wanted {
            Role::Turn => None,
            _ => find(suite, &mut dice, wanted),
        };
        pause.await;
        let victim = match early {
            Some(early) => process::read(early.pid).filter(|now| now.role == wanted),
            None => find(suite, &mut dice, wanted),
        };
        // One that is just being started again is not there to be killed.
        let Some(victim) = victim else { continue };
        strike(suite, record, &victim, dice.bool()).await?;
        *killed.entry(victim.role).or_default() += 1;
        done += 1;
    }
    Ok(killed)
}

fn draw(dice: &mut Rng, weights: Weights) -> Role {
    let all: usize = weights.iter().map(|(_, weight)| weight).sum();
    let mut left = dice.usize(0..all);
    for (role, weight) in weights {
        match left.checked_sub(*weight) {
            Some(more) => left = more,
            None => return *role,
        }
    }
    Role::Turn
}

fn find(suite: &RunningSuite, dice: &mut Rng, role: Role) -> Option<Process> {
    let mut found = process::all(suite);
    found.retain(|process| process.role == role);
    // Listed by number, which says nothing of their age.
    found.sort_by_key(|process| process.pid);
    dice.choice(found)
}

async fn strike(
    suite: &RunningSuite,
    record: &Record,
    victim: &Process,
    whole_unit: bool,
) -> anyhow::Result<()> {
    if victim.role == Role::Turn {
        let run_id = run_of(suite, victim.pid);
        record.killed(run_id.clone());
        if let Some(run_id) = run_id.filter(|_| whole_unit && suite.has_units()) {
            return kill_unit(&run_id).await;
        }
    }
    processes::send(victim.pid, Signal::SIGKILL);
    Ok(())
}

/// The run that a turn's process is for, as the first line of its spool says.
fn run_of(suite: &RunningSuite, pid: Pid) -> Option<String> {
    let spools = fs::read_dir(suite.turns()).ok()?.flatten();
    spools
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "events"))
        .find_map(|entry| {
            let mut line = String::new();
            BufReader::new(fs::File::open(entry.path()).ok()?)
                .read_line(&mut line)
                .ok()?;
            let header: Value = serde_json::from_str(&line).ok()?;
            (header["pid"] == pid.as_raw()).then(|| header["runId"].as_str().map(str::to_owned))?
        })
}

#[expect(
    clippy::disallowed_methods,
    reason = "asks the service manager, starts no agent"
)]
async fn kill_unit(run_id: &str) -> anyhow::Result<()> {
    let unit = format!("openclaw-turn-{run_id}.service");
    // It may have ended meanwhile, and then there is nothing to kill.
    tokio::process::Command::new("systemctl")
        .args(["--user", "kill", "--signal=KILL", &unit])
        .output()
        .await
        .with_context(|| format!("kill {unit}"))?;
    Ok(())
}
