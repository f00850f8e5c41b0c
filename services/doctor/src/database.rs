//! Whether the ledger is whole. A broken one is not mended here: what was in it
//! only a backup has.

use std::path::Path;
use std::time::Duration;

use openclaw_config::Paths;
use rusqlite::{Connection, OpenFlags};

use crate::check::Check;

const NAME: &str = "ledger";
/// How long a writer may keep the look waiting.
const BUSY_DEADLINE: Duration = Duration::from_secs(5);
/// What SQLite says of a database that is whole.
const WHOLE: &str = "ok";

/// Looks at the ledger, if there is one.
pub(crate) fn ledger(paths: &Paths) -> Option<Check> {
    let path = paths.ledger();
    if !path.exists() {
        return None;
    }
    Some(match problem(&path) {
        Ok(None) => Check::ok(NAME, format!("{} is whole", path.display())),
        Ok(Some(problem)) => broken(&path, &problem),
        Err(error) => broken(&path, &error.to_string()),
    })
}

fn broken(path: &Path, problem: &str) -> Check {
    Check::fail(
        NAME,
        format!("{} is damaged: {problem}", path.display()),
        "put a backup back: openclawctl restore FILE; without one, stop the suite and move the \
         file away: conversations are in the transcripts, devices, jobs and approvals are lost",
    )
}

fn problem(path: &Path) -> rusqlite::Result<Option<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_DEADLINE)?;
    let said: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((said != WHOLE).then_some(said))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt as _;

    use super::*;
    use crate::check::State;

    #[test]
    fn ledger_that_is_damaged_is_told_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let paths = Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect()).unwrap();
        assert!(ledger(&paths).is_none());
        fs::create_dir(folder.path().join("state")).unwrap();
        let connection = Connection::open(paths.ledger()).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t (x TEXT);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                 INSERT INTO t SELECT 'some text to fill pages with ' || i FROM n",
            )
            .unwrap();
        drop(connection);
        assert_eq!(ledger(&paths).unwrap().state, State::Ok);
        let file = fs::File::options()
            .write(true)
            .open(paths.ledger())
            .unwrap();
        file.write_all_at(&[0xff; 4096], 8192).unwrap();
        let check = ledger(&paths).unwrap();
        assert_eq!(check.state, State::Fail);
        assert!(check.fix.unwrap().contains("openclawctl restore"));
        assert!(check.mend.is_none());
        fs::write(paths.ledger(), "rubbish ".repeat(100)).unwrap();
        assert_eq!(ledger(&paths).unwrap().state, State::Fail);
    }
}
