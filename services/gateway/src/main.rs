//! openclaw-gateway(8): see the library.

use std::process::ExitCode;

use openclaw_daemon::arguments;

/// The front door of the OpenClaw suite: sessions, runs and delivery.
///
/// Started by systemd (openclaw-gateway.socket) or by `openclawctl run`, which
/// pass it the sockets `control`, `http` (WebSocket and HTTP) and `cli`.
#[derive(Debug, clap::Parser)]
#[command(name = "openclaw-gateway", version)]
struct Arguments {}

pub(crate) fn main() -> ExitCode {
    if let Err(code) = arguments::parse::<Arguments>() {
        return code;
    }
    // Clients of the WebSocket protocol ask for them.
    openclaw_daemon::telemetry::recent::keep();
    openclaw_daemon::main(
        "openclaw-gateway",
        openclaw_gateway::load,
        openclaw_gateway::run,
    )
}
