//! `openclawctl memory`: what the assistant remembers.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use openclaw_config::{Environment, Paths};
use openclaw_terminal::Failure;

use openclaw_connection as connection;

mod add;
mod daemon;
mod eval;
mod everywhere;
mod export;
mod forget;
mod get;
mod index;
mod place;
mod search;
mod status;
mod whose;

/// Arguments of `memory`.
#[derive(Debug, Args)]
pub struct Memory {
    #[command(subcommand)]
    command: Command,
}

/// What to do with memory.
#[derive(Debug, Subcommand)]
enum Command {
    /// Show what is indexed, by which embedder, and what is wrong
    Status(status::Arguments),
    /// Search notes and past conversations
    Search(search::Arguments),
    /// Append a note to today's memory file
    Add(add::Arguments),
    /// Print lines of a memory file or a past conversation
    Get(get::Arguments),
    /// Take in what has changed, and wait until that is done
    Index(index::Arguments),
    /// Take a note away, or lines of one; or show where words are, and take them
    /// out everywhere
    Forget(forget::Arguments),
    /// Print everything that is searched, one JSON document a line
    Export(export::Arguments),
    /// Measure how well searches find what is known to answer
    Eval(eval::Arguments),
}

impl Memory {
    /// Whether it only prints what there is, for people.
    #[must_use]
    pub fn only_shows(&self) -> bool {
        matches!(self.command, Command::Search(_) | Command::Get(_))
    }
}

/// Does what was asked.
///
/// # Errors
/// What was asked cannot be done; says why, and the way out.
pub fn execute(arguments: Memory, environment: &Environment) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(async {
        let memory = daemon::Memory::at(&paths);
        match arguments.command {
            Command::Status(arguments) => status::run(&arguments, &memory).await,
            Command::Search(arguments) => search::run(arguments, &memory).await,
            Command::Add(arguments) => add::run(&arguments, &memory).await,
            Command::Get(arguments) => get::run(&arguments, &memory, environment).await,
            Command::Index(arguments) => index::run(&arguments, &memory).await,
            Command::Forget(arguments) => {
                let gateway = connection::Gateway::at(&paths);
                forget::run(&arguments, &memory, &gateway, environment).await
            }
            Command::Export(arguments) => export::run(&arguments, &memory).await,
            Command::Eval(arguments) => eval::run(arguments, environment),
        }
    })
}
