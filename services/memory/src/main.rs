//! The memory daemon: bootstrap files, index and search.

use std::process::ExitCode;

use clap::Parser as _;
use openclaw_daemon::exit;

/// Keeps and finds what the assistant is to know. Started by systemd or by
/// `openclawctl run`, which pass its socket.
#[derive(clap::Parser)]
#[command(name = "openclaw-memory", version)]
struct Arguments {}

fn main() -> ExitCode {
    if let Err(error) = Arguments::try_parse() {
        // Nobody is left to tell when the terminal is gone.
        let _ = error.print();
        let code = if error.use_stderr() {
            exit::USAGE
        } else {
            exit::SUCCESS
        };
        return ExitCode::from(code);
    }
    openclaw_daemon::main(
        "openclaw-memory",
        openclaw_config::load,
        openclaw_memory::run,
    )
}
