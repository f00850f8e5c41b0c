//! The agent-runner: owns turns. It starts, feeds, watches and ends agent
//! subprocesses, serves their tool and model requests, and is the only daemon
//! that holds model credentials.

mod activity;
mod adoption;
mod approvals;
mod backend;
mod bill;
mod catalog;
mod claude;
mod cli;
mod codex;
mod confinement;
mod cooling;
mod disk;
mod doors;
mod embedding;
mod environment;
mod host;
mod job;
mod keeper;
mod log;
mod message_id;
mod meter;
mod model;
mod native;
mod own_limits;
mod places;
mod plan;
mod process;
mod promises;
mod prompt;
mod reach;
mod report;
mod route;
mod servers;
mod service;
mod settings;
mod sight;
mod spare;
mod spending;
mod spool;
mod steering;
mod table;
mod thinking;
mod tools;
mod translate;
mod turn;
mod turn_process;
mod units;
mod warm;
mod watcher;

use std::process::ExitCode;

use openclaw_daemon::arguments;

/// Owns agent turns. Started by systemd or by `openclawctl run`, which pass
/// its socket.
#[derive(clap::Parser)]
#[command(name = "openclaw-agent-runner", version)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(clap::Subcommand)]
enum Part {
    /// The process of one turn, told over standard input what to do.
    #[command(hide = true)]
    Turn,
}

fn main() -> ExitCode {
    match arguments::parse::<Arguments>() {
        Ok(Arguments {
            part: Some(Part::Turn),
        }) => turn_process::main(),
        Ok(Arguments { part: None }) => {
            openclaw_daemon::main("openclaw-agent-runner", settings::load, service::run)
        }
        Err(code) => code,
    }
}
