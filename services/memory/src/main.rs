//! The memory daemon: bootstrap files, index and search.

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_daemon::arguments;
use openclaw_memory::evaluate;

/// Keeps and finds what the assistant is to know. Started by systemd or by
/// `openclawctl run`, which pass its socket.
#[derive(clap::Parser)]
#[command(name = "openclaw-memory", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Measure how well searches find what is known to answer
    Eval(evaluate::Arguments),
}

fn main() -> ExitCode {
    let arguments = match arguments::parse::<Arguments>() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    if let Some(Command::Eval(arguments)) = arguments.command {
        return evaluate::run(&arguments, &Environment::inherit());
    }
    openclaw_daemon::main(
        "openclaw-memory",
        openclaw_config::load_from,
        openclaw_memory::run,
    )
}
