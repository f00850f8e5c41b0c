//! The linear list between fork and execve.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::ExitCode;

use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{chdir, execve, execveat, setsid};
use seccompiler::BpfProgram;

use crate::failure::{
    EXIT_CONFINEMENT, EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND, Failure, StepError, io, system,
};
use crate::notify::Listener;
use crate::valid::{Grant, ValidPlan};
use crate::{
    capabilities, descriptors, doors, environment, filter, ids, init, limits, namespaces, passing,
    paths, root, view,
};

/// What the agent's process has of its supervisor, until it is confined.
pub(crate) struct Lines {
    /// Where listeners on the turn's own loopback are handed over.
    pub(crate) doors: Option<OwnedFd>,
    /// Where the listener for connections is.
    pub(crate) asking: Option<OwnedFd>,
    /// The supervisor itself.
    pub(crate) supervisor: OwnedFd,
}

/// Confines this process and executes the program. Returns when that failed, after saying so; or,
/// in namespaces of the turn's own, when the program has ended.
pub(crate) fn become_program(plan: ValidPlan, args: Vec<OsString>, lines: Lines) -> ExitCode {
    let program = plan.program.clone();
    let variables = environment::rebuilt(&plan.environment);
    let is_first = plan.is_apart();
    let only = match confine(plan, lines) {
        Ok(only) => only,
        Err(failure) => {
            failure.report();
            return EXIT_CONFINEMENT.into();
        }
    };
    let execute = || finish(&program, only.as_ref(), args, &variables);
    if is_first {
        init::run(execute)
    } else {
        execute()
    }
}

fn finish(
    program: &Path,
    only: Option<&OwnedFd>,
    args: Vec<OsString>,
    variables: &[CString],
) -> ExitCode {
    let Err(error) = execute(program, only, args, variables);
    let code = match error {
        Errno::ENOENT | Errno::ENOTDIR => EXIT_NOT_FOUND,
        _ => EXIT_NOT_EXECUTABLE,
    };
    Failure::new("exec", &system("execute", program.display())(error)).report();
    code.into()
}

fn named(step: &'static str) -> impl Fn(StepError) -> Failure {
    move |error| Failure::new(step, &error)
}

/// Every step is irreversible, and each stands where the kernel rule named beside it puts it.
/// Returns the only program that may be executed, where that is one.
fn confine(plan: ValidPlan, lines: Lines) -> Result<Option<OwnedFd>, Failure> {
    let Lines {
        doors,
        asking,
        supervisor,
    } = lines;
    // setsid(2) fails for the leader of a group: only a freshly forked process is sure not to be
    // one. The new session has no terminal to type into.
    let session = setsid().map_err(system("make", "session"));
    session.map(drop).map_err(named("session"))?;
    // The mask passes through execve; the supervisor's is not the agent's. It has left every
    // signal its default action.
    SigSet::empty()
        .thread_set_mask()
        .map_err(system("reset", "signals"))
        .map_err(named("signals"))?;
    // Namespaces, interfaces and mounts need capabilities: before the ids. The grants are opened
    // with root's rights on the way.
    let own = look(&plan, doors.as_ref())?;
    // Before the limits, which leave no room for it, and the ids, to which its folder may be closed.
    let only = plan.confinement.as_ref().and_then(|it| it.only_program);
    let only = only.map(|number| descriptors::only_program(&plan.program, number));
    let only = only.transpose().map_err(named("program"))?;
    // Before the ids, because RLIMIT_NPROC is checked when a process changes its user.
    limits::apply(&plan.limits, counts_alone(&plan)).map_err(named("limits"))?;
    // At every level, and before the capabilities of a namespace of its own are given up.
    ids::settle().map_err(named("ids"))?;
    if let Some(confinement) = &plan.confinement {
        // Dropping from the bounding set needs CAP_SETPCAP, which goes with user 0.
        capabilities::drop_bounding().map_err(named("capabilities"))?;
        if let Some(identity) = &confinement.identity {
            ids::give_up(identity).map_err(named("ids"))?;
        }
        // After the ids: leaving user 0 clears the effective and permitted sets but neither the
        // inheritable set, nor any set of a process that was not root.
        capabilities::clear().map_err(named("capabilities"))?;
    }
    // Cleared by every change of ids: after them.
    follow(&supervisor).map_err(named("parent"))?;
    // After the last use of one.
    drop((doors, supervisor));
    // At no level are there both.
    let kept = only.as_ref().or(asking.as_ref());
    descriptors::keep_standard(kept).map_err(named("descriptors"))?;
    // With the agent's own rights, so that a directory closed to it is found here.
    chdir(&plan.cwd)
        .map_err(system("change to directory", plan.cwd.display()))
        .map_err(named("chdir"))?;
    if let Some(confinement) = &plan.confinement {
        // Landlock and seccomp take no rules from an unprivileged process without it.
        prctl::set_no_new_privs()
            .map_err(system("set", "no_new_privs"))
            .map_err(named("no_new_privs"))?;
        // After everything that opens a path outside the grants.
        if let Some(tcp) = &confinement.path_rules {
            paths::apply(plan.grants.iter().chain(&own), tcp).map_err(named("landlock"))?;
        }
        // Last: it refuses calls that the steps above make.
        filter::apply(&confinement.filters).map_err(named("seccomp"))?;
        if let (Some(asked), Some(line)) = (&confinement.asking, asking) {
            ask(&asked.filter, &line).map_err(named("connections"))?;
        }
    }
    Ok(only)
}

