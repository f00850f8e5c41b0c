//! openclaw-gateway(8): see the library.

use std::process::ExitCode;

use clap::Parser;
use openclaw_daemon::exit;

/// The front door of the OpenClaw suite: sessions, runs and delivery.
///
/// Started by systemd (openclaw-gateway.socket) or by `openclawctl run`, which
/// pass it the socket `control`.
#[derive(Debug, Parser)]
#[command(name = "openclaw-gateway", version)]
struct Arguments {}

fn main() -> ExitCode {
    if let Err(error) = Arguments::try_parse() {
        // Help and version are no errors; when stdout is gone nobody reads.
        let _ = error.print();
        return match error.use_stderr() {
            true => ExitCode::from(exit::USAGE),
            false => ExitCode::SUCCESS,
        };
    }
    openclaw_daemon::main(
        "openclaw-gateway",
        openclaw_config::load,
        openclaw_gateway::run,
    )
}
