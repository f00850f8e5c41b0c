//! `run --stop`.

use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use openclaw_config::Paths;
use openclaw_terminal::{Failure, output};

use crate::daemon::STOP_DEADLINE;
use crate::lock::{self, Holder};

/// Beyond the time that `run` gives its daemons, to clean up after them.
const GRACE: Duration = Duration::from_secs(5);

/// Ends the `run` that holds the lock and waits until it has ended.
pub fn stop(paths: &Paths) -> Result<ExitCode, Failure> {
    let Holder::Process { pid, file } = lock::holder(&paths.runtime)? else {
        output::stdout_line("openclawctl run is not running")?;
        return Ok(ExitCode::SUCCESS);
    };
    match kill(pid, Signal::SIGTERM) {
        // It ended since it was found.
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(errno) => {
            let context = format!("cannot end the process {pid}");
            return Err(anyhow::Error::new(errno).context(context).into());
        }
    }
    // The lock itself tells when it is free; it has no deadline, so another
    // thread waits for it and ends with the process.
    let (released, release) = mpsc::channel();
    thread::spawn(move || {
        let lock = Flock::lock(file, FlockArg::LockShared).map_err(|(_, errno)| errno);
        // Nobody listens after the deadline.
        let _ = released.send(lock.map(drop));
    });
    match release.recv_timeout(STOP_DEADLINE + GRACE) {
        Ok(lock) => lock.context("cannot wait for the lock")?,
        Err(_) => {
            return Err(Failure::new(format!("the process {pid} does not end"))
                .hint(format!("kill -KILL {pid} ends it and its daemons")));
        }
    }
    output::stdout_line("openclawctl run has ended")?;
    Ok(ExitCode::SUCCESS)
}
