//! The small tables beside the runs in the ledger: devices, scheduled
//! jobs, and what was allowed.
//!
//! They have a connection of their own, opened at first use: what is written
//! here is written by people, now and then, and must not stand in the way of
//! messages.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

/// How long a writer of the same file may take.
const BUSY_DEADLINE: Duration = Duration::from_secs(5);

/// KiB of page cache; the tables have some dozen rows.
const CACHE_KIB: i64 = 64;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS devices (
        device_id     TEXT NOT NULL,
        role          TEXT NOT NULL,
        public_key    TEXT NOT NULL,
        scopes        TEXT NOT NULL,
        facts         TEXT NOT NULL,
        token_hash    TEXT,
        created_ms    INTEGER NOT NULL,
        approved_ms   INTEGER NOT NULL,
        issued_ms     INTEGER,
        revoked_ms    INTEGER,
        last_used_ms  INTEGER,
        PRIMARY KEY (device_id, role)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pairings (
        request_id    TEXT PRIMARY KEY,
        device_id     TEXT NOT NULL,
        role          TEXT NOT NULL,
        public_key    TEXT NOT NULL,
        scopes        TEXT NOT NULL,
        facts         TEXT NOT NULL,
        created_ms    INTEGER NOT NULL,
        UNIQUE (device_id, role)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS jobs (
        job_id        TEXT PRIMARY KEY,
        job           TEXT NOT NULL,
        next_ms       INTEGER,
        updated_ms    INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS job_runs (
        number        INTEGER PRIMARY KEY,
        job_id        TEXT NOT NULL,
        run_id        TEXT,
        ended_ms      INTEGER NOT NULL,
        entry         TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS heartbeats (
        number        INTEGER PRIMARY KEY CHECK (number = 1),
        event         TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS approvals (
        approval_id   TEXT PRIMARY KEY,
        run_id        TEXT NOT NULL,
        session_key   TEXT NOT NULL,
        agent_id      TEXT NOT NULL,
        tool          TEXT NOT NULL,
        command       TEXT NOT NULL,
        cwd           TEXT NOT NULL,
        reason        TEXT NOT NULL,
        created_ms    INTEGER NOT NULL,
        expires_ms    INTEGER NOT NULL,
        decision      TEXT NOT NULL,
        decided_by    TEXT NOT NULL,
        decided_ms    INTEGER NOT NULL,
        form          TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS command_grants (
        agent_id      TEXT NOT NULL,
        form          TEXT NOT NULL,
        command       TEXT NOT NULL,
        directory     TEXT NOT NULL,
        created_ms    INTEGER NOT NULL,
        granted_by    TEXT NOT NULL,
        PRIMARY KEY (agent_id, form, command, directory)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS job_runs_by_job ON job_runs (job_id, number);
";

/// Why a table cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// SQLite refused.
    #[error("cannot {operation} in {path}")]
    Sqlite {
        /// What was to be done.
        operation: &'static str,
        /// The file of the tables.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The thread that had to do it is gone.
    #[error("cannot {0}: the worker ended")]
    Worker(&'static str),
}

/// The way to the tables. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Database {
    path: PathBuf,
    connection: Arc<Mutex<Option<Connection>>>,
}

impl Database {
    /// The tables in the ledger at `path`, which the storage has created.
    pub fn at(path: PathBuf) -> Self {
        Self {
            path,
            connection: Arc::default(),
        }
    }

    /// Does `work` in a transaction on a thread that may wait for the disk.
    pub async fn call<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let database = self.clone();
        tokio::task::spawn_blocking(move || database.transact(operation, work))
            .await
            .unwrap_or(Err(Fault::Worker(operation)))
    }

    fn transact<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        let fault = |source| Fault::Sqlite {
            operation,
            path: self.path.clone(),
            source: Arc::new(source),
        };
        let mut slot = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *slot {
            Some(connection) => connection,
            empty => empty.insert(self.open().map_err(fault)?),
        };
        let transaction = connection.transaction().map_err(fault)?;
        let result = work(&transaction).map_err(fault)?;
        transaction.commit().map_err(fault)?;
        Ok(result)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY_DEADLINE)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.execute_batch(SCHEMA)?;
        bring_up_to_date(&connection)?;
        Ok(connection)
    }
}

/// Tables as they were before a command was allowed for one directory. What was
/// allowed then does not say where, so it is asked about again; the decided
/// approvals still tell of it.
fn bring_up_to_date(connection: &Connection) -> rusqlite::Result<()> {
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

    #[tokio::test]
    async fn what_fails_is_undone_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::at(dir.path().join("ledger.sqlite"));
        let insert = |id: &'static str| {
            move |connection: &Connection| {
                connection.execute(
                    "INSERT INTO jobs (job_id, job, updated_ms) VALUES (?1, '{}', 1)",
                    [id],
                )
            }
        };
        database.call("add a job", insert("a")).await.unwrap();
        let fault = database.call("add a job", insert("a")).await.unwrap_err();
        assert!(fault.to_string().contains("add a job"), "{fault}");
        let count = database
            .call("count jobs", |connection| {
                connection.query_row("SELECT count(*) FROM jobs", [], |row| row.get::<_, i64>(0))
            })
            .await
            .unwrap();
        assert_eq!(count, 1);
    }
}
