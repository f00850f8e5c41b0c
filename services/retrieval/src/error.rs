//! What can go wrong, with the file it went wrong with.

use std::io;
use std::path::{Path, PathBuf};

/// An operation on the index or on a model that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a folder.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// A verb.
        operation: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The database.
    #[error("cannot {operation} in the index")]
    Database {
        /// A verb and an object.
        operation: &'static str,
        /// Why not.
        #[source]
        source: rusqlite::Error,
    },
    /// A file of an embedding model that is not what it should be.
    #[error("{} is no model this program can use: {reason}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A segment of the index that is not what was written.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The database is of a later version of this program.
    #[error("the index has format {found}, and this program knows formats up to {known}")]
    Newer {
        /// The format of the index.
        found: u32,
        /// The latest format that is known here.
        known: u32,
    },
}

impl Error {
    /// A function that makes the error of `operation` on `path`.
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            operation,
            path,
            source,
        }
    }

    /// A function that makes the error of `operation` on the database.
    pub(crate) fn database(operation: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { operation, source }
    }

    /// Whether the index on disk is damaged, so that opening it again makes it
    /// anew.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Damaged { .. } | Self::Newer { .. } => true,
            Self::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(DatabaseCorrupt | NotADatabase)
            ),
            _ => false,
        }
    }
}
