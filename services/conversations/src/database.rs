//! The small tables beside the runs in the ledger: devices, scheduled jobs, and what was allowed.
//!
//! They have a connection of their own, opened at first use: what is written here is written by
//! people, now and then, and must not stand in the way of messages.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, TransactionBehavior};

use super::schema::{self, SchemaError};

/// KiB of page cache; the tables have some dozen rows.
const CACHE_KIB: i64 = 64;

/// Why a table cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// SQLite refused.
    #[error("cannot {operation} in {path}")]
    Sqlite {
        /// The operation.
        operation: &'static str,
        /// The file of the tables.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The tables cannot be used.
    #[error("cannot open {path}")]
    Open {
        /// Their file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Arc<SchemaError>,
    },
    /// The thread that had to do it is gone.
    #[error("cannot {0}: the worker ended")]
    Worker(&'static str),
}

/// The way to the tables. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Database {
    path: PathBuf,
    opened: Arc<Mutex<Option<Opened>>>,
}

#[derive(Debug)]
struct Opened {
    connection: Connection,
    /// Whether SQLite refuses writes.
    only_reads: bool,
}

impl Opened {
    /// Not said again where it is so: SQLite prepares every statement anew after it.
    fn only_read(&mut self, only_reads: bool) -> rusqlite::Result<()> {
        if self.only_reads != only_reads {
            self.connection
                .pragma_update(None, "query_only", only_reads)?;
            self.only_reads = only_reads;
        }
        Ok(())
    }
}

impl Database {
    /// The tables in the ledger at `path`, which the storage has created.
    pub fn at(path: PathBuf) -> Self {
        Self {
            path,
            opened: Arc::default(),
        }
    }

    /// Does `work` in a transaction on a thread that may wait for the disk. It keeps
    /// other writers of the ledger, and so messages, waiting.
    pub async fn call<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        self.apart(operation, TransactionBehavior::Immediate, work)
            .await
    }

    /// As [`Self::call`], for reading only: others may write meanwhile, and SQLite refuses writes
    /// here.
    pub async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        self.apart(operation, TransactionBehavior::Deferred, work)
            .await
    }

    async fn apart<T: Send + 'static>(
        &self,
        operation: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let database = self.clone();
        tokio::task::spawn_blocking(move || database.transact(operation, behavior, work))
            .await
            .unwrap_or(Err(Fault::Worker(operation)))
    }

    fn transact<T>(
        &self,
        operation: &'static str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        let fault = |source| Fault::Sqlite {
            operation,
            path: self.path.clone(),
            source: Arc::new(source),
        };
        let mut slot = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match &mut *slot {
            Some(opened) => opened,
            empty => empty.insert(self.open().map_err(|source| Fault::Open {
                path: self.path.clone(),
                source: Arc::new(source),
            })?),
        };
        let only_reads = matches!(behavior, TransactionBehavior::Deferred);
        opened.only_read(only_reads).map_err(fault)?;
        let transaction = opened
            .connection
            .transaction_with_behavior(behavior)
            .map_err(fault)?;
        let result = work(&transaction).map_err(fault)?;
        transaction.commit().map_err(fault)?;
        Ok(result)
    }

    fn open(&self) -> Result<Opened, SchemaError> {
        let connection = schema::open(&self.path)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        Ok(Opened {
            connection,
            only_reads: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[tokio::test]
    async fn call_waits_for_another_writer_after_it_has_read() {
        const EACH: i64 = 200;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.sqlite");
        let count = |name: &'static str| {
            let database = Database::at(path.clone());
            tokio::spawn(async move {
                for number in 0..EACH {
                    let add = move |connection: &Connection| {
                        let sql = "SELECT count(*) FROM jobs";
                        let seen: i64 = connection.query_row(sql, [], |row| row.get(0))?;
                        connection.execute(
                            "INSERT INTO jobs (job_id, job, updated_ms) VALUES (?1, '{}', ?2)",
                            rusqlite::params![format!("{name}-{number}"), seen],
                        )
                    };
                    database.call("add a job", add).await.unwrap();
                }
            })
        };
        let (one, other) = (count("a"), count("b"));
        one.await.unwrap();
        other.await.unwrap();
    }

    #[tokio::test]
    async fn read_goes_on_beside_a_writer_and_cannot_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ledger.sqlite");
        let database = Database::at(path.clone());
        let count = |connection: &Connection| {
            connection.query_row("SELECT count(*) FROM jobs", [], |row| row.get::<_, i64>(0))
        };
        database.call("make the tables", |_| Ok(())).await.unwrap();
        let mut writer = Connection::open(&path).unwrap();
        let writing = writer
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .unwrap();
        assert_eq!(database.read("count jobs", count).await.unwrap(), 0);
        drop(writing);
        let remove = |connection: &Connection| connection.execute("DELETE FROM jobs", []);
        database.read("remove jobs", remove).await.unwrap_err();
        database.call("remove jobs", remove).await.unwrap();
    }

    /// Every message asks for what was allowed for good.
    #[tokio::test]
    async fn read_prepares_its_statement_once() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::at(dir.path().join("ledger.sqlite"));
        let prepared = |connection: &Connection| {
            let mut statement = connection.prepare_cached("SELECT count(*) FROM jobs")?;
            statement.query_row([], |row| row.get::<_, i64>(0))?;
            Ok(statement.get_status(StatementStatus::RePrepare))
        };
        for _ in 0..3 {
            assert_eq!(database.read("count jobs", prepared).await.unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn database_what_fails_is_undone_and_named() {
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