/// Leaves connections to the supervisor, and keeps nothing by which the agent could answer itself.
pub(crate) fn ask(filter: &BpfProgram, line: &OwnedFd) -> Result<(), StepError> {
    let listener = Listener::install(filter);
    let listener = listener.map_err(system("leave to the supervisor", "connections"))?;
    let sent = passing::send(line.as_fd(), b"x", listener.as_fd());
    sent.map(drop)
        .map_err(io("hand over", "listener of connections"))
}

/// Limits the view of files and of the network. Returns what is granted beside the grants.
fn look(plan: &ValidPlan, doors: Option<&OwnedFd>) -> Result<Vec<Grant>, Failure> {
    let Some(confinement) = &plan.confinement else {
        return Ok(Vec::new());
    };
    if let Some(apart) = &confinement.apart {
        namespaces::enter_others(apart.own_network).map_err(named("namespaces"))?;
        if apart.own_network {
            doors::open(&apart.listen, doors).map_err(named("network"))?;
        }
        return root::enter(&plan.grants, apart.tmp.as_deref()).map_err(named("root"));
    }
    if let Some(identity) = &confinement.identity {
        view::apply(&plan.hide, &plan.grants, identity).map_err(named("view"))?;
    }
    Ok(Vec::new())
}

/// Whether the kernel counts this turn's processes apart from all others of the user: it does in
/// a user namespace, user_namespaces(7).
fn counts_alone(plan: &ValidPlan) -> bool {
    let root = plan
        .confinement
        .as_ref()
        .is_some_and(|c| c.identity.is_some());
    plan.is_apart() && !root
}

/// Dies with the supervisor, even with one that was killed and could end nothing.
fn follow(supervisor: &OwnedFd) -> Result<(), StepError> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(system("set", "parent-death signal"))?;
    // One that died before the line above sends nothing any more. Not getppid: it is 0 for a
    // parent outside of the namespace.
    let mut watched = [PollFd::new(supervisor.as_fd(), PollFlags::POLLIN)];
    match poll(&mut watched, PollTimeout::ZERO) {
        Ok(0) => Ok(()),
        Ok(_) => Err(StepError::ParentGone),
        Err(error) => Err(system("look at", "supervisor")(error)),
    }
}

fn execute(
    program: &Path,
    only: Option<&OwnedFd>,
    args: Vec<OsString>,
    variables: &[CString],
) -> Result<Infallible, Errno> {
    let nul = |_| Errno::EINVAL;
    let program = CString::new(program.as_os_str().as_bytes()).map_err(nul)?;
    let mut argv = vec![program.clone()];
    for arg in args {
        argv.push(CString::new(arg.into_vec()).map_err(nul)?);
    }
    match only {
        None => execve(&program, &argv, variables),
        Some(only) => execveat(only, c"", &argv, variables, AtFlags::AT_EMPTY_PATH),
    }
}
