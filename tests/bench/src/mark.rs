//! Marks the moment of exec: this program, started in a daemon's place, tells the notify socket
//! the time and becomes the daemon. What came before, `openclawctl activate`, does not count.

use std::ffi::OsString;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Error};

/// Names the daemon to become.
pub(crate) const PROGRAM: &str = "OPENCLAW_BENCH_PROGRAM";
/// Begins the datagram; nanoseconds of the Unix time follow.
pub(crate) const EXEC: &str = "X_BENCH_EXEC=";

/// The program to become, when this is what we were started for.
pub(crate) fn program() -> Option<OsString> {
    std::env::var_os(PROGRAM)
}

/// Becomes `program`, with the same process id, descriptors and environment. Returns why it could not.
pub(crate) fn become_program(program: &OsString) -> Error {
    match announce() {
        Ok(()) => {
            let shown = Path::new(program).display().to_string();
            let failed = command(program).exec();
            Error::new(failed).context(format!("cannot execute {shown}"))
        }
        Err(error) => error,
    }
}

fn announce() -> anyhow::Result<()> {
    let manager = std::env::var_os("NOTIFY_SOCKET").context("NOTIFY_SOCKET is not set")?;
    let socket = UnixDatagram::unbound().context("cannot make a socket")?;
    let message = format!("{EXEC}{}", now());
    let sent = socket.send_to(message.as_bytes(), manager);
    sent.context("cannot tell the time of exec").map(drop)
}

/// Nanoseconds of the Unix time: the same clock in both processes.
pub(crate) fn now() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_nanos()
}

#[expect(
    clippy::disallowed_methods,
    reason = "becomes a daemon of the suite, never an agent"
)]
fn command(program: &OsString) -> Command {
    let mut command = Command::new(program);
    command.env_remove(PROGRAM);
    command
}
