//! What can go wrong with a backup.

use std::io;
use std::path::{Path, PathBuf};

use openclaw_config::state_lock;

/// Characters of what is said of a file that is no backup.
const PROBLEM: usize = 1000;

/// Why a backup was not made, or not put back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error("cannot {operation} {}", .path.display())]
    Io {
        /// What was to be done.
        operation: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A place in which others write too.
    #[error(transparent)]
    Folder(#[from] openclaw_folder::Error),
    /// A database, such as the ledger, could not be copied.
    #[error("cannot copy the database {}", .path.display())]
    Database {
        /// Its file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// Whoever began it has ended it.
    #[error("it was ended before it was whole, and nothing of it is left")]
    Ended,
    /// There is nothing to back up.
    #[error("there is no state directory {}", .0.display())]
    NoState(PathBuf),
    /// More than a backup takes.
    #[error("{} has more than {limit} files", .path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
        /// How many are taken.
        limit: usize,
    },
    /// Something is there that was not to be written over.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// The file is no backup, or not as it was written.
    #[error("{} is not a sound backup: {problem}", .path.display())]
    Unsound {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A later program made it.
    #[error(
        "{} has format {found}, and this program knows {known}: install the program that made it, version {program}, or a later one", .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The one that is known.
        known: u64,
        /// The version of the program that made it.
        program: String,
    },
    /// A daemon owns the state.
    #[error(transparent)]
    Held(#[from] state_lock::Error),
    /// A turn that goes on without its daemon uses the state.
    #[error("a turn is under way in the state directory {} (run {run})", .state.display())]
    UnderWay {
        /// The state directory.
        state: PathBuf,
        /// Its run.
        run: String,
    },
    /// The state directory cannot be exchanged as a whole.
    #[error("{} is a mount point, which cannot be exchanged for another folder", .0.display())]
    Mounted(PathBuf),
    /// The disk has no room.
    #[error("{} has {free} bytes free, and the backup takes {needed}", .path.display())]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// Bytes that are free there.
        free: u64,
        /// Bytes that are wanted.
        needed: u64,
    },
    /// A workspace whose files would be run, or obeyed, by themselves where they were.
    #[error("the workspace {} is not restored there: {why}", .place.display())]
    Obeyed {
        /// Where the backup has it.
        place: PathBuf,
        /// What is there.
        why: String,
    },
    /// Workspaces outside the state directory whose places are taken.
    #[error("workspaces outside the state directory are there already: {}", listed(.0))]
    Taken(Vec<PathBuf>),
}

impl Error {
    /// For `map_err`: what was to be done to `path`.
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            operation,
            path,
            source,
        }
    }

    pub(crate) fn unsound(path: &Path, problem: impl Into<String>) -> Self {
        Self::Unsound {
            path: path.to_owned(),
            problem: short(problem.into()),
        }
    }
}

/// A file may say anything, at any length.
fn short(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(PROBLEM) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn listed(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|it| it.display().to_string()).collect();
    shown.join(", ")
}
