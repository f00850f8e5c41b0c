//! What can go wrong with files in a folder.

use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use openclaw_words as words;

/// An operation on a file that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A symbolic link is in its place, or on the way to it.
    #[error(
        "cannot {operation} {path:?}: it is, or leads through, a symbolic link, which is not followed"
    )]
    Link {
        /// What was to be done.
        operation: &'static str,
        /// To what.
        path: PathBuf,
    },
    /// The path is absolute, or has `..` in it.
    #[error("cannot {operation} {path:?}: the path leads out of its folder")]
    Outside {
        /// What was to be done.
        operation: &'static str,
        /// To what.
        path: PathBuf,
    },
    /// More bytes than the reader takes.
    #[error("cannot read {path:?}: it is larger than {}", words::bytes(*limit))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// In bytes.
        limit: u64,
    },
    /// Somebody holds a lease on it, as file servers do, and was asked for it.
    #[error(
        "cannot {operation} {path:?}: another program holds it (a lease, fcntl(2)) and did not \
         let it go; it is free when that program ends"
    )]
    Leased {
        /// What was to be done.
        operation: &'static str,
        /// To what.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot {operation} {path:?}")]
    Io {
        /// What was to be done.
        operation: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn new(operation: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        let (path, source) = (path.to_owned(), source.into());
        match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ELOOP) => Self::Link { operation, path },
            Some(Errno::EXDEV) => Self::Outside { operation, path },
            Some(Errno::EAGAIN) => Self::Leased { operation, path },
            _ => Self::Io {
                operation,
                path,
                source,
            },
        }
    }

    /// The kind of failure, as the system would say it.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Link { .. } | Self::Outside { .. } => io::ErrorKind::PermissionDenied,
            Self::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            Self::Leased { .. } => io::ErrorKind::ResourceBusy,
            Self::Io { source, .. } => source.kind(),
        }
    }
}

/// For callers whose errors are those of the system.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
