//! The tables of the ledger's file: the one place that makes and changes them.

mod job_runs;
mod run_numbers;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

/// Counted up with every change of the tables.
pub(crate) const VERSION: i64 = 13;

/// Bytes of a page. A message changes one row here and there, and each costs
/// its page in the log: SQLite's 4096 would be four times as much to write.
const PAGE: i64 = 1024;

/// Since version 1.
const RUNS: &str = "
    CREATE TABLE runs (
        run_id TEXT PRIMARY KEY, idempotency_key TEXT UNIQUE, session_key TEXT NOT NULL,
        agent_id TEXT NOT NULL, session_id TEXT NOT NULL, channel TEXT NOT NULL, state TEXT NOT
        NULL CHECK (state IN ('accepted', 'running', 'done', 'failed', 'aborted',
        'interrupted')), user_entry_id TEXT NOT NULL, created_ms INTEGER NOT NULL, ended_ms
        INTEGER, reason TEXT, outcome TEXT
    ) WITHOUT ROWID;
    CREATE INDEX open_runs ON runs (state) WHERE ended_ms IS NULL;
";

/// The costs of turns; a table of its own, because most runs are never looked at for them. Since
/// version 2.
const TURNS: &str = "
    CREATE TABLE turns (
        run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE, unit TEXT NOT NULL,
        cpu_ms INTEGER NOT NULL, memory_peak_bytes INTEGER NOT NULL, tasks_peak INTEGER NOT
        NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL
    ) WITHOUT ROWID;
    CREATE INDEX runs_by_time ON runs (created_ms);
";

