//! Why something is not on disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_config::room;
use openclaw_proto::invalid::Invalid;
use openclaw_sessions::InvalidKey;
use rusqlite::ErrorCode;

use crate::schema::SchemaError;

/// Why the ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// SQLite refused.
    #[error("cannot {operation} the ledger")]
    Sqlite {
        /// The operation.
        operation: &'static str,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// Its tables cannot be made, or a newer gateway made them.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Its log cannot be put on disk.
    #[error("cannot put the ledger on disk")]
    Sync {
        /// The kernel's error.
        #[source]
        source: io::Error,
    },
    /// It cannot be in WAL mode, but only in that one.
    #[error("the ledger's journal mode is {0:?} instead of WAL: is it on a network file system?")]
    NoWal(String),
}

impl LedgerError {
    fn is_lasting(&self) -> bool {
        match self {
            Self::Schema(SchemaError::Newer(_)) | Self::NoWal(_) => true,
            Self::Sqlite { source, .. } | Self::Schema(SchemaError::Sqlite(source)) => matches!(
                source.sqlite_error_code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ),
            Self::Sync { .. } => false,
        }
    }
}

/// A failure of the storage; shared, because one failed sync is the failure of
/// every command that waited for it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// A transcript or an index failed.
    #[error(transparent)]
    Session(Arc<openclaw_sessions::Error>),
    /// The ledger failed.
    #[error("the ledger {} failed", path.display())]
    Ledger {
        /// Its file.
        path: PathBuf,
        /// The underlying error.
        #[source]
        source: Arc<LedgerError>,
    },
    /// A file or folder cannot be written.
    #[error("cannot create {}", path.display())]
    Create {
        /// Which one.
        path: PathBuf,
        /// The kernel's error.
        #[source]
        source: Arc<io::Error>,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// The kernel's error.
        #[source]
        source: Arc<io::Error>,
    },
    /// Too little is free for a message and its answer.
    #[error(transparent)]
    NoRoom(Arc<room::Short>),
    /// As OpenClaw says it.
    #[error("send blocked by session policy")]
    Blocked,
    /// No session may be made of that name.
    #[error(transparent)]
    Key(InvalidKey),
    /// There is no thread for the storage.
    #[error("cannot start the storage thread")]
    Thread(#[source] Arc<io::Error>),
    /// A session has a field that clients cannot be told.
    #[error("a session cannot be listed")]
    Row(#[from] Invalid),
    /// The storage was stopped.
    #[error("the storage thread ended")]
    Stopped,
}

impl Fault {
    pub(crate) fn ledger(path: &Path) -> impl Fn(LedgerError) -> Self {
        move |source| Self::Ledger {
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }

    /// A file or folder could not be written.
    pub fn create(path: &Path, source: io::Error) -> Self {
        Self::Create {
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }

    /// A file could not be read.
    pub fn read(path: &Path, source: io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }

    pub(crate) fn thread(source: io::Error) -> Self {
        Self::Thread(Arc::new(source))
    }

    /// Whether trying again changes nothing: the files are damaged, of a newer gateway,
    /// or where they cannot be used.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Ledger { source, .. } if source.is_lasting())
    }
}

impl From<openclaw_sessions::Error> for Fault {
    fn from(error: openclaw_sessions::Error) -> Self {
        match error {
            openclaw_sessions::Error::Key(invalid) => Self::Key(invalid),
            error => Self::Session(Arc::new(error)),
        }
    }
}
