//! The tables of the ledger's file: the one place that makes and changes them.

mod job_runs;
mod run_numbers;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

/// Counted up with every change of the tables.
pub(crate) const VERSION: i64 = 14;

/// Bytes of a page, the smallest that there are. A message changes one row here and there, and
/// each costs its page in the log: SQLite's 4096 would be five times as much to write. Since
/// version 14; before it was 1024.
const PAGE: i64 = 512;

/// Pages of the log after which it is moved into the file. Rows that change again and again are
/// moved once for all of these, and the log of this length has one table of the log's index.
const LOG_PAGES: i64 = 4000;

/// Since version 1.
const RUNS: &str = include_str!("schema/runs.sql");

/// What turns cost; a table of its own, because most runs are never looked at
/// for it. Since version 2.
const TURNS: &str = include_str!("schema/turns.sql");

/// Before version 3 they were made at first use and had no version.
const SMALL_TABLES: &str = include_str!("schema/small_tables.sql");

/// What changed in session indexes since their files were written, and another
/// index of the open runs. Since version 3.
const SESSION_NOTES: &str = include_str!("schema/session_notes.sql");

/// What happened and in which order: of runs in their own rows, the rest in a
/// table. Since version 4. Runs of before are numbered as they came, which is
/// the order in which they are listed; nothing is told of those that ended.
const EVENTS: &str = include_str!("schema/events.sql");

/// What there is to say on channels. Since version 5.
const OUTBOX: &str = include_str!("schema/outbox.sql");

/// What came in on channels and what became of it, who wants to talk there and
/// who may, and what goes with a delivery. Since version 6.
const CHANNELS: &str = include_str!("schema/channels.sql");

/// Since version 7: what agents are to know with their next turn.
const NOTICES: &str = include_str!("schema/notices.sql");

/// Tables whose rows are longer than a quarter of a page, with a rowid: without one
/// such a row lies partly on a page of its own, which is read with each comparison
/// of a search and written with each change. Since version 8.
const ROWS: &str = include_str!("schema/rows.sql");

/// Why the tables cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// SQLite refused.
    #[error("cannot make the tables of the ledger")]
    Sqlite(#[from] rusqlite::Error),
    /// A newer gateway wrote the file, with that version of the tables.
    #[error(
        "the ledger has schema version {0}, newer than {VERSION}: install the version of openclaw that wrote it, or restore a backup from before"
    )]
    Newer(i64),
}

/// How long another writer of the file may take, or a reader such as a backup may
/// hold it.
const BUSY_DEADLINE: Duration = Duration::from_secs(5);

/// Opens the file, with its tables up to date. Every transaction takes the
/// writers' lock when it begins: one that has read before it writes cannot wait
/// for another writer, and fails at once (SQLITE_BUSY_SNAPSHOT).
pub(crate) fn open(path: &Path) -> Result<Connection, SchemaError> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_DEADLINE)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
    bring_up_to_date(&mut connection)?;
    Ok(connection)
}

