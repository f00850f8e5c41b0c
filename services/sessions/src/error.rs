//! What can go wrong with a session file.

use std::io;
use std::path::{Path, PathBuf};

use crate::key::InvalidKey;

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// What was tried.
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// No session may be made of that name.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The thread that did it ended early.
    #[error("the file operation broke off")]
    Interrupted,
    /// An entry could not be written as JSON.
    #[error("cannot encode an entry of {}", path.display())]
    Encode {
        /// The file the entry was for.
        path: PathBuf,
        /// The encoder's reason.
        #[source]
        source: serde_json::Error,
    },
    /// A file is not what it should be.
    #[error("{} is not what it should be", path.display())]
    Decode {
        /// The file.
        path: PathBuf,
        /// The decoder's reason.
        #[source]
        source: serde_json::Error,
    },
    /// An entry is longer than a line may be.
    #[error(
        "cannot append an entry of {length} bytes to {}: at most {limit} are allowed",
        path.display()
    )]
    TooLong {
        /// The file the entry was for.
        path: PathBuf,
        /// The entry's length.
        length: usize,
        /// The limit.
        limit: usize,
    },
}

impl Error {
    /// Whether the disk or the quota is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(
            self,
            Self::Io { source, .. } if matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            )
        )
    }

    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            operation,
            path: path.to_owned(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_told_from_other_errors() {
        let of = |kind: io::ErrorKind| Error::io("write", Path::new("/f"))(kind.into());
        assert!(of(io::ErrorKind::StorageFull).is_disk_full());
        assert!(of(io::ErrorKind::QuotaExceeded).is_disk_full());
        assert!(!of(io::ErrorKind::NotFound).is_disk_full());
        let long = Error::TooLong {
            path: PathBuf::from("/f"),
            length: 2,
            limit: 1,
        };
        assert!(!long.is_disk_full());
    }
}
