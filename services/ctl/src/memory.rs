//! `memory`: what the assistant remembers.

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

use daemon::Memory;

/// What to do with memory.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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

impl Command {
    /// Whether it only prints what there is, for people.
    pub(crate) fn only_shows(&self) -> bool {
        matches!(self, Self::Search(_) | Self::Get(_))
    }
}

/// Whose memory.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    agent: String,
}

/// Does what was asked.
pub(crate) fn execute(command: Command, environment: &Environment) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(async {
        let memory = Memory::at(&paths);
        match command {
            Command::Status(arguments) => status::run(&arguments, &memory).await,
            Command::Search(arguments) => search::run(arguments, &memory).await,
            Command::Add(arguments) => add::run(&arguments, &memory).await,
            Command::Get(arguments) => get::run(&arguments, &memory).await,
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
