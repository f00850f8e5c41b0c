//! `completions` and `complete`.

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_terminal::{Failure, output};

use crate::cli;

/// Prints what the shell is given.
pub(crate) fn script(arguments: &cli::Completions) -> Result<ExitCode, Failure> {
    output::stdout(arguments.shell.script())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what can be typed next, a candidate a line.
pub(crate) fn complete(
    arguments: &cli::Complete,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let typed = arguments.shell.typed(&arguments.words);
    let next = openclaw_completion::next(&mut cli::whole(), typed.words(), environment);
    for candidate in next.candidates {
        if let Some(line) = typed.line(&candidate) {
            output::stdout_line(&line)?;
        }
    }
    // The shells' lines offer files then.
    Ok(if next.may_be_file {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
