//! Sends messages to the suite while it kills random parts of it, then checks
//! that nothing was lost and nothing was done twice (invariant 4 of DESIGN).
//!
//! What is killed, and in which order, follows from a seed; when exactly it
//! hits is the machine's, so a seed repeats a run closely but not to the
//! instruction.

mod chatter;
mod check;
mod errand;
mod killer;
mod plan;
mod process;
mod record;
mod report;
mod running_suite;
mod talker;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use plan::Plan;
pub use report::Report;
pub use running_suite::RunningSuite;

use chatter::Chatter;
use record::Record;

/// What the last messages get to be answered in, and the suite to be quiet
/// after them, when nothing is killed any more.
const QUIET_DEADLINE: Duration = Duration::from_secs(90);
/// Between two looks at what tells nobody when it changes.
const LOOK: Duration = Duration::from_millis(20);

/// Tortures the suite on `suite`; what was wrong afterwards is in the report.
///
/// # Errors
/// The suite could not be tortured or looked at.
pub async fn torture(suite: &RunningSuite, plan: &Plan) -> anyhow::Result<Report> {
    let started = Instant::now();
    let record = Arc::new(Record::new(errand::mark(plan.seed)));
    let (stop, stopped) = watch::channel(false);
    let mut talkers = JoinSet::new();
    for number in 0..plan.talkers {
        let (record, stopped) = (Arc::clone(&record), stopped.clone());
        if let Some(double) = suite.double() {
            let chatter = Chatter {
                double: Arc::clone(double),
                plan: plan.clone(),
                number,
                record,
                stopped,
            };
            talkers.spawn(chatter.talk());
        } else {
            let talker = talker::Talker::new(suite, plan, number, record, stopped);
            talkers.spawn(talker.talk());
        }
    }
    let killed = killer::kill(suite, plan, &record).await?;
    stop.send_replace(true);
    while let Some(talked) = talkers.join_next().await {
        talked.context("a talker ended")?;
    }
    settle(suite).await;
    let (wrong, answers) = check::all(suite, &record)?;
    let took = started.elapsed();
    Ok(Report::new(plan, &record, killed, wrong, answers, took))
}

/// Waits until no run is open and no process is on its way out, or too long:
/// then the checks say what is left.
async fn settle(suite: &RunningSuite) {
    let mut look = tokio::time::interval(LOOK);
    let quiet = async {
        while !check::is_quiet(suite) {
            look.tick().await;
        }
    };
    // What is not quiet by now is what the checks are there to report.
    let _ = tokio::time::timeout(QUIET_DEADLINE, quiet).await;
}
