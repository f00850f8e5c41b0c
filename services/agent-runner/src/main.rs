//! The agent-runner: owns turns. It starts, feeds, watches and ends agent
//! subprocesses, serves their tool and model requests, and is the only daemon
//! that holds model credentials.

mod backend;
mod claude;
mod confinement;
mod embedding;
mod environment;
mod host;
mod log;
mod message_id;
mod model;
mod native;
mod places;
mod plan;
mod process;
mod prompt;
mod service;
mod settings;
mod table;
mod translate;
mod turn;

use std::process::ExitCode;

use openclaw_daemon::arguments;

/// Owns agent turns. Started by systemd or by `openclawctl run`, which pass
/// its socket.
#[derive(clap::Parser)]
#[command(name = "openclaw-agent-runner", version)]
struct Arguments {}

fn main() -> ExitCode {
    if let Err(code) = arguments::parse::<Arguments>() {
        return code;
    }
    openclaw_daemon::main("openclaw-agent-runner", settings::load, service::run)
}
