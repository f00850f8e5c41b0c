//! openclaw-agent-runner(8): see the library.

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
    /// The process of a session's servers of tools.
    #[command(hide = true)]
    Servers,
}

fn main() -> ExitCode {
    match arguments::parse::<Arguments>() {
        Ok(Arguments {
            part: Some(Part::Turn),
        }) => openclaw_turn_process::main(),
        Ok(Arguments {
            part: Some(Part::Servers),
        }) => openclaw_mcp_servers::main(),
        Ok(Arguments { part: None }) => openclaw_daemon::main(
            "openclaw-agent-runner",
            openclaw_agent_runner::load,
            openclaw_agent_runner::run,
        ),
        Err(code) => code,
    }
}