/// Before version 3 they were made at first use and had no version.
const SMALL_TABLES: &str = "
    CREATE TABLE IF NOT EXISTS devices (
        device_id TEXT NOT NULL, role TEXT NOT NULL, public_key TEXT NOT NULL, scopes TEXT NOT
        NULL, facts TEXT NOT NULL, token_hash TEXT, created_ms INTEGER NOT NULL, approved_ms
        INTEGER NOT NULL, issued_ms INTEGER, revoked_ms INTEGER, last_used_ms INTEGER, PRIMARY
        KEY (device_id, role)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pairings (
        request_id TEXT PRIMARY KEY, device_id TEXT NOT NULL, role TEXT NOT NULL, public_key
        TEXT NOT NULL, scopes TEXT NOT NULL, facts TEXT NOT NULL, created_ms INTEGER NOT NULL,
        UNIQUE (device_id, role)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS jobs (
        job_id TEXT PRIMARY KEY, job TEXT NOT NULL, next_ms INTEGER, updated_ms INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS job_runs (
        number INTEGER PRIMARY KEY, job_id TEXT NOT NULL, run_id TEXT, ended_ms INTEGER NOT
        NULL, entry TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS heartbeats (
        number INTEGER PRIMARY KEY CHECK (number = 1), event TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS approvals (
        approval_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, session_key TEXT NOT NULL, agent_id
        TEXT NOT NULL, tool TEXT NOT NULL, command TEXT NOT NULL, cwd TEXT NOT NULL, reason TEXT
        NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, decision TEXT NOT
        NULL, decided_by TEXT NOT NULL, decided_ms INTEGER NOT NULL, form TEXT NOT NULL DEFAULT
        ''
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS command_grants (
        agent_id TEXT NOT NULL, form TEXT NOT NULL, command TEXT NOT NULL, directory TEXT NOT
        NULL, created_ms INTEGER NOT NULL, granted_by TEXT NOT NULL, PRIMARY KEY (agent_id,
        form, command, directory)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS job_runs_by_job ON job_runs (job_id, number);
";

/// What changed in session indexes since their files were written, and another
/// index of the open runs. Since version 3.
const SESSION_NOTES: &str = "
    CREATE TABLE session_notes (
        agent_id TEXT NOT NULL, session_key TEXT NOT NULL, entry TEXT NOT NULL, base TEXT NOT
        NULL, PRIMARY KEY (agent_id, session_key)
    ) WITHOUT ROWID;
    -- By state it changed with each; the open ones are looked for in order of time.
    DROP INDEX open_runs;
    CREATE INDEX open_runs ON runs (created_ms) WHERE ended_ms IS NULL;
";

/// What happened and in which order: of runs in their own rows, the rest in a
/// table. Since version 4. Runs of before are numbered as they came, which is
/// the order in which they are listed; nothing is told of those that ended.
const EVENTS: &str = "
    ALTER TABLE runs ADD COLUMN accepted_seq INTEGER;
    ALTER TABLE runs ADD COLUMN started_seq INTEGER;
    ALTER TABLE runs ADD COLUMN started_ms INTEGER;
    ALTER TABLE runs ADD COLUMN ended_seq INTEGER;
    -- What was appended with the end, and where the message came from.
    ALTER TABLE runs ADD COLUMN entries TEXT;
    ALTER TABLE runs ADD COLUMN route TEXT;
    UPDATE runs SET accepted_seq = ranked.place FROM
        (SELECT run_id, row_number() OVER (ORDER BY created_ms, run_id) AS place FROM runs) AS ranked
        WHERE ranked.run_id = runs.run_id;
    DROP INDEX runs_by_time;
    CREATE INDEX runs_by_seq ON runs (accepted_seq);
    CREATE TABLE events (
        seq           INTEGER PRIMARY KEY,
        at_ms         INTEGER NOT NULL,
        agent_id      TEXT NOT NULL,
        session_key   TEXT NOT NULL,
        run_id        TEXT NOT NULL,
        facts         TEXT NOT NULL
    );
    CREATE TABLE event_series (
        number        INTEGER PRIMARY KEY CHECK (number = 1),
        epoch         TEXT NOT NULL,
        taken         INTEGER NOT NULL,
        pruned        INTEGER NOT NULL,
        first_run     INTEGER NOT NULL
    );
    INSERT INTO event_series (number, epoch, taken, pruned, first_run) VALUES (
        1, lower(hex(randomblob(8))),
        (SELECT count(*) FROM runs), (SELECT count(*) FROM runs),
        ifnull((SELECT min(accepted_seq) FROM runs WHERE ended_ms IS NULL),
               (SELECT count(*) + 1 FROM runs)));
";

/// Deliveries to channels. Since version 5.
const OUTBOX: &str = "
    CREATE TABLE outbox (
        delivery_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, kind TEXT NOT
        NULL, channel TEXT NOT NULL, account TEXT NOT NULL, target TEXT NOT NULL, chat TEXT,
        thread TEXT NOT NULL, session_key TEXT NOT NULL, agent_id TEXT NOT NULL, run_id TEXT NOT
        NULL, facts TEXT NOT NULL, about INTEGER, state TEXT NOT NULL CHECK (state IN
        ('pending', 'leased', 'delivered', 'failed')), attempts INTEGER NOT NULL, not_before_ms
        INTEGER NOT NULL, provider_ids TEXT NOT NULL, reason TEXT NOT NULL, created_ms INTEGER
        NOT NULL, changed_ms INTEGER NOT NULL
    );
    CREATE INDEX open_deliveries ON outbox (channel, account, target, thread, delivery_id)
        WHERE state IN ('pending', 'leased');
";

/// What came in on channels and what became of it, who wants to talk there and
/// who may, and what goes with a delivery. Since version 6.
const CHANNELS: &str = "
    CREATE TABLE hand_ins (
        channel TEXT NOT NULL, account TEXT NOT NULL, key TEXT NOT NULL, outcome TEXT NOT NULL,
        at_ms INTEGER NOT NULL, PRIMARY KEY (channel, account, key)
    ) WITHOUT ROWID;
    CREATE INDEX hand_ins_by_time ON hand_ins (at_ms);
    CREATE TABLE channel_requests (
        channel TEXT NOT NULL, account TEXT NOT NULL, peer TEXT NOT NULL, code TEXT NOT NULL
        UNIQUE, name TEXT NOT NULL, created_ms INTEGER NOT NULL, PRIMARY KEY (channel, account,
        peer)
    ) WITHOUT ROWID;
    CREATE TABLE channel_peers (
        channel TEXT NOT NULL, account TEXT NOT NULL, peer TEXT NOT NULL, name TEXT NOT NULL,
        is_owner INTEGER NOT NULL, approved_ms INTEGER NOT NULL, PRIMARY KEY (channel, account,
        peer)
    ) WITHOUT ROWID;
    ALTER TABLE outbox ADD COLUMN extras TEXT NOT NULL DEFAULT '';
    -- Where the files of extras are, beneath the agent's workspace.
    ALTER TABLE outbox ADD COLUMN paths TEXT NOT NULL DEFAULT '';
";

/// Since version 7: what agents are to know with their next turn.
const NOTICES: &str = "
    CREATE TABLE notices (
        notice_id     INTEGER PRIMARY KEY AUTOINCREMENT,
        session_key   TEXT NOT NULL,
        text          TEXT NOT NULL,
        at_ms         INTEGER NOT NULL
    );
    CREATE INDEX notices_by_session ON notices (session_key, notice_id);
";

/// Tables whose rows are longer than a quarter of a page, with a rowid: without one
/// such a row lies partly on a page of its own, which is read with each comparison
/// of a search and written with each change. Since version 8.
const ROWS: &str = "
    DROP INDEX open_runs;
    DROP INDEX runs_by_seq;
    ALTER TABLE turns RENAME TO old_turns;
    ALTER TABLE runs RENAME TO old_runs;
    ALTER TABLE session_notes RENAME TO old_session_notes;
    CREATE TABLE runs (
        run_id TEXT NOT NULL PRIMARY KEY, idempotency_key TEXT UNIQUE, session_key TEXT NOT
        NULL, agent_id TEXT NOT NULL, session_id TEXT NOT NULL, channel TEXT NOT NULL, state
        TEXT NOT NULL CHECK (state IN ('accepted', 'running', 'done', 'failed', 'aborted',
        'interrupted')), user_entry_id TEXT NOT NULL, created_ms INTEGER NOT NULL, ended_ms
        INTEGER, reason TEXT, outcome TEXT, accepted_seq INTEGER, started_seq INTEGER,
        started_ms INTEGER, ended_seq INTEGER, entries TEXT, route TEXT
    );
    CREATE TABLE turns (
        run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE, unit TEXT NOT NULL,
        cpu_ms INTEGER NOT NULL, memory_peak_bytes INTEGER NOT NULL, tasks_peak INTEGER NOT
        NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL
    ) WITHOUT ROWID;
    CREATE TABLE session_notes (
        agent_id TEXT NOT NULL, session_key TEXT NOT NULL, entry TEXT NOT NULL, base TEXT NOT
        NULL, PRIMARY KEY (agent_id, session_key)
    );
    INSERT INTO runs (run_id, idempotency_key, session_key, agent_id, session_id, channel, state,
            user_entry_id, created_ms, ended_ms, reason, outcome, accepted_seq, started_seq,
            started_ms, ended_seq, entries, route)
        SELECT run_id, idempotency_key, session_key, agent_id, session_id, channel, state,
            user_entry_id, created_ms, ended_ms, reason, outcome, accepted_seq, started_seq,
            started_ms, ended_seq, entries, route
        FROM old_runs ORDER BY accepted_seq;
    INSERT INTO turns SELECT * FROM old_turns;
    INSERT INTO session_notes SELECT * FROM old_session_notes;
    -- The turns first: they would go with their runs.
    DROP TABLE old_turns;
    DROP TABLE old_runs;
    DROP TABLE old_session_notes;
    CREATE INDEX open_runs ON runs (created_ms) WHERE ended_ms IS NULL;
    CREATE INDEX runs_by_seq ON runs (accepted_seq);
";

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

/// How long another writer of the file may take, or a reader such as a backup may hold it.
const BUSY_DEADLINE: Duration = Duration::from_secs(5);

/// Opens the file, with its tables up to date. Every transaction takes the
/// writers' lock when it begins: one that has read before it writes cannot wait
/// for another writer, and fails at once (SQLITE_BUSY_SNAPSHOT).
pub(crate) fn open(path: &Path) -> Result<Connection, SchemaError> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_DEADLINE)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
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
            _ => transaction.execute_batch(include_str!("schema/turn_options.sql"))?,
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

/// Tables as they were before a command was allowed for one directory. What was allowed then does
/// not say where, so it is asked about again; the decided approvals still tell of it.
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

    /// The contents of a file: its tables with their SQL, and its version.
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
