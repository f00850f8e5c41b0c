//! Why a call cannot be answered, and what its caller is told.

use std::io::ErrorKind;

use openclaw_daemon::failure;
use tonic::{Code, Status};

use crate::workspace;

/// A call that cannot be answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An agent that the configuration does not name.
    #[error("there is no agent {id:?}; the configuration has {}", known.join(", "))]
    UnknownAgent {
        /// The id asked for.
        id: String,
        /// The ids there are.
        known: Vec<String>,
    },
    /// Nothing to remember.
    #[error("the note is empty; say what is to be remembered")]
    NoteEmpty,
    /// Too much to remember at once.
    #[error("the note has {size} bytes, {limit} are allowed; put it in a file of its own")]
    NoteTooLong {
        /// In bytes.
        size: usize,
        /// In bytes.
        limit: usize,
    },
    /// The day's file is full.
    #[error("{path} is full; move what is to stay to another file")]
    NoteFull {
        /// Relative to the workspace.
        path: String,
    },
    /// The workspace's files.
    #[error(transparent)]
    Workspace(#[from] workspace::Error),
    /// Work that ended without a result.
    #[error("the work on the workspace ended without a result")]
    Work(#[from] tokio::task::JoinError),
    /// The daemon is ending.
    #[error("the memory daemon is ending")]
    Ending,
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::UnknownAgent { .. } => Code::NotFound,
            Error::NoteEmpty | Error::NoteTooLong { .. } => Code::InvalidArgument,
            Error::NoteFull { .. } => Code::ResourceExhausted,
            Error::Workspace(error) => workspace_code(error),
            Error::Work(_) => Code::Internal,
            Error::Ending => Code::Unavailable,
        };
        Self::new(
            code,
            format!("{}{}", failure::chain(&error), advice(code, &error)),
        )
    }
}

fn workspace_code(error: &workspace::Error) -> Code {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Code::PermissionDenied,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            Code::FailedPrecondition
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            Code::ResourceExhausted
        }
        _ => Code::Internal,
    }
}

fn advice(code: Code, error: &Error) -> &'static str {
    match (code, error) {
        (Code::PermissionDenied, Error::Workspace(_)) => {
            "; let the user of this service read and write there (chown, chmod, or a drop-in with \
             ReadWritePaths= for openclaw-memory.service), or set agents.defaults.workspace to \
             another folder"
        }
        (Code::FailedPrecondition, Error::Workspace(_)) => {
            "; the workspace must be a folder, see agents.defaults.workspace"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;

    fn status(kind: ErrorKind) -> Status {
        let error = workspace::Error::Io {
            operation: "open",
            path: PathBuf::from("/home/ada/workspace"),
            source: io::Error::from(kind),
        };
        Status::from(Error::from(error))
    }

    #[test]
    fn what_may_not_be_read_is_told_with_the_path_and_the_fix() {
        let status = status(ErrorKind::PermissionDenied);
        assert_eq!(status.code(), Code::PermissionDenied);
        for part in [
            "cannot open /home/ada/workspace: permission denied;",
            "ReadWritePaths=",
        ] {
            assert!(status.message().contains(part), "{}", status.message());
        }
    }

    #[test]
    fn failures_that_need_different_answers_have_different_codes() {
        assert_eq!(
            status(ErrorKind::StorageFull).code(),
            Code::ResourceExhausted
        );
        assert_eq!(
            status(ErrorKind::NotADirectory).code(),
            Code::FailedPrecondition
        );
        assert_eq!(status(ErrorKind::Other).code(), Code::Internal);
    }
}
