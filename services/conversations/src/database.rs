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

use super::schema::{self, SchemaError};

/// How long a writer of the same file may take.
const BUSY_DEADLINE: Duration = Duration::from_secs(5);

/// KiB of page cache; the tables have some dozen rows.
const CACHE_KIB: i64 = 64;

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
            empty => empty.insert(self.open().map_err(|source| Fault::Open {
                path: self.path.clone(),
                source: Arc::new(source),
            })?),
        };
        let transaction = connection.transaction().map_err(fault)?;
        let result = work(&transaction).map_err(fault)?;
        transaction.commit().map_err(fault)?;
        Ok(result)
    }

    fn open(&self) -> Result<Connection, SchemaError> {
        let mut connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY_DEADLINE)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        schema::bring_up_to_date(&mut connection)?;
        Ok(connection)
    }
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
