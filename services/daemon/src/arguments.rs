//! A daemon's command line: --help, --version, and nothing else.

use std::process::ExitCode;

use crate::exit;

/// Parses the command line. The error is the exit code to leave with, after
/// the help, the version or what is wrong has been printed.
pub fn parse<A: clap::Parser>() -> Result<A, ExitCode> {
    A::try_parse().map_err(|error| {
        // Nobody is left to tell when the terminal is gone.
        let _ = error.print();
        let code = if error.use_stderr() {
            exit::USAGE
        } else {
            exit::SUCCESS
        };
        ExitCode::from(code)
    })
}
