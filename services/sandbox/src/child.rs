//! The linear list between fork and execve.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::ExitCode;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, chdir, execve, getppid, setsid};

use crate::failure::{
    EXIT_CONFINEMENT, EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND, Failure, StepError, system,
};
use crate::valid::ValidPlan;
use crate::{capabilities, descriptors, environment, filter, ids, limits, paths, sys, view};

/// Confines this process and executes the program. Returns only when that failed, after saying so.
pub(crate) fn become_program(plan: ValidPlan, args: Vec<OsString>, supervisor: Pid) -> ExitCode {
    let program = plan.program.clone();
    let variables = environment::rebuilt(&plan.environment);
    if let Err(failure) = confine(plan, supervisor) {
        failure.report();
        return EXIT_CONFINEMENT.into();
    }
    let Err(error) = execute(&program, args, &variables);
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
fn confine(plan: ValidPlan, supervisor: Pid) -> Result<(), Failure> {
    // setsid(2) fails for the leader of a group: only a freshly forked process is sure not to be
    // one. The new session has no terminal to type into.
    let session = setsid().map_err(system("make", "session"));
    session.map(drop).map_err(named("session"))?;
    // Masks and ignored signals pass through execve; the supervisor's are not the agent's.
    sys::reset_signals()
        .map_err(system("reset", "signals"))
        .map_err(named("signals"))?;
    // Mounting needs CAP_SYS_ADMIN: before the ids. It also opens the grants with root's rights.
    if let Some(identity) = plan.confinement.as_ref().and_then(|c| c.identity.as_ref()) {
        view::apply(&plan.hide, &plan.grants, identity).map_err(named("view"))?;
    }
    // After the view, which holds descriptors; before the ids, because RLIMIT_NPROC is checked
    // when a process changes its user.
    limits::apply(&plan.limits).map_err(named("limits"))?;
    descriptors::keep_standard().map_err(named("descriptors"))?;
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
    follow(supervisor).map_err(named("parent"))?;
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
        paths::apply(&plan.grants, confinement.refuse_tcp).map_err(named("landlock"))?;
        // Last: it refuses calls that the steps above make.
        filter::apply(&confinement.filters).map_err(named("seccomp"))?;
    }
    Ok(())
}

/// Dies with the supervisor, even with one that was killed and could end nothing.
fn follow(supervisor: Pid) -> Result<(), StepError> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(system("set", "parent-death signal"))?;
    // One that died before the line above sends nothing any more.
    match getppid() == supervisor {
        true => Ok(()),
        false => Err(StepError::ParentGone),
    }
}

fn execute(
    program: &Path,
    args: Vec<OsString>,
    variables: &[CString],
) -> Result<Infallible, Errno> {
    let nul = |_| Errno::EINVAL;
    let program = CString::new(program.as_os_str().as_bytes()).map_err(nul)?;
    let mut argv = vec![program.clone()];
    for arg in args {
        argv.push(CString::new(arg.into_vec()).map_err(nul)?);
    }
    execve(&program, &argv, variables)
}
