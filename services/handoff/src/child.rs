//! The life of a process that was started for a daemon.

use std::process::ExitCode;

use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, getppid};
use openclaw_daemon::{exit, failure};
use openclaw_sandbox::spawner;

/// Runs the whole of such a process.
pub fn run_to_end(
    running: impl Future<Output = anyhow::Result<()>>,
    operation: &'static str,
) -> ExitCode {
    // The spawner blocks what it waits for, and that is inherited.
    if let Err(error) = SigSet::empty().thread_set_mask() {
        failure::report("unblock signals", &error);
    }
    let result = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| {
            let result = runtime.block_on(running);
            // Connections to the provider and to memory end with the process.
            runtime.shutdown_background();
            result
        });
    match result {
        Ok(()) => ExitCode::from(exit::SUCCESS),
        Err(error) => {
            failure::report(operation, error.as_ref());
            exit::code(&error)
        }
    }
}

/// Ends with the spawner, where one started this process; false when it is
/// gone already. The signal comes when the spawner's one thread ends.
pub fn follow_spawner() -> nix::Result<bool> {
    let Some(parent) = std::env::var(spawner::PARENT)
        .ok()
        .and_then(|pid| pid.parse().ok())
    else {
        return Ok(true);
    };
    prctl::set_pdeathsig(Signal::SIGTERM)?;
    Ok(getppid() == Pid::from_raw(parent))
}
