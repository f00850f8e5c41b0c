//! `manual`: writes the man pages.

use std::process::ExitCode;

use anyhow::Context as _;
use openclaw_manual::Manual;
use openclaw_terminal::{Failure, output};

use crate::cli;

/// Writes them, and says which.
pub(crate) fn execute(arguments: &cli::Manual) -> Result<ExitCode, Failure> {
    let manual = Manual {
        command: cli::whole(),
        examples: openclaw_manual::examples::of,
        schema: openclaw_config::schema::TEXT,
    };
    let folder = &arguments.folder;
    let written = manual
        .write(folder)
        .with_context(|| format!("cannot write the pages into {}", folder.display()))?;
    for path in written {
        output::stdout_line(&path.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
