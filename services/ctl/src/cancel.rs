//! `cancel`: end a run.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use tonic::Code;

use crate::cli;
use crate::connection::{self, Gateway};
use crate::failure::Failure;
use crate::output;

/// Ends the run; one that has ended already is no failure.
pub(crate) fn execute(
    arguments: &cli::Cancel,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let cancelled = connection::runtime()?.block_on(cancel(&paths, &arguments.run_id))?;
    let line = match cancelled {
        true => "cancelled",
        false => "the run had ended already",
    };
    output::stdout_line(line)?;
    Ok(ExitCode::SUCCESS)
}

async fn cancel(paths: &Paths, run_id: &str) -> Result<bool, Failure> {
    let gateway = Gateway::at(paths);
    let answer = gateway.client.cancel_run(run_id, "openclawctl cancel");
    answer.await.map_err(|status| match status.code() {
        Code::NotFound => Failure::new(format!("there is no run {run_id}")),
        _ => gateway.failure(&status),
    })
}
