//! `cron`, which is a library of its own.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_cron::{Cron, Gateway as Schedule};
use openclaw_proto::call::CallError;
use openclaw_proto::schedule;
use openclaw_terminal::Failure;

use crate::connection::{self, Gateway};

pub(crate) fn execute(arguments: &Cron, environment: &Environment) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(async {
        let gateway = Gateway::at(&paths);
        let failure = |error: &CallError| gateway.failure(error);
        let client = schedule::Client::new(paths.gateway_socket());
        let schedule = Schedule {
            client,
            failure: &failure,
        };
        arguments.execute(&schedule).await
    })?;
    Ok(ExitCode::SUCCESS)
}
