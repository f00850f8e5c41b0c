//! Forgetting events that are old or too many.

use std::time::Duration;

use rusqlite::Connection;

use super::numbers::{self, read};

/// Events are told again for this long: a channel or a dashboard that was away
/// for longer has the sessions to read.
const AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Runs whose events are told again. A subscriber's replay looks at each of
/// them, which takes a few milliseconds for a thousand.
const RUNS: u64 = 5_000;

/// Other events that are told again, some hundred bytes each.
const OTHERS: u64 = 20_000;

/// Rows that are removed in one transaction: a few milliseconds for which a
/// message may have to wait.
const BITE: i64 = 200;

/// Forgets a part of what is too old at `now_ms`, or too much; false when there is more of it.
pub fn prune(connection: &Connection, now_ms: i64) -> rusqlite::Result<bool> {
    let limits = Limits {
        before_ms: now_ms - AGE.as_millis() as i64,
        runs: RUNS,
        others: OTHERS,
    };
    limits.prune(connection)
}

struct Limits {
    before_ms: i64,
    runs: u64,
    others: u64,
}

impl Limits {
    fn prune(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let first_run = numbers::first_run(connection)?;
        let next_first = self.first_run(connection)?.max(first_run);
        let of_runs = last_before(connection, first_run, next_first)?;
        let pruned = numbers::pruned(connection)?;
        let next = pruned.max(of_runs).max(self.last_other(connection)?);
        if next > pruned || next_first > first_run {
            connection.execute(
                "UPDATE event_series SET pruned = ?1, first_run = ?2",
                [next, next_first].map(|it| i64::try_from(it).unwrap_or(i64::MAX)),
            )?;
        }
        // Told from the beginning of a row on, or not at all.
        let removed = connection.execute(
            "DELETE FROM events WHERE seq IN
             (SELECT seq FROM events WHERE seq <= (SELECT pruned FROM event_series)
              ORDER BY seq LIMIT ?1)",
            [BITE],
        )?;
        Ok(i64::try_from(removed).unwrap_or(BITE) < BITE)
    }

    /// The first run that is kept: none that goes on is forgotten, so that its end is told.
    fn first_run(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let (before, runs) = (self.before_ms, self.runs);
        let after_all = read(connection, "SELECT max(accepted_seq) + 1 FROM runs")?;
        let young = read(
            connection,
            &format!(
                "SELECT min(accepted_seq) FROM runs, event_series
                 WHERE accepted_seq >= first_run AND created_ms >= {before}"
            ),
        )?;
        let young = if young == 0 { after_all } else { young };
        let many = read(
            connection,
            &format!(
                "SELECT (SELECT accepted_seq + 1 FROM runs
                 ORDER BY accepted_seq DESC LIMIT 1 OFFSET {runs})"
            ),
        )?;
        let open = read(
            connection,
            "SELECT min(accepted_seq) FROM runs WHERE ended_ms IS NULL",
        )?;
        let open = if open == 0 { u64::MAX } else { open };
        Ok(young.max(many).min(open))
    }

    /// The last of the other events that is too old or one too many.
    fn last_other(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let (before, others) = (self.before_ms, self.others);
        let old = format!("SELECT max(seq) FROM events WHERE at_ms < {before}");
        let many =
            format!("SELECT (SELECT seq FROM events ORDER BY seq DESC LIMIT 1 OFFSET {others})");
        Ok(read(connection, &old)?.max(read(connection, &many)?))
    }
}

/// The last number of the runs from `first` up to `next`, which have ended.
fn last_before(connection: &Connection, first: u64, next: u64) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT max(max(accepted_seq, ifnull(started_seq, 0), ifnull(ended_seq, 0)))
         FROM runs WHERE accepted_seq >= {first} AND accepted_seq < {next}"
    );
    read(connection, &sql)
}
