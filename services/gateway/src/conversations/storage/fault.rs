//! Why something is not on disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_proto::invalid::Invalid;

use super::ledger::LedgerError;

/// A failure of the storage; shared, because one failed sync is the failure of
/// every command that waited for it.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Session(Arc<openclaw_sessions::Error>),
    #[error("the ledger {} failed", path.display())]
    Ledger {
        path: PathBuf,
        #[source]
        source: Arc<LedgerError>,
    },
    #[error("cannot create {}", path.display())]
    Create {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    /// As OpenClaw says it.
    #[error("send blocked by session policy")]
    Blocked,
    #[error("cannot start the storage thread")]
    Thread(#[source] Arc<io::Error>),
    #[error("a session cannot be listed")]
    Row(#[from] Invalid),
    #[error("the storage thread ended")]
    Stopped,
}

impl Fault {
    pub(super) fn ledger(path: &Path) -> impl Fn(LedgerError) -> Self {
        move |source| Self::Ledger {
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }

    /// A file or folder could not be written.
    pub(crate) fn create(path: &Path, source: io::Error) -> Self {
        Self::Create {
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }

    /// A file could not be read.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            source: Arc::new(source),
        }
    }

    pub(super) fn thread(source: io::Error) -> Self {
        Self::Thread(Arc::new(source))
    }

    /// Whether there is no room on the disk.
    pub(crate) fn is_disk_full(&self) -> bool {
        match self {
            Self::Session(error) => error.is_disk_full(),
            Self::Ledger { source, .. } => source.is_disk_full(),
            Self::Create { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ),
            _ => false,
        }
    }
}

impl From<openclaw_sessions::Error> for Fault {
    fn from(error: openclaw_sessions::Error) -> Self {
        Self::Session(Arc::new(error))
    }
}
