//! The process that outlives the agent by a moment and takes all of it along.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitCode;

use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::wait::WaitStatus;
use nix::unistd::{ForkResult, Pid, chdir, getpid, getppid, setsid};

use crate::child::Lines;
use crate::connections::Doors;
use crate::failure::{EXIT_CONFINEMENT, Failure, StepError, io, system};
use crate::plan::Plan;
use crate::tree::{self, Reaped};
use crate::{capabilities, child, descriptors, identity, ids, namespaces, sys};

/// What asks for the end of the turn. The parent-death signal is the first.
const END_SIGNALS: [Signal; 4] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Runs `program` under `plan` and leaves with its status: its own exit code; 128 and the signal's
/// number when a signal ended it, or the turn; 125 when a confinement step failed and nothing was
/// executed; 126 and 127 when the program could not be. The last three write a [`Failure`] on
/// standard error.
///
/// `parent` is the process that has to be alive, and this one's parent, for the turn to begin.
/// `doors` is where listeners on the turn's own loopback are handed over (see [`crate::doors`]).
/// Has to be called from a process with one thread.
pub fn run(
    plan: Plan,
    parent: Option<i32>,
    doors: Option<OwnedFd>,
    program: PathBuf,
    args: Vec<OsString>,
) -> ExitCode {
    match start(plan, parent, doors, program, args) {
        Ok(code) => code,
        Err(failure) => {
            failure.report();
            EXIT_CONFINEMENT.into()
        }
    }
}

fn start(
    plan: Plan,
    parent: Option<i32>,
    doors: Option<OwnedFd>,
    program: PathBuf,
    args: Vec<OsString>,
) -> Result<ExitCode, Failure> {
    let failed = |error: StepError| Failure::new("supervise", &error);
    // Before anything is opened here: what a caller leaves may stand at a number that is needed.
    descriptors::keep_standard(doors.as_ref()).map_err(failed)?;
    // First of all: what follows is done, and found out, with the agent's own rights, whatever the
    // level.
    if identity::can_change_user() {
        let agent = identity::of(&plan.agent_user, plan.agent_ids);
        let agent = agent.map_err(|error| Failure::new("plan", &error))?;
        ids::take_on(&agent).map_err(|error| Failure::new("ids", &error))?;
    }
    let plan = plan
        .validate(&program)
        .map_err(|error| Failure::new("plan", &error))?;
    // Blocked before anything can send one: a blocked signal waits, an unblocked one would end
    // this process and leave the tree.
    // Dispositions first: the caller may ignore SIGCHLD, which hides exits, or SIGINT, which then
    // never arrives.
    let signals = watched();
    let reset = sys::reset_signals();
    reset.map_err(system("reset", "signals")).map_err(failed)?;
    let blocked = signals.thread_block();
    blocked
        .map_err(system("block", "signals"))
        .map_err(failed)?;
    prctl::set_child_subreaper(true)
        .map_err(system("become", "subreaper"))
        .map_err(failed)?;
    if plan.is_apart() {
        namespaces::enter_processes().map_err(|error| Failure::new("namespaces", &error))?;
    }
    if plan.parent_death_signal {
        follow(parent).map_err(failed)?;
    }
    // Out of the terminal's foreground group, so that Ctrl-C reaches the daemon and the daemon
    // decides. Fails harmlessly for a group leader: run by hand, Ctrl-C ends the turn.
    let _ = setsid();
    let supervisor = sys::pidfd_open(getpid())
        .map_err(system("open", "supervisor"))
        .map_err(failed)?;
    let asked = plan.asked().cloned();
    let (line, asking) = match asked.is_some().then(crate::doors::pair).transpose() {
        Ok(pair) => pair.unzip(),
        Err(error) => return Err(failed(io("make", "line for connections")(error))),
    };
    match sys::fork()
        .map_err(system("fork", "agent"))
        .map_err(failed)?
    {
        ForkResult::Child => {
            drop(line);
            let lines = Lines {
                doors,
                asking,
                supervisor,
            };
            Ok(child::become_program(plan, args, lines))
        }
        ForkResult::Parent { child } => {
            drop((doors, supervisor, asking));
            Ok(supervise(child, &signals, asked.zip(line)))
        }
    }
}

fn watched() -> SigSet {
    let mut signals: SigSet = END_SIGNALS.into_iter().collect();
    signals.add(Signal::SIGCHLD);
    signals
}

/// Ends with the parent. The signal comes when the parent's *thread* ends that spawned this
/// process, and it is kept here because this process changes no ids any more, which would clear it.
fn follow(parent: Option<i32>) -> Result<(), StepError> {
    prctl::set_pdeathsig(END_SIGNALS[0]).map_err(system("set", "parent-death signal"))?;
    // A parent that died before the line above sends nothing any more, and another process has
    // taken its place. Not process 1 everywhere: user managers are subreapers.
    if parent.is_none_or(|parent| getppid() == Pid::from_raw(parent)) {
        Ok(())
    } else {
        Err(StepError::ParentGone)
    }
}

fn supervise(child: Pid, signals: &SigSet, asking: Option<(Doors, OwnedFd)>) -> ExitCode {
    // Best effort, each: the tree is ended the same without. The rights are those that came with
    // a user namespace.
    if !identity::is_root() {
        let _ = capabilities::clear();
    }
    let _ = descriptors::release_standard();
    let line = asking.as_ref().map(|(_, line)| line);
    let _ = descriptors::keep_standard(line);
    let _ = chdir("/");
    // Only now: nothing is forked any more. Without it connections fail, which the agent says.
    if let Some((doors, line)) = asking {
        let _ = doors.attend(line);
    }
    let mut exit = None;
    let mut note = |status: WaitStatus| {
        if status.pid() == Some(child) {
            exit = tree::exit_code(status);
        }
    };
    let ended_by = wait_for_end(child, signals, &mut note);
    tree::end_all(note);
    let code = ended_by
        .map(|signal| tree::SIGNAL_BASE + signal as i32)
        .or(exit);
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(EXIT_CONFINEMENT).into()
}

/// Returns the signal that asked for the end, or `None` when the child exited by itself.
fn wait_for_end(child: Pid, signals: &SigSet, note: &mut impl FnMut(WaitStatus)) -> Option<Signal> {
    loop {
        let mut exited = false;
        let left = tree::reap(&mut |status| {
            exited |= status.pid() == Some(child) && tree::exit_code(status).is_some();
            note(status);
        });
        if exited || left == Reaped::NoChildren {
            return None;
        }
        match sys::wait_signal(signals, None) {
            Ok(Some(signal)) if signal != Signal::SIGCHLD => return Some(signal),
            _ => {}
        }
    }
}
