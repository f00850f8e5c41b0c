//! `config schema`.

use std::process::ExitCode;

use openclaw_config::schema::{Schema, TEXT};
use openclaw_terminal::{Failure, output};

use super::key;
use crate::cli::config as cli;

/// Prints the schema, or the part for a key.
pub(super) fn execute(arguments: &cli::Schema) -> Result<ExitCode, Failure> {
    let Some(text) = &arguments.key else {
        output::stdout(TEXT)?;
        return Ok(ExitCode::SUCCESS);
    };
    let path = key(text)?;
    let schema = Schema::shipped();
    match schema.at(&path) {
        Some(node) => output::document(node)?,
        None => return Err(Failure::new(schema.unknown(&path).to_string())),
    }
    Ok(ExitCode::SUCCESS)
}
