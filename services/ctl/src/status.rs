//! `status`: does the suite answer, and what does it say of itself.

use std::process::ExitCode;
use std::time::Duration;

use openclaw_config::{Environment, Paths};
use openclaw_effect::Unused;
use openclaw_terminal::{Failure, output};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use crate::cli;
use crate::connection;

mod closed;
mod query;
mod report;
mod text;

pub(crate) use closed::Closed;
pub(crate) use query::ask;
pub(crate) use report::{AgentModel, Answer, Confinement, ModelProblem, Runner, Suite, grouped};
pub(crate) use text::JOBS_ARE_OFF;

/// The wait before the first new attempt of `--wait`; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait between two attempts of `--wait`.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The status as `--json` prints it.
#[derive(Serialize)]
struct Status<'a> {
    #[serde(flatten)]
    suite: &'a Suite,
    /// Keys of the configuration that have no effect.
    unused: Vec<Unused>,
    /// Why the gateway has no TCP port, and the way out.
    #[serde(rename = "portProblem")]
    closed: Option<Closed>,
}

/// Prints the status; exit code 1 when a daemon does not answer.
pub(crate) fn execute(
    arguments: &cli::Status,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let suite = connection::runtime()?.block_on(ask_until(&paths, arguments.wait));
    // Of a file that cannot be read the daemons say what is wrong.
    let settings = openclaw_settings::load(environment);
    let settings = settings.ok();
    let closed = settings.as_ref().and_then(|it| Closed::of(it, &suite));
    let unused = settings.map(|settings| settings.unused).unwrap_or_default();
    if arguments.json {
        let suite = &suite;
        output::document(&Status {
            suite,
            unused,
            closed,
        })?;
    } else {
        let closed = closed.as_ref();
        output::stdout(&text::render(&suite, &unused, closed, arguments.verbose))?;
        if !suite.answers() && suite.state_problem.is_none() {
            output::stderr_line(&format!("hint: {}", connection::START));
        }
    }
    Ok(if suite.is_whole() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn ask_until(paths: &Paths, limit: Option<Duration>) -> Suite {
    let end = Instant::now().checked_add(limit.unwrap_or_default());
    let mut wait = FIRST_WAIT;
    loop {
        let suite = ask(paths).await;
        let left = end.map_or(LONGEST_WAIT, |end| {
            end.saturating_duration_since(Instant::now())
        });
        if suite.is_whole() || left.is_zero() {
            return suite;
        }
        sleep(wait.min(left)).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}
