//! The first process of a turn's namespace of processes: reaps, and ends with the agent.
//!
//! The agent is not the first itself: the kernel gives that one every orphan to reap, and no signal
//! whose default action it has not replaced (pid_namespaces(7)).

use std::process::ExitCode;

use nix::errno::Errno;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, setsid};

use crate::failure::{EXIT_CONFINEMENT, Failure, system};
use crate::tree::exit_code;
use crate::{descriptors, sys};

/// Forks a process that goes on with `execute`, and leaves with its status. What is left of the
/// turn then is killed by the kernel, because the first process ends.
pub(crate) fn run(execute: impl FnOnce() -> ExitCode) -> ExitCode {
    match sys::fork() {
        Ok(ForkResult::Child) => {
            // Signals to its group are not for this process.
            let _ = setsid();
            execute()
        }
        Ok(ForkResult::Parent { child }) => attend(child),
        Err(error) => {
            Failure::new("init", &system("fork", "agent")(error)).report();
            EXIT_CONFINEMENT.into()
        }
    }
}

fn attend(agent: Pid) -> ExitCode {
    // Best effort: else the agent's output ends a moment later.
    let _ = descriptors::release_standard();
    loop {
        match waitpid(None::<Pid>, None) {
            Ok(status) if status.pid() == Some(agent) => {
                if let Some(code) = code(status) {
                    return code.into();
                }
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return EXIT_CONFINEMENT.into(),
        }
    }
}

fn code(status: WaitStatus) -> Option<u8> {
    u8::try_from(exit_code(status)?).ok()
}
