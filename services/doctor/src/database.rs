//! Whether the ledger is whole. A broken one is not mended here: what was in it
//! only a backup has.

use std::path::Path;
use std::time::Duration;

use openclaw_config::Paths;
use rusqlite::{Connection, ErrorCode, OpenFlags};

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
        Err(error) if is_damage(&error) => broken(&path, &error.to_string()),
        Err(error) => Check::warn(
            NAME,
            format!("{} cannot be looked at: {error}", path.display()),
            "ask again when its folder can be written and nobody keeps it locked",
        ),
    })
}

/// Whether it is about what is in the file, not about reaching it: a file system
/// that is read-only and a lock say nothing of the ledger.
fn is_damage(error: &rusqlite::Error) -> bool {
    let damage = [ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase];
    error
        .sqlite_error_code()
        .is_some_and(|code| damage.contains(&code))
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
        // What cannot be opened is not said to be damaged.
        fs::remove_file(paths.ledger()).unwrap();
        fs::create_dir(paths.ledger()).unwrap();
        let check = ledger(&paths).unwrap();
        assert_eq!(check.state, State::Warn);
        assert!(!check.fix.unwrap().contains("restore"));
    }
}
