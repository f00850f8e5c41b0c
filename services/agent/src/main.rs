//! openclaw-agent(8): see the library.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The OpenClaw agent. Started by openclaw-agent-runner inside openclaw-sandbox.
#[derive(Parser)]
#[command(name = "openclaw-agent", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answer one message: HTTP to the runner on standard input, events as JSON lines on standard output
    Turn,
    /// Serve the tools over MCP on standard input and output
    Mcp {
        /// Absolute path of the folder relative paths start at
        #[arg(long, value_name = "DIR")]
        workspace: PathBuf,
        /// Folder with the pipes `request` and `response` to the runner; without it, no memory_search
        #[arg(long, value_name = "DIR")]
        tool_pipe: Option<PathBuf>,
    },
}

pub(crate) fn main() -> ExitCode {
    // Started for every message: the command line that people write is not built for it.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|name| name == "turn") && arguments.next().is_none() {
        return openclaw_agent::run_turn();
    }
    match Arguments::parse().command {
        Command::Turn => openclaw_agent::run_turn(),
        Command::Mcp {
            workspace,
            tool_pipe,
        } => openclaw_agent::run_mcp(workspace, tool_pipe),
    }
}
