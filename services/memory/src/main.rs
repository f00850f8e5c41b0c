//! The memory daemon: bootstrap files, index and search.

use std::process::ExitCode;

use openclaw_daemon::arguments;

/// Keeps and finds what the assistant is to know. Started by systemd or by
/// `openclawctl run`, which pass its socket.
#[derive(clap::Parser)]
#[command(name = "openclaw-memory", version)]
struct Arguments {}

pub(crate) fn main() -> ExitCode {
    if let Err(code) = arguments::parse::<Arguments>() {
        return code;
    }
    openclaw_daemon::main(
        "openclaw-memory",
        openclaw_settings::load_from,
        openclaw_memory::run,
    )
}
