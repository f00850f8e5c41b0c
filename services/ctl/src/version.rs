//! `version`.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::address::AT_REST;
use openclaw_terminal::{Failure, output, table};
use serde_json::{Value, json};

use crate::cli;
use openclaw_connection as connection;
use openclaw_status::{self as status, Answer};

/// Prints the versions of this program and of the daemons that answer.
pub(crate) fn execute(
    arguments: &cli::Version,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    // Nobody is started to tell of a version.
    let suite = connection::runtime()?.block_on(async {
        let processes = status::processes(&paths, environment).await;
        status::ask_awake(&paths, &processes).await
    });
    let versions = [
        ("openclawctl", Ok(env!("CARGO_PKG_VERSION"))),
        ("gateway", said(&suite.gateway, |it| &it.version)),
        ("agent-runner", said(&suite.runner, |it| &it.version)),
        ("memory", said(&suite.memory, |it| &it.version)),
    ];
    if arguments.json {
        let document: serde_json::Map<String, Value> = versions
            .iter()
            .map(|(name, version)| ((*name).to_owned(), json!(version.ok())))
            .collect();
        output::document(&document)?;
    } else {
        let row = |(name, version): &(&str, Result<&str, &str>)| {
            let said = version.unwrap_or_else(|why| why);
            vec![(*name).to_owned(), said.to_owned()]
        };
        let rows: Vec<Vec<String>> = versions.iter().map(row).collect();
        table::print_pairs(&rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Its version, or why it is not known.
fn said<T>(answer: &Answer<T>, version: fn(&T) -> &String) -> Result<&str, &'static str> {
    match answer {
        Answer::Given(status) => Ok(version(status)),
        Answer::Resting { .. } => Err(AT_REST),
        Answer::Missing { .. } => Err("does not answer"),
    }
}
