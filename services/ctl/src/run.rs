//! `run`: the suite in the foreground, and `activate`, by which it starts its
//! daemons.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_foreground::Activation;
use openclaw_terminal::Failure;

use crate::cli;
use openclaw_connection as connection;

/// Runs the daemons until a signal ends them, or ends those that run.
pub(crate) fn execute(
    arguments: &cli::Run,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    if arguments.stop {
        // A configuration that was broken meanwhile must not prevent it.
        return openclaw_foreground::stop(&Paths::resolve(environment)?);
    }
    if arguments.detach {
        return crate::lifecycle::detach(&arguments.set, environment);
    }
    openclaw_foreground::run(environment, &arguments.set, connection::runtime()?)
}

/// Becomes a daemon; returns only when that failed.
pub(crate) fn activate(arguments: cli::Activate) -> Failure {
    openclaw_foreground::activate(&Activation {
        parent: arguments.parent,
        name: arguments.name,
        program: arguments.program,
        arguments: arguments.arguments,
        more: arguments.more,
    })
}

/// The variables and settings that the daemons have.
pub(crate) fn environment(paths: &Paths, own: &Environment) -> Environment {
    openclaw_foreground::environment(paths, own, cli::settings_of_run)
}
