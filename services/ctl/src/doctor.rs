//! `doctor`: what is promised, whether it holds, and how to mend it.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_settings::Settings;
use openclaw_terminal::{Failure, output};

use crate::cli;
use crate::connection;
use crate::status;

mod answers;
mod check;
mod files;
mod ports;
mod programs;
mod units;

use check::{Check, State};

/// Prints every check; exit code 1 when one failed.
pub(crate) fn execute(
    arguments: &cli::Doctor,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let checks = all(&paths, environment)?;
    if arguments.json {
        output::document(&serde_json::json!({ "checks": checks }))?;
    } else {
        output::stdout(&check::render(&checks))?;
    }
    let failed = checks.iter().any(|check| check.state == State::Fail);
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn all(paths: &Paths, environment: &Environment) -> Result<Vec<Check>, Failure> {
    let (settings, check) = configuration(paths, environment);
    let mut checks = vec![check];
    checks.extend(settings.iter().flat_map(unused));
    checks.extend(files::state(paths));
    checks.extend(files::obstacle(paths));
    checks.extend(files::transcripts(paths));
    checks.extend(files::sockets(paths));
    checks.extend(programs::suite(environment));
    checks.push(units::installed(paths, environment));
    let suite = connection::runtime()?.block_on(status::ask(paths));
    checks.extend(answers::daemons(&suite));
    if let Some(settings) = &settings {
        checks.push(programs::claude(settings, environment));
        checks.push(programs::codex(settings, environment));
        checks.extend(ports::opened(settings, environment, &suite));
    }
    checks.extend(answers::left_undone(&suite));
    checks.extend(answers::models(&suite));
    checks.extend(answers::servers(&suite));
    checks.extend(answers::confinements(&suite));
    Ok(checks)
}

/// Keys that have no effect are no fault: nothing that they would restrict is
/// among them.
fn unused(settings: &Settings) -> impl Iterator<Item = Check> + '_ {
    let unused = settings.unused.iter();
    unused.map(|unused| Check::ok("keys of the file", unused.to_string()))
}

fn configuration(paths: &Paths, environment: &Environment) -> (Option<Settings>, Check) {
    const NAME: &str = "configuration";
    let file = paths.configuration.display();
    match openclaw_settings::load(environment) {
        Ok(settings) => {
            let detail = if paths.configuration.exists() {
                format!("{file} is sound")
            } else {
                format!("no {file}: defaults are used")
            };
            (Some(settings), Check::ok(NAME, detail))
        }
        Err(error) => {
            let problem = Failure::from(error).text();
            let check = Check::fail(NAME, problem, "correct the place that is named");
            (None, check)
        }
    }
}
