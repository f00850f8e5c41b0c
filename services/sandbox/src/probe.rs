//! Proving each promised confinement on the running machine.
//!
//! Every check runs in a forked process of its own, applies only the steps it is about and then
//! tries what they forbid. A kernel that accepts a rule and does not act on it is found this way.

mod apart;
mod attempts;
mod connecting;
mod scene;
mod trial;

use std::fmt;
use std::io;

use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use serde::{Deserialize, Serialize};

use crate::plan::{AGENT_USER, Level};
use crate::{descriptors, identity, ids, namespaces};

pub use crate::remedy::Remedy;

/// How a kernel that has Landlock is made to use it.
const LANDLOCK: &str = "add \"landlock\" to the list that /sys/kernel/security/lsm shows, and boot \
                        with lsm=THAT-LIST; a kernel built without CONFIG_SECURITY_LANDLOCK has to \
                        be another one";

/// What each part is called where it is missing.
const LACKING: [(Part, &str); 5] = [
    (Part::Namespaces, "no namespaces of a turn's own"),
    (Part::PathRules, "no Landlock"),
    (
        Part::Workspace,
        "no mounts, without which root's folders are closed to its agents",
    ),
    (Part::Text, "no filter for thinking alone"),
    (Part::Base, "not what every level needs"),
];

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The forbidden thing was tried and refused.
    Enforced,
    /// This kernel, or this user, does not have the confinement; the others hold without it.
    Unavailable,
    /// It is for another kind of user: this one has nothing that it would take away.
    NotApplicable,
    /// The forbidden thing worked, or the confinement could not be set up.
    Failed,
}

impl State {
    /// How it is told to people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Unavailable => "unavailable",
            Self::NotApplicable => "not applicable",
            Self::Failed => "failed",
        }
    }
}

/// What a confinement belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Every level that confines.
    Base,
    /// Those with path rules.
    PathRules,
    /// Those with namespaces.
    Namespaces,
    /// [`Level::Workspace`] alone.
    Workspace,
    /// [`Level::Text`] alone.
    Text,
}

impl Part {
    /// Whether `level` promises it.
    pub fn is_of(self, level: Level) -> bool {
        match self {
            Self::Base => level != Level::Off,
            Self::PathRules => level.has_path_rules(),
            Self::Namespaces => level.has_namespaces(),
            Self::Workspace => level == Level::Workspace,
            Self::Text => level == Level::Text,
        }
    }
}

/// One confinement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable name, snake case.
    pub name: String,
    /// The levels that promise it.
    pub part: Part,
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
    /// What would give a stricter level than [`Report::strictest`], where there is one.
    pub stricter: Option<Remedy>,
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
        self.failed().filter(move |check| check.part.is_of(level))
    }

    /// Whether everything that `level` promises holds.
    pub fn holds_at(&self, level: Level) -> bool {
        self.failed_at(level).next().is_none()
    }

    /// The strictest level of which everything holds.
    pub fn strictest(&self) -> Option<Level> {
        let mut levels = Level::CONFINED.into_iter();
        levels.find(|level| self.holds_at(*level))
    }

    /// What this machine does not have of what a level promises, in words.
    pub fn lacking(&self) -> String {
        let failed = |part: Part| self.failed().any(|check| check.part == part);
        let lacking: Vec<&str> = LACKING
            .into_iter()
            .filter_map(|(part, words)| failed(part).then_some(words))
            .collect();
        lacking.join(", ")
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
            let state = state.words();
            writeln!(f, "{name:<26} {state:<14} {detail}")?;
        }
        let level = self.strictest().map_or("none", Level::name);
        match self.lacking().as_str() {
            "" => writeln!(f, "The strictest level here: {level}")?,
            lacking => writeln!(f, "The strictest level here: {level} ({lacking})")?,
        }
        match &self.stricter {
            Some(stricter) => writeln!(f, "For a stricter sandbox: {stricter}"),
            None => Ok(()),
        }
    }
}

/// Tries everything. Has to be called from a process with one thread; the helper's `probe` is one.
pub fn run() -> Report {
    // What the caller left open is no part of what is tried, and may stand where a trial needs it.
    let _ = descriptors::keep_standard(None);
    // So that a trial's orphans come here and not to the caller.
    let _ = prctl::set_child_subreaper(true);
    // Reaping waits for this signal, and one that is not blocked is lost.
    let exits: SigSet = [Signal::SIGCHLD].into_iter().collect();
    let _ = exits.thread_block();
    let user = identity::is_root().then(|| identity::agent(AGENT_USER));
    let other = identity::can_change_user().then(become_agent).transpose();
    let agent_user = match (&user, &other) {
        (Some(Ok(user)), _) => Some(user.name.clone()),
        (_, Ok(other)) => other.clone(),
        _ => None,
    };
    let scene = other.and_then(|other| scene::Scene::new(user.and_then(Result::ok), other));
    let checks = match scene {
        Ok(scene) => attempts::ALL
            .iter()
            .map(|attempt| trial::check(attempt, &scene))
            .collect(),
        Err(error) => vec![Check {
            name: "probe".into(),
            part: Part::Base,
            state: State::Failed,
            detail: format!("nothing can be tried: {error}"),
        }],
    };
    let report = Report {
        landlock_abi: crate::sys::landlock_abi().unwrap_or(0),
        agent_user,
        checks,
        stricter: None,
    };
    Report {
        stricter: stricter(&report),
        ..report
    }
}

/// As turns of a service that may change its user begin: all is tried as the agent.
fn become_agent() -> io::Result<String> {
    let agent = identity::agent(AGENT_USER).map_err(io::Error::other)?;
    let became = ids::take_on(&agent).and_then(|()| ids::settle());
    became.map_err(io::Error::other)?;
    Ok(agent.name)
}

/// Namespaces come first: they give more, and most machines can have them.
fn stricter(report: &Report) -> Option<Remedy> {
    match report.strictest() {
        Some(Level::Strict) => None,
        Some(Level::Namespaces) => Some(Remedy::Words(LANDLOCK.to_owned())),
        _ => Some(namespaces::remedy()),
    }
}
