//! What both commands need from the operating system.

use std::io;
use std::process::ExitCode;

use nix::sys::prctl;
use nix::sys::signal::Signal;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// What a shell reports for a process ended by SIGTERM.
const EXIT_TERMINATED: u8 = 128 + 15;

/// Threads for blocking reads and writes of standard input and output, which
/// only the MCP server does, and only where /proc is out of sight.
const MAX_BLOCKING_THREADS: usize = 2;

/// Runs `work` to its end, or until SIGTERM drops it, which ends its tools.
pub(crate) fn run(work: impl Future<Output = ExitCode>) -> io::Result<ExitCode> {
    // Commands run by tools have our uid. Not dumpable, they cannot reach our
    // memory, the turn socket or the event pipe through /proc.
    prctl::set_dumpable(false)?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .build()?;
    let code = runtime.block_on(until_terminated(work));
    // Waiting for a blocked read of standard input could take for ever.
    runtime.shutdown_background();
    code
}

async fn until_terminated(work: impl Future<Output = ExitCode>) -> io::Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate())?;
    // With a handler, a write beyond RLIMIT_FSIZE is an error and not the end.
    let _file_size = signal(SignalKind::from_raw(Signal::SIGXFSZ as i32))?;
    tokio::select! {
        code = work => Ok(code),
        _ = terminate.recv() => Ok(ExitCode::from(EXIT_TERMINATED)),
    }
}

/// A line for the runner's log. There is nothing to do when it cannot be written.
pub(crate) fn log(message: &str) {
    use std::io::Write;
    let _ = writeln!(io::stderr(), "openclaw-agent: {message}");
}
