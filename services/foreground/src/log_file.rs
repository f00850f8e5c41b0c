//! The log of `run` on the disk, where `openclawctl logs` finds it: what a journal
//! is to the units.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use openclaw_config::Paths;

/// Bytes of a file, after which it becomes the earlier one: some weeks of a
/// suite that is used every day.
const BYTE_LIMIT: u64 = 16 << 20;

/// Where it is.
#[must_use]
pub fn path(paths: &Paths) -> PathBuf {
    paths.run_log()
}

/// What was logged before the file at `path` was begun.
#[must_use]
pub fn earlier(path: &Path) -> PathBuf {
    path.with_extension("1.jsonl")
}

/// The file.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    length: u64,
}

impl LogFile {
    /// Opens the file of `paths`, to go on in it.
    pub(crate) fn open(paths: &Paths) -> io::Result<Self> {
        let path = path(paths);
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let open = Mutex::new(Open::at(&path)?);
        Ok(Self { path, open })
    }

    /// Adds a line. What cannot be kept is still on standard error.
    pub(crate) fn add(&self, line: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{}\n", openclaw_terminal::output::json(line));
        if open.length + line.len() as u64 > BYTE_LIMIT {
            let _ = fs::rename(&self.path, earlier(&self.path));
            if let Ok(next) = Open::at(&self.path) {
                *open = next;
            }
        }
        if open.file.write_all(line.as_bytes()).is_ok() {
            open.length += line.len() as u64;
        } else {
            // Of a full disk a piece remains, with which the next record would be one line.
            let _ = open.file.set_len(open.length);
        }
    }
}

impl Open {
    fn at(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600);
        let file = options.open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file, length })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use openclaw_config::Environment;

    use super::*;

    #[test]
    fn full_file_becomes_the_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state), ("HOME", state)]
            .into_iter()
            .collect();
        let paths = Paths::resolve(&environment).unwrap();
        let log = LogFile::open(&paths).unwrap();
        let path = path(&paths);
        log.add("{\"a\":1}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let long = format!("\"{}\"", "x".repeat(BYTE_LIMIT as usize / 2));
        log.add(&long);
        log.add(&long);
        assert_eq!(
            fs::metadata(earlier(&path)).unwrap().len(),
            8 + long.len() as u64 + 1
        );
        assert_eq!(fs::metadata(&path).unwrap().len(), long.len() as u64 + 1);
        let again = LogFile::open(&paths).unwrap();
        assert_eq!(again.open.lock().unwrap().length, long.len() as u64 + 1);
    }
}
