//! A copy of a database that others write to meanwhile.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::Error;

/// How long a writer may keep the copy waiting.
const BUSY_DEADLINE: Duration = Duration::from_secs(30);

/// Copies the database at `path` into the folder `staging`: as it is at one
/// moment, with what only its log has. Its writers do not wait, and nothing of
/// it is written: not even its time, by which the gateway knows how far the
/// ledger is behind (`conversations/src/storage/orphans.rs`).
pub(crate) fn copy(path: &Path, staging: &Path) -> Result<File, Error> {
    let target = staging.join("copy.sqlite");
    let failed = |source| Error::Database {
        path: path.to_owned(),
        source,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY_DEADLINE).map_err(failed)?;
    let text = target.to_string_lossy();
    connection
        .execute("VACUUM INTO ?1", [&*text])
        .map_err(failed)?;
    drop(connection);
    let copied = File::open(&target).map_err(Error::io("open", &target))?;
    std::fs::remove_file(&target).map_err(Error::io("remove", &target))?;
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn copy_has_what_a_writer_that_is_open_has_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let writer = Connection::open(&path).unwrap();
        writer
            .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
            .unwrap();
        writer.pragma_update(None, "user_version", 7).unwrap();
        writer
            .execute_batch(
                "CREATE TABLE t (x); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)",
            )
            .unwrap();
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        let staging = tempfile::tempdir().unwrap();
        let mut copied = copy(&path, staging.path()).unwrap();
        writer.execute_batch("COMMIT").unwrap();
        let place = folder.path().join("copied.sqlite");
        std::io::copy(&mut copied, &mut File::create(&place).unwrap()).unwrap();
        let copied = Connection::open(&place).unwrap();
        let found: (i64, i64) = copied
            .query_row(
                "SELECT (SELECT count(*) FROM t), user_version FROM pragma_user_version",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        assert_eq!(found, (1, 7), "what was not committed is not there");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
        assert_eq!(fs::read_dir(staging.path()).unwrap().count(), 0);
    }

    #[test]
    fn copy_of_what_is_no_database_fails_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        fs::write(&path, "rubbish, and more of it than a head has".repeat(9)).unwrap();
        let error = copy(&path, folder.path()).unwrap_err().to_string();
        assert!(error.contains("a.sqlite"), "{error}");
    }
}
