//! `version`.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_terminal::{Failure, output, table};
use serde_json::{Value, json};

use crate::cli;
use crate::connection;
use crate::status::{self, Answer};

/// Prints the versions of this program and of the daemons that answer.
pub(crate) fn execute(
    arguments: &cli::Version,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let suite = connection::runtime()?.block_on(status::ask(&paths));
    let versions = [
        ("openclawctl", Some(env!("CARGO_PKG_VERSION"))),
        ("gateway", said(&suite.gateway, |it| &it.version)),
        ("agent-runner", said(&suite.runner, |it| &it.version)),
        ("memory", said(&suite.memory, |it| &it.version)),
    ];
    if arguments.json {
        let document: serde_json::Map<String, Value> = versions
            .iter()
            .map(|(name, version)| ((*name).to_owned(), json!(version)))
            .collect();
        output::document(&document)?;
    } else {
        let row = |(name, version): &(&str, Option<&str>)| {
            vec![
                (*name).to_owned(),
                version.unwrap_or("does not answer").to_owned(),
            ]
        };
        let rows: Vec<Vec<String>> = versions.iter().map(row).collect();
        output::stdout(&table::render(&rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn said<T>(answer: &Answer<T>, version: fn(&T) -> &String) -> Option<&str> {
    answer.given().map(|it| version(it).as_str())
}
