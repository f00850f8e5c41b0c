//! `config`: shows, checks and changes the configuration file.

use std::process::ExitCode;

use openclaw_config::{Environment, KeyPath, Paths};
use openclaw_terminal::{Failure, output};

use crate::cli::config::{Command, Config};

mod change;
mod edit;
mod get;
mod held;
mod report;
mod schema;
mod validate;

/// Does what was asked for.
pub(crate) fn execute(arguments: Config, environment: &Environment) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    match arguments.command {
        Command::Get(arguments) => get::execute(&arguments, &paths, environment),
        Command::Set(arguments) => change::set(&arguments, &paths, environment),
        Command::Unset(arguments) => change::unset(&arguments, &paths, environment),
        Command::Patch(arguments) => change::patch(&arguments, &paths, environment),
        Command::Edit => edit::execute(&paths, environment),
        Command::Path => {
            output::stdout_line(&paths.configuration.display().to_string())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Validate(arguments) => validate::execute(&arguments, &paths, environment),
        Command::Schema(arguments) => schema::execute(&arguments),
    }
}

/// The key as it was typed.
fn key(text: &str) -> Result<KeyPath, Failure> {
    KeyPath::parse(text).map_err(|error| Failure::usage(error.to_string()))
}
