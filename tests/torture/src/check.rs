//! What must hold when everything is quiet.

mod chats;
mod effects;
mod ledger;
mod leftovers;
mod transcripts;

use std::fs;

pub(crate) use chats::Answers;

use crate::process::{self, Role};
use crate::record::{Record, RecordState};
use crate::running_suite::RunningSuite;

/// Everything that is wrong, and what was answered in chats, if there are any.
pub(crate) fn all(
    suite: &RunningSuite,
    record: &Record,
) -> anyhow::Result<(Vec<String>, Option<Answers>)> {
    let mut pages = record.open();
    let mut runs = ledger::runs(&suite.ledger())?;
    chats::acknowledge(&mut runs, &mut pages);
    let mut wrong = ledger::check(&runs, &pages);
    wrong.extend(transcripts::check(&suite.sessions(), &pages)?);
    wrong.extend(effects::check(&suite.workspace(), &pages)?);
    wrong.extend(leftovers::check(suite));
    let double = suite.double();
    let answers = double.map(|double| chats::check(double, &suite.log(), &pages, &mut wrong));
    Ok((wrong, answers))
}

/// Whether nothing goes on: no run is open, and of turns there is at most the
/// one process that stands ready for the next.
pub(crate) fn is_quiet(suite: &RunningSuite) -> bool {
    let closed = ledger::runs(&suite.ledger())
        .is_ok_and(|runs| runs.iter().all(|run| run.ended_ms.is_some()));
    let turns = process::all(suite)
        .iter()
        .filter(|process| process.role == Role::Turn)
        .count();
    closed
        && turns <= 1
        && spools(suite) <= turns
        && leftovers::check(suite).is_empty()
        && transcripts::are_indexed(&suite.sessions())
}

/// Spools that are there.
fn spools(suite: &RunningSuite) -> usize {
    fs::read_dir(suite.turns()).map_or(0, Iterator::count)
}

/// Whether a run may have ended without a whole answer.
fn is_excused(pages: &RecordState, run_id: &str) -> bool {
    pages.killed.contains(run_id)
}
