//! The ledger: every message has one run, and every run is closed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use openclaw_proto::event::Kind;
use rusqlite::{Connection, OpenFlags, Row};

use super::is_excused;
use crate::record::{Message, RecordState};

/// A row of the ledger.
#[derive(Debug)]
pub(crate) struct Run {
    pub(super) run_id: String,
    pub(super) key: String,
    pub(super) session_key: String,
    state: String,
    reason: String,
    pub(crate) ended_ms: Option<i64>,
}

/// All rows.
pub(crate) fn runs(path: &Path) -> anyhow::Result<Vec<Run>> {
    let context = || format!("read {}", path.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let ledger = Connection::open_with_flags(path, flags).with_context(context)?;
    let mut statement = ledger
        .prepare(
            "SELECT run_id, idempotency_key, session_key, state, ended_ms, reason FROM runs \
             WHERE channel IN ('torture', 'telegram')",
        )
        .with_context(context)?;
    let rows = statement.query_map([], run).with_context(context)?;
    rows.collect::<Result<_, _>>().with_context(context)
}

fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        run_id: row.get(0)?,
        key: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
        session_key: row.get(2)?,
        state: row.get(3)?,
        ended_ms: row.get(4)?,
        reason: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
    })
}

pub(super) fn check(runs: &[Run], pages: &RecordState) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut by_key: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.key.starts_with(&pages.mark)) {
        by_key.entry(&run.key).or_default().push(run);
    }
    for (key, message) in &pages.messages {
        match by_key.remove(key.as_str()).as_deref() {
            None => wrong.push(format!("{key}: not in the ledger")),
            Some([run]) => wrong.extend(compare(run, message)),
            Some(more) => wrong.push(format!("{key}: {} runs in the ledger", more.len())),
        }
    }
    for key in by_key.keys() {
        wrong.push(format!("{key}: in the ledger, but never acknowledged"));
    }
    wrong.extend(excused(runs, pages));
    wrong
}

fn compare(run: &Run, message: &Message) -> Option<String> {
    let Run { run_id, state, .. } = run;
    let key = &message.errand.key;
    if *run_id != message.run_id || run.session_key != message.session_key {
        return Some(format!(
            "{key}: run {run_id} is not the one that was acknowledged"
        ));
    }
    if run.ended_ms.is_none() {
        return Some(format!("{key}: run {run_id} is not closed ({state})"));
    }
    let (told, why) = match &message.outcome {
        Some(Kind::Done(_)) => ("done", ""),
        Some(Kind::Aborted { reason, .. }) => ("aborted", reason.as_str()),
        Some(Kind::Failed(failed)) => ("failed", failed.message.as_str()),
        _ => ("open", ""),
    };
    let is_same = told == state || told == "failed" && state == "interrupted";
    (!is_same)
        .then(|| format!("{key}: run {run_id} is {state}, but the client was told {told} {why:?}"))
}

/// Only a run whose own process was killed may be without a whole answer.
fn excused(runs: &[Run], pages: &RecordState) -> Vec<String> {
    let own = runs.iter().filter(|run| run.key.starts_with(&pages.mark));
    let broken = own.filter(|run| run.state != "done");
    let unexplained: Vec<String> = broken
        .filter(|run| !is_excused(pages, &run.run_id))
        .map(|run| {
            format!(
                "{}: run {} is {} ({}), and nobody killed its process",
                run.key, run.run_id, run.state, run.reason
            )
        })
        .collect();
    // Some were killed before they said whose they were.
    if unexplained.len() > pages.nameless_kills {
        unexplained
    } else {
        Vec::new()
    }
}
