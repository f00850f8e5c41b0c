//! Running one check in a process of its own.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{ForkResult, pipe};

use super::scene::Scene;
use super::{Check, Part, State};
use crate::failure::{Failure, StepError};
use crate::identity::is_stuck_root;
use crate::{sys, tree};

/// A check takes milliseconds; one that hangs is ended and reported.
const LIMIT_MILLISECONDS: u16 = 5000;

/// For a check to leave after its answer.
const EXIT_LIMIT: Duration = Duration::from_millis(100);

/// The one that a process which may change its user has made before the others.
pub(super) const PRIVILEGE_DROP: &str = "privilege_drop";

/// What an attempt found, with the words for it.
pub(super) struct Verdict {
    pub(super) state: State,
    pub(super) detail: String,
}

/// A named attempt, and what it needs to mean anything.
pub(super) struct Attempt {
    pub(super) name: &'static str,
    /// Lowest Landlock version that has it; 0 when it is not Landlock's.
    pub(super) abi: i32,
    /// Only root has something to give up or to hide.
    pub(super) root: bool,
    pub(super) part: Part,
    pub(super) run: fn(&Scene) -> Result<Verdict, StepError>,
}

/// Runs the attempt, unless it cannot apply here.
pub(super) fn check(attempt: &Attempt, scene: &Scene) -> Check {
    let verdict = match () {
        () if attempt.root && scene.identity.is_none() => match &scene.became {
            Some(user) if attempt.name == PRIVILEGE_DROP => {
                enforced(format!("became {user} for good"))
            }
            Some(user) => not_applicable(format!("turns run as {user}, an ordinary user")),
            None if is_stuck_root() => unavailable("root becomes nobody else here"),
            None => not_applicable("turns run as the runner's own, ordinary user"),
        },
        () if attempt.abi > 1 && attempt.abi > scene.abi => unavailable(format!(
            "needs Landlock version {}, the kernel has {}",
            attempt.abi, scene.abi
        )),
        () => tried(attempt, scene)
            .unwrap_or_else(|error| failed(format!("could not be tried: {error}"))),
    };
    Check {
        name: attempt.name.to_owned(),
        part: attempt.part,
        state: verdict.state,
        detail: verdict.detail,
    }
}

pub(super) fn enforced(detail: impl Into<String>) -> Verdict {
    verdict(State::Enforced, detail)
}

pub(super) fn unavailable(detail: impl Into<String>) -> Verdict {
    verdict(State::Unavailable, detail)
}

/// Of what only another kind of user has to give up.
fn not_applicable(detail: impl Into<String>) -> Verdict {
    verdict(State::NotApplicable, detail)
}

pub(super) fn failed(detail: impl Into<String>) -> Verdict {
    verdict(State::Failed, detail)
}

fn verdict(state: State, detail: impl Into<String>) -> Verdict {
    Verdict {
        state,
        detail: detail.into(),
    }
}

/// Runs the attempt, once more where it gave no answer: a machine that is busy for a moment would
/// else be held for one that confines nothing.
fn tried(attempt: &Attempt, scene: &Scene) -> Result<Verdict, Errno> {
    let found = match apart(attempt, scene)? {
        None => apart(attempt, scene)?,
        found => found,
    };
    Ok(found.unwrap_or_else(unanswered))
}

/// Runs the attempt in a child and gets its words through a pipe.
fn apart(attempt: &Attempt, scene: &Scene) -> Result<Option<Verdict>, Errno> {
    let (reader, writer) = pipe()?;
    if let ForkResult::Child = sys::fork()? {
        drop(reader);
        let found = (attempt.run)(scene)
            .unwrap_or_else(|error| failed(Failure::new(attempt.name, &error).message));
        tell(writer, &found);
        sys::leave();
    }
    drop(writer);
    let found = heard(reader);
    // It leaves by itself right after its answer; only what hangs has to be searched for.
    let exits: SigSet = [Signal::SIGCHLD].into_iter().collect();
    let _ = sys::wait_signal(&exits, Some(EXIT_LIMIT));
    tree::end_all(|_| {});
    Ok(found)
}

/// Says to the process that waits what was found.
pub(super) fn tell(writer: OwnedFd, found: &Verdict) {
    let state = found.state.words();
    let _ = write!(File::from(writer), "{state} {}", found.detail);
}

/// What a process that does a check has found.
pub(super) fn listen(reader: OwnedFd) -> Verdict {
    heard(reader).unwrap_or_else(unanswered)
}

fn unanswered() -> Verdict {
    failed("the check gave no answer")
}

/// What it said; None: it ended or hung without a word.
fn heard(reader: OwnedFd) -> Option<Verdict> {
    let mut text = String::new();
    if readable(&reader, LIMIT_MILLISECONDS) {
        let _ = File::from(reader).read_to_string(&mut text);
    }
    let (state, detail) = text.split_once(' ')?;
    Some(match state {
        "enforced" => enforced(detail),
        "unavailable" => unavailable(detail),
        _ => failed(detail),
    })
}

/// Whether there is something to read, or the end, within the time.
pub(super) fn readable(descriptor: &impl AsFd, milliseconds: u16) -> bool {
    let mut watched = [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)];
    poll(&mut watched, PollTimeout::from(milliseconds)).is_ok_and(|ready| ready > 0)
}
