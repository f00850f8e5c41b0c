//! openclaw-agent-runner(8): see the library.

use std::process::ExitCode;

use openclaw_daemon::arguments;

/// Owns agent turns. Started by systemd or by `openclawctl run`, which pass its socket.
#[derive(clap::Parser)]
#[command(name = "openclaw-agent-runner", version)]
struct Arguments {}

pub(crate) fn main() -> ExitCode {
    if let Some(process) = process() {
        return process();
    }
    match arguments::parse::<Arguments>() {
        Ok(Arguments {}) => openclaw_daemon::main(
            "openclaw-agent-runner",
            openclaw_agent_runner::load,
            openclaw_agent_runner::run,
        ),
        Err(code) => code,
    }
}

/// The process that the daemon started this program as, if it did. One is started for every
/// message: the command line that people write is not built for it.
fn process() -> Option<fn() -> ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let (name, others) = (arguments.next()?, arguments.next());
    match (name.to_str()?, others) {
        // Of one turn, told over standard input what to do.
        ("turn", None) => Some(openclaw_turn_process::main),
        // Of a session's servers of tools.
        ("servers", None) => Some(openclaw_mcp_servers::main),
        _ => None,
    }
}
