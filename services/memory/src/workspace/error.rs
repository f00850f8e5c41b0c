//! What can go wrong with the files of a workspace.

use std::io;
use std::path::{Path, PathBuf};

use super::FILE_LIMIT;

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The system said no.
    #[error("cannot {operation} {path}")]
    Io {
        /// What was to be done.
        operation: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file of more than [`FILE_LIMIT`].
    #[error("{path} is too large: notes have at most {} MiB", FILE_LIMIT >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    pub(super) fn new(operation: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io {
            operation,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// The kind of failure, as far as the system said one.
    pub(crate) fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Io { source, .. } => source.kind(),
            Self::TooLarge { .. } => io::ErrorKind::FileTooLarge,
        }
    }
}
