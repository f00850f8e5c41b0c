//! openclaw-gateway(8): see the library.

use std::process::ExitCode;

use openclaw_daemon::arguments;

/// The front door of the OpenClaw suite: sessions, runs and delivery.
///
/// Started by systemd (openclaw-gateway.socket) or by `openclawctl run`, which
/// pass it the socket `control`.
#[derive(Debug, clap::Parser)]
#[command(name = "openclaw-gateway", version)]
struct Arguments {}

fn main() -> ExitCode {
    if let Err(code) = arguments::parse::<Arguments>() {
        return code;
    }
    openclaw_daemon::main(
        "openclaw-gateway",
        openclaw_config::load_and_keep,
        openclaw_gateway::run,
    )
}
