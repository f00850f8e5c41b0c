//! `openclawctl status`: does the suite answer, and what does it say of itself.

use std::process::ExitCode;
use std::time::Duration;

use openclaw_config::{Environment, Paths};
use openclaw_connection as connection;
use openclaw_terminal::painted::Painted;
use openclaw_terminal::{Failure, output};
use tokio::time::{Instant, sleep};

mod activity;
mod closed;
mod overview;
mod processes;
mod query;
mod report;
mod screen;
mod spending;
mod text;
mod watched;

pub use closed::Closed;
pub use query::{ask, ask_awake};
pub use report::{
    AgentModel, Answer, Candidate, Confinement, GatewayStatus, Listener, Memory, ModelProblem,
    Runner, ServerProblem, Suite, grouped,
};
pub use text::JOBS_ARE_OFF;

use activity::Activity;
use overview::Overview;
pub use processes::{Process, Processes, ask as processes};
use spending::Spending;
use watched::Watched;

/// The wait before the first new attempt of `--wait`; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait between two attempts of `--wait`.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long daemons may take to start until they count as not there.
const STARTING_LIMIT: Duration = Duration::from_secs(20);
/// How often `--watch` looks anew where nothing else is said, in seconds.
const WATCH: &str = "2";

/// Show what runs, which backend answers and why, and what is wrong.
///
/// Daemons that ended because nobody needs them are not started for it, unless
/// with --verbose or --wait. Exit code 1 when a daemon does not answer or no message
/// can be taken.
#[derive(Debug, clap::Args)]
pub struct Status {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Try again until every daemon answers, for this time at most
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<Duration>,
    /// Look anew every so many seconds, until Ctrl-C
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, num_args = 0..=1, default_missing_value = WATCH, conflicts_with = "wait")]
    pub watch: Option<Duration>,
    /// With every backend that was looked at, every confinement, every key without effect
    #[arg(short, long)]
    pub verbose: bool,
}

/// A time that is more than none.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "give seconds, such as 30".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("must be more than 0 seconds".to_owned()),
    }
}

impl Status {
    /// Prints the status; exit code 1 when a daemon does not answer. `theirs` are the
    /// variables and settings that the daemons have.
    ///
    /// # Errors
    /// When it cannot be printed.
    pub fn execute(
        &self,
        environment: &Environment,
        theirs: fn(&Paths, &Environment) -> Environment,
    ) -> Result<ExitCode, Failure> {
        let theirs = |paths: &Paths| theirs(paths, environment);
        let paths = Paths::resolve(environment)?;
        let runtime = connection::runtime()?;
        let looked = runtime.block_on(async {
            match self.watch {
                None => self.once(&paths, environment, &theirs).await,
                Some(pause) => {
                    let mut watched = Watched::begin()?;
                    let looking = async {
                        loop {
                            if let Err(failure) = self.once(&paths, environment, &theirs).await {
                                break Err(failure);
                            }
                            sleep(pause).await;
                        }
                    };
                    tokio::select! {
                        failed = looking => failed,
                        end = watched.ended() => Err(end),
                    }
                }
            }
        });
        // What is still asked of the service manager holds nobody up.
        runtime.shutdown_background();
        Ok(if looked? {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    /// Looks and shows; whether every daemon answers.
    async fn once(
        &self,
        paths: &Paths,
        environment: &Environment,
        theirs: &dyn Fn(&Paths) -> Environment,
    ) -> Result<bool, Failure> {
        let overview = self.look(paths, environment, theirs).await;
        self.show(&overview)?;
        Ok(overview.suite.is_whole())
    }

    /// Everybody who is there is asked at once.
    async fn look(
        &self,
        paths: &Paths,
        environment: &Environment,
        theirs: &dyn Fn(&Paths) -> Environment,
    ) -> Overview {
        let settings = || openclaw_settings::load(&theirs(paths)).ok();
        let processes = processes::ask(paths, environment).await;
        let (suite, activity, settings) = tokio::join!(
            self.ask(paths, &processes),
            async {
                if processes.gateway.at_rest && !self.starts() {
                    Activity::default()
                } else {
                    activity::ask(paths).await
                }
            },
            async { settings() },
        );
        // Of a file that cannot be read the daemons say what is wrong.
        let closed = settings.as_ref().and_then(|it| Closed::of(it, &suite));
        let today = Spending::of_today(paths, settings.as_ref());
        Overview {
            suite,
            faults: settings
                .iter()
                .flat_map(|it| it.faults.iter().map(ToString::to_string))
                .collect(),
            unused: settings.map(|it| it.unused).unwrap_or_default(),
            closed,
            processes,
            activity,
            today,
        }
    }

    /// Whether daemons at rest are started for it.
    fn starts(&self) -> bool {
        self.verbose || self.wait.is_some()
    }

    async fn ask(&self, paths: &Paths, processes: &Processes) -> Suite {
        if self.starts() {
            ask_until(paths, self.wait, Suite::is_whole).await
        } else {
            query::ask_awake(paths, processes).await
        }
    }

    fn show(&self, overview: &Overview) -> Result<(), Failure> {
        if self.json {
            return match self.watch {
                None => output::document(overview),
                Some(_) => output::json_line(&serde_json::json!(overview).to_string()),
            };
        }
        let mut screen = match self.watch {
            None => Painted::for_stdout(),
            Some(_) => Painted::over_screen(),
        };
        screen::paint(&text::rows(overview, self.verbose), &mut screen);
        screen.print()?;
        let suite = &overview.suite;
        if !suite.answers() && suite.state_problem.is_none() {
            output::stderr_line(&format!("hint: {}", connection::START));
        }
        Ok(())
    }
}

/// The same, when the others had time to start that the gateway asks: they may
/// rest, and a slow machine takes longer to start them than [`ask`] waits.
pub async fn ask_started(paths: &Paths) -> Suite {
    let is_settled = |suite: &Suite| suite.answers() || suite.gateway.is_missing();
    ask_until(paths, Some(STARTING_LIMIT), is_settled).await
}

async fn ask_until(
    paths: &Paths,
    limit: Option<Duration>,
    is_settled: impl Fn(&Suite) -> bool,
) -> Suite {
    let end = Instant::now().checked_add(limit.unwrap_or_default());
    let mut wait = FIRST_WAIT;
    loop {
        let suite = ask(paths).await;
        let left = end.map_or(LONGEST_WAIT, |end| {
            end.saturating_duration_since(Instant::now())
        });
        if is_settled(&suite) || left.is_zero() {
            return suite;
        }
        sleep(wait.min(left)).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_must_be_one() {
        for text in ["0", "-1", "soon", "inf", "NaN"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
    }
}
