//! Sends messages to the suite while it kills random parts of it, then checks
//! that nothing was lost and nothing was done twice (invariant 4 of DESIGN).
//!
//! What is killed, and in which order, follows from a seed; when exactly it
//! hits is the machine's, so a seed repeats a run closely but not to the
//! instruction.

mod book;
mod chatter;
mod check;
mod errand;
mod ground;
mod killer;
mod plan;
mod process;
mod report;
mod talker;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use ground::Ground;
pub use plan::Plan;
pub use report::Report;

use book::Book;
use chatter::Chatter;

/// What the last messages get to be answered in, and the suite to be quiet
/// after them, when nothing is killed any more.
const QUIET_DEADLINE: Duration = Duration::from_secs(90);
/// Between two looks at what tells nobody when it changes.
const LOOK: Duration = Duration::from_millis(20);

/// Tortures the suite on `ground`; what was wrong afterwards is in the report.
///
/// # Errors
/// The suite could not be tortured or looked at.
pub async fn torture(ground: &Ground, plan: &Plan) -> anyhow::Result<Report> {
    let started = Instant::now();
    let book = Arc::new(Book::new(errand::mark(plan.seed)));
    let (stop, stopped) = watch::channel(false);
    let mut talkers = JoinSet::new();
    for number in 0..plan.talkers {
        let (book, stopped) = (Arc::clone(&book), stopped.clone());
        if let Some(double) = ground.double() {
            let chatter = Chatter {
                double: Arc::clone(double),
                plan: plan.clone(),
                number,
                book,
                stopped,
            };
            talkers.spawn(chatter.talk());
        } else {
            let talker = talker::Talker::new(ground, plan, number, book, stopped);
            talkers.spawn(talker.talk());
        }
    }
    let killed = killer::kill(ground, plan, &book).await?;
    stop.send_replace(true);
    while let Some(talked) = talkers.join_next().await {
        talked.context("a talker ended")?;
    }
    settle(ground).await;
    let (wrong, answers) = check::all(ground, &book)?;
    let took = started.elapsed();
    Ok(Report::new(plan, &book, killed, wrong, answers, took))
}

/// Waits until no run is open and no process is on its way out, or too long:
/// then the checks say what is left.
async fn settle(ground: &Ground) {
    let mut look = tokio::time::interval(LOOK);
    let quiet = async {
        while !check::is_quiet(ground) {
            look.tick().await;
        }
    };
    // What is not quiet by now is what the checks are there to report.
    let _ = tokio::time::timeout(QUIET_DEADLINE, quiet).await;
}
