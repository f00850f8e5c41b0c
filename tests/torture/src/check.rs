//! What must hold when everything is quiet.

mod chats;
mod effects;
mod ledger;
mod leftovers;
mod transcripts;

use std::fs;

pub(crate) use chats::Answers;

use crate::book::{Book, Pages};
use crate::ground::Ground;
use crate::process::{self, Role};

/// Everything that is wrong, and what was answered in chats, if there are any.
pub(crate) fn all(ground: &Ground, book: &Book) -> anyhow::Result<(Vec<String>, Option<Answers>)> {
    let mut pages = book.open();
    let mut runs = ledger::runs(&ground.ledger())?;
    chats::acknowledge(&mut runs, &mut pages);
    let mut wrong = ledger::check(&runs, &pages);
    wrong.extend(transcripts::check(&ground.sessions(), &pages)?);
    wrong.extend(effects::check(&ground.workspace(), &pages)?);
    wrong.extend(leftovers::check(ground));
    let double = ground.double();
    let answers = double.map(|double| chats::check(double, &ground.log(), &pages, &mut wrong));
    Ok((wrong, answers))
}

/// Whether nothing goes on: no run is open, and of turns there is at most the
/// one process that stands ready for the next.
pub(crate) fn is_quiet(ground: &Ground) -> bool {
    let closed = ledger::runs(&ground.ledger())
        .is_ok_and(|runs| runs.iter().all(|run| run.ended_ms.is_some()));
    let turns = process::all(ground)
        .iter()
        .filter(|process| process.role == Role::Turn)
        .count();
    closed
        && turns <= 1
        && spools(ground) <= turns
        && leftovers::check(ground).is_empty()
        && transcripts::are_indexed(&ground.sessions())
}

/// Spools that are there.
fn spools(ground: &Ground) -> usize {
    fs::read_dir(ground.turns()).map_or(0, Iterator::count)
}

/// Whether a run may have ended without a whole answer.
fn is_excused(pages: &Pages, run_id: &str) -> bool {
    pages.killed.contains(run_id)
}
