//! Proving each promised confinement on the running machine.
//!
//! Every check runs in a forked process of its own, applies only the steps it is about and then
//! tries what they forbid. A kernel that accepts a rule and does not act on it is found this way.

mod apart;
mod attempts;
mod scene;
mod trial;

use std::fmt;

use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use serde::{Deserialize, Serialize};

use crate::identity;
use crate::plan::{AGENT_USER, Level};

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The forbidden thing was tried and refused.
    Enforced,
    /// This kernel, or this user, does not have the confinement; the others hold without it.
    Unavailable,
    /// The forbidden thing worked, or the confinement could not be set up.
    Failed,
}

/// One confinement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable name, snake case.
    pub name: String,
    /// The lowest level that promises it.
    pub level: Level,
    /// What was found.
    pub state: State,
    /// For people: the evidence, or the reason.
    pub detail: String,
}

/// All confinements of this machine, as `openclaw-sandbox probe --json` writes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Landlock version of the kernel, 0 where it is off.
    pub landlock_abi: i32,
    /// The user a turn runs as; absent when the runner is not root and turns run as its own user.
    pub agent_user: Option<String>,
    /// Every check, in the order of the steps.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether nothing failed. Confinements this machine does not have count as no failure.
    pub fn holds(&self) -> bool {
        self.failed().next().is_none()
    }

    /// The checks that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        let failed = |check: &&Check| check.state == State::Failed;
        self.checks.iter().filter(failed)
    }

    /// The checks that failed, of those that `level` promises.
    pub fn failed_at(&self, level: Level) -> impl Iterator<Item = &Check> {
        let promised = move |check: &&Check| match level {
            Level::Strict => true,
            Level::Workspace => check.level == Level::Workspace,
            Level::Off => false,
        };
        self.failed().filter(promised)
    }

    /// The check of this name.
    pub fn get(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Check {
            name,
            state,
            detail,
            ..
        } in &self.checks
        {
            let state = format!("{state:?}").to_lowercase();
            writeln!(f, "{name:<26} {state:<12} {detail}")?;
        }
        Ok(())
    }
}

/// Tries everything. Has to be called from a process with one thread; the helper's `probe` is one.
pub fn run() -> Report {
    // So that a trial's orphans come here and not to the caller.
    let _ = prctl::set_child_subreaper(true);
    // Reaping waits for this signal, and one that is not blocked is lost.
    let exits: SigSet = [Signal::SIGCHLD].into_iter().collect();
    let _ = exits.thread_block();
    let user = identity::is_root().then(|| identity::agent(AGENT_USER));
    let agent_user = match &user {
        Some(Ok(user)) => Some(user.name.clone()),
        _ => None,
    };
    let checks = match scene::Scene::new(user.and_then(Result::ok)) {
        Ok(scene) => attempts::ALL
            .iter()
            .map(|attempt| trial::check(attempt, &scene))
            .collect(),
        Err(error) => vec![Check {
            name: "probe".into(),
            level: Level::Workspace,
            state: State::Failed,
            detail: format!("cannot make a temporary directory: {error}"),
        }],
    };
    Report {
        landlock_abi: crate::sys::landlock_abi().unwrap_or(0),
        agent_user,
        checks,
    }
}
