//! Processes, units, spools and folders that outlived what they were for.

use std::collections::BTreeMap;
use std::fs;

use nix::unistd::Pid;

use crate::process::{self, Process, Role};
use crate::running_suite::RunningSuite;

pub(super) fn check(suite: &RunningSuite) -> Vec<String> {
    let all = process::all(suite);
    let mut wrong = processes(&all);
    let spares = all
        .iter()
        .filter(|process| process.role == Role::Turn)
        .count();
    let names = |folder| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    };
    for (what, left) in [
        ("spools", names(suite.turns())),
        ("folders of turns", names(suite.temporary())),
        ("given folders of turns", names(suite.turn_folders())),
    ] {
        if left.len() > spares.min(1) {
            wrong.push(format!(
                "{what} are left, with {spares} processes that stand ready: {}",
                left.join(", ")
            ));
        }
    }
    if suite.has_units() {
        wrong.extend(units());
    }
    wrong
}

/// One of each daemon, one turn that waits, and what belongs to that.
fn processes(all: &[Process]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<Role, usize> = BTreeMap::new();
    for process in all {
        *counts.entry(process.role).or_default() += 1;
    }
    for role in [
        Role::Gateway,
        Role::Runner,
        Role::Memory,
        Role::Channel,
        Role::Turn,
    ] {
        let count = counts.get(&role).copied().unwrap_or(0);
        if count > 1 {
            wrong.push(format!("{count} processes are a {role:?}"));
        }
    }
    let parents: BTreeMap<Pid, &Process> = all.iter().map(|one| (one.pid, one)).collect();
    for process in all.iter().filter(|one| one.role == Role::Agent) {
        if !is_of_a_turn(process, &parents) {
            wrong.push(format!(
                "process {} ({}) belongs to no turn",
                process.pid, process.command
            ));
        }
    }
    wrong
}

fn is_of_a_turn(process: &Process, all: &BTreeMap<Pid, &Process>) -> bool {
    let mut parent = all.get(&process.parent);
    while let Some(above) = parent {
        if above.role == Role::Turn {
            return true;
        }
        parent = all.get(&above.parent);
    }
    false
}

#[expect(
    clippy::disallowed_methods,
    reason = "asks the service manager, starts no agent"
)]
fn units() -> Vec<String> {
    let listed = std::process::Command::new("systemctl")
        .args(["--user", "list-units", "--all", "--plain", "--no-legend"])
        .args(["openclaw-turn-*", "openclaw-*"])
        .output();
    let listed = match listed {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => return vec![format!("units cannot be listed: {error}")],
    };
    let turns: Vec<&str> = listed
        .lines()
        .filter(|line| line.starts_with("openclaw-turn-"))
        .collect();
    let failed = listed
        .lines()
        .filter(|line| line.split_whitespace().nth(2) == Some("failed"));
    let mut wrong: Vec<String> = failed.map(|line| format!("failed: {line}")).collect();
    if turns.len() > 1 {
        wrong.push(format!("units of turns are left: {}", turns.join("; ")));
    }
    wrong
}