/// Makes the tables of a file that is new, and brings those of an earlier
/// gateway up to date, in one transaction.
pub(crate) fn bring_up_to_date(connection: &mut Connection) -> Result<(), SchemaError> {
    let version = version(connection)?;
    match version {
        VERSION => return Ok(()),
        0..VERSION => {}
        newer => return Err(SchemaError::Newer(newer)),
    }
    // A full disk is no reason not to start; the tables work with any page.
    if let Err(error) = make_pages_small(connection) {
        tracing::warn!(%error, "the ledger keeps its large pages: each message writes more");
    }
    let transaction = connection.transaction()?;
    // Somebody else may have been first.
    for step in self::version(&transaction)?..VERSION {
        match step {
            0 => transaction.execute_batch(RUNS)?,
            1 => transaction.execute_batch(TURNS)?,
            2 => {
                transaction.execute_batch(SMALL_TABLES)?;
                allow_for_one_directory(&transaction)?;
                transaction.execute_batch(SESSION_NOTES)?;
            }
            3 => transaction.execute_batch(EVENTS)?,
            4 => transaction.execute_batch(OUTBOX)?,
            5 => transaction.execute_batch(CHANNELS)?,
            6 => transaction.execute_batch(NOTICES)?,
            7 => transaction.execute_batch(ROWS)?,
            8 => transaction.execute_batch(job_runs::JOB_RUNS)?,
            9 => transaction.execute_batch(run_numbers::RUN_NUMBERS)?,
            10 => transaction.execute_batch(include_str!("schema/agent_calls.sql"))?,
            11 => transaction.execute_batch(include_str!("schema/terms.sql"))?,
            12 => transaction.execute_batch(include_str!("schema/turn_options.sql"))?,
            // Smaller pages alone.
            _ => {}
        }
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// SQLite makes the file anew for that, which it does not in WAL mode.
fn make_pages_small(connection: &Connection) -> rusqlite::Result<()> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    if page == PAGE {
        return Ok(());
    }
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    connection.pragma_update(None, "page_size", PAGE)?;
    connection.execute_batch("VACUUM")
}

/// Tables as they were before a command was allowed for one directory. What was
/// allowed then does not say where, so it is asked about again; the decided
/// approvals still tell of it.
fn allow_for_one_directory(connection: &Connection) -> rusqlite::Result<()> {
    if !has_column(connection, "approvals", "form")? {
        connection
            .execute_batch("ALTER TABLE approvals ADD COLUMN form TEXT NOT NULL DEFAULT ''")?;
    }
    if !has_column(connection, "exec_grants", "command")? {
        return Ok(());
    }
    let count: i64 =
        connection.query_row("SELECT count(*) FROM exec_grants", [], |row| row.get(0))?;
    connection.execute_batch("DROP TABLE exec_grants")?;
    if count > 0 {
        tracing::warn!(
            count,
            "commands that were allowed for good are asked about again: what is allowed is now \
             for one directory, and these had none"
        );
    }
    Ok(())
}

/// Whether there is such a table with such a column.
fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) > 0 FROM pragma_table_info(?1) WHERE name = ?2";
    connection.query_row(sql, [table, column], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file has: tables with their SQL, and its version.
    fn made(connection: &Connection) -> (Vec<String>, i64) {
        let mut statement = connection
            .prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
            .unwrap();
        let sql = statement.query_map([], |row| row.get(0)).unwrap();
        (
            sql.map(Result::unwrap).collect(),
            version(connection).unwrap(),
        )
    }

    #[test]
    fn schema_of_every_earlier_version_becomes_that_of_a_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut new = Connection::open(folder.path().join("new")).unwrap();
        bring_up_to_date(&mut new).unwrap();
        // With the small tables as they were at first use, and without.
        for (version, used) in [(1, false), (2, false), (2, true), (3, true)] {
            let path = folder.path().join(format!("{version}-{used}"));
            let mut old = Connection::open(&path).unwrap();
            old.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
                .unwrap();
            old.execute_batch(RUNS).unwrap();
            if version >= 2 {
                old.execute_batch(TURNS).unwrap();
            }
            if used {
                old.execute_batch(SMALL_TABLES).unwrap();
            }
            if version == 3 {
                old.execute_batch(SESSION_NOTES).unwrap();
            }
            old.pragma_update(None, "user_version", version).unwrap();
            old.execute_batch(
                "INSERT INTO runs (run_id, session_key, agent_id, session_id, channel, state, \
                 user_entry_id, created_ms) VALUES ('r', 'k', 'a', 's', 'cli', 'accepted', 'u', 1)",
            )
            .unwrap();
            bring_up_to_date(&mut old).unwrap();
            assert_eq!(made(&old), made(&new), "version {version}, used: {used}");
            let page: i64 = old
                .pragma_query_value(None, "page_size", |row| row.get(0))
                .unwrap();
            assert_eq!(page, PAGE);
            let runs: i64 = old
                .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
                .unwrap();
            assert_eq!(runs, 1);
        }
    }

    #[test]
    fn schema_of_version_3_keeps_its_runs_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut old = Connection::open(folder.path().join("3")).unwrap();
        for step in [RUNS, TURNS, SMALL_TABLES, SESSION_NOTES] {
            old.execute_batch(step).unwrap();
        }
        old.pragma_update(None, "user_version", 3).unwrap();
        for (run, created, ended) in [("c", 30, None), ("a", 10, Some(11)), ("b", 20, Some(21))] {
            old.execute(
                "INSERT INTO runs (run_id, session_key, agent_id, session_id, channel, state, \
                 user_entry_id, created_ms, ended_ms) \
                 VALUES (?1, 'k', 'a', 's', 'cli', 'done', 'u', ?2, ?3)",
                rusqlite::params![run, created, ended],
            )
            .unwrap();
        }
        old.execute_batch("INSERT INTO turns VALUES ('b', 'unit', 12, 1, 2, 3, 4, 0.5)")
            .unwrap();
        bring_up_to_date(&mut old).unwrap();
        let cost = "SELECT run_id, cpu_ms, cost_usd FROM runs JOIN turns USING (accepted_seq)";
        let cost: (String, i64, f64) = old
            .query_row(cost, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap();
        assert_eq!(cost, ("b".to_owned(), 12, 0.5));
        let mut statement = old
            .prepare("SELECT run_id, accepted_seq FROM runs ORDER BY accepted_seq")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let rows: Vec<(String, i64)> = rows.unwrap().map(Result::unwrap).collect();
        assert_eq!(
            rows,
            ["a", "b", "c"]
                .map(str::to_owned)
                .into_iter()
                .zip(1..)
                .collect::<Vec<_>>()
        );
        let series = "SELECT taken, pruned, first_run FROM event_series";
        let series = old.query_row(series, [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        });
        // The one that goes on will be told of when it ends.
        assert_eq!(series.unwrap(), (3, 3, 3));
    }

    #[test]
    fn schema_of_version_6_keeps_runs_turns_and_notes() {
        let folder = tempfile::tempdir().unwrap();
        let mut old = Connection::open(folder.path().join("6")).unwrap();
        for step in [
            RUNS,
            TURNS,
            SMALL_TABLES,
            SESSION_NOTES,
            EVENTS,
            OUTBOX,
            CHANNELS,
        ] {
            old.execute_batch(step).unwrap();
        }
        old.pragma_update(None, "user_version", 6).unwrap();
        old.execute_batch(
            "INSERT INTO runs VALUES ('r', 'i', 'k', 'a', 's', 'cli', 'done', 'u', 1, 2, 'why', \
             'out', 3, 4, 5, 6, 'entries', 'route');
             INSERT INTO turns VALUES ('r', 'unit', 1, 2, 3, 4, 5, 0.5);
             INSERT INTO session_notes VALUES ('a', 'k', 'entry', 'base');",
        )
        .unwrap();
        let rows = |connection: &Connection| {
            let of = |sql: &str| {
                let mut statement = connection.prepare(sql).unwrap();
                let width = statement.column_count();
                let rows = statement.query_map([], |row| {
                    let all = (0..width).map(|column| row.get(column));
                    all.collect::<rusqlite::Result<Vec<rusqlite::types::Value>>>()
                });
                rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
            };
            [
                "SELECT run_id, idempotency_key, session_key, agent_id, session_id, channel, state, \
                 user_entry_id, created_ms, ended_ms, reason, outcome, accepted_seq, started_seq, \
                 started_ms, ended_seq, entries, route FROM runs",
                "SELECT run_id, unit, cpu_ms, memory_peak_bytes, tasks_peak, input_tokens, \
                 output_tokens, cost_usd FROM turns NATURAL JOIN runs",
                "SELECT * FROM session_notes",
            ]
            .map(of)
        };
        let before = rows(&old);
        bring_up_to_date(&mut old).unwrap();
        assert_eq!(rows(&old), before);
        // What a turn cost goes with its run.
        old.execute("DELETE FROM runs", []).unwrap();
        assert!(rows(&old)[1].is_empty());
    }

    #[test]
    fn schema_of_version_8_keeps_each_run_of_a_job_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut old = Connection::open(folder.path().join("8")).unwrap();
        for step in [
            RUNS,
            TURNS,
            SMALL_TABLES,
            SESSION_NOTES,
            EVENTS,
            OUTBOX,
            CHANNELS,
            NOTICES,
            ROWS,
        ] {
            old.execute_batch(step).unwrap();
        }
        old.pragma_update(None, "user_version", 8).unwrap();
        old.execute_batch(
            r#"INSERT INTO job_runs (job_id, run_id, ended_ms, entry) VALUES
                ('j', 'cron:j:1', 9, '{"status": "ok", "runAtMs": 1, "delivered": true}'),
                ('j', 'cron:j:1', 9, '{"status": "error", "runAtMs": 1}'),
                ('j', NULL, 8, '{"status": "error"}');
            INSERT INTO jobs (job_id, job, updated_ms) VALUES
                ('j', '{"state": {"runningAtMs": 7}}', 1), ('k', '{"state": {}}', 1);"#,
        )
        .unwrap();
        bring_up_to_date(&mut old).unwrap();
        let sql =
            "SELECT run_id, state, started_ms, ended_ms IS NULL FROM job_runs ORDER BY number";
        let mut statement = old.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        });
        let rows: Vec<(String, String, Option<i64>, bool)> =
            rows.unwrap().map(Result::unwrap).collect();
        let row = |run: &str, state: &str, started, is_open| {
            (run.to_owned(), state.to_owned(), started, is_open)
        };
        assert_eq!(
            rows,
            [
                row("cron:j:1", "delivered", Some(1), false),
                row("earlier:3", "failed", None, false),
                row("cron:j:7", "started", Some(7), true),
            ]
        );
    }

    #[test]
    fn schema_is_brought_up_to_date_beside_a_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l");
        let mut old = Connection::open(&path).unwrap();
        old.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
            .unwrap();
        old.execute_batch(RUNS).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        let mut reader = Connection::open(&path).unwrap();
        let reading = reader.transaction().unwrap();
        let runs: i64 = reading
            .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
            .unwrap();
        assert_eq!(runs, 0);
        bring_up_to_date(&mut old).unwrap();
        assert_eq!(version(&old).unwrap(), VERSION);
    }
}
