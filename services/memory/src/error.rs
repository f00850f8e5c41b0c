//! Why a call cannot be answered, and what its caller is told.

#![expect(clippy::disallowed_types, reason = "it serves gRPC")]

use std::io::ErrorKind;

use openclaw_config::nearest;
use openclaw_daemon::failure;
use openclaw_proto::call;
use tonic::{Code, Status};

use crate::compact;
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
    /// Nothing to look for.
    #[error("the query is empty; say what is to be looked for")]
    QueryEmpty,
    /// A corpus that is not here.
    #[error("there is no corpus {corpus:?}; there are memory, sessions and all")]
    Corpus {
        /// As it was given.
        corpus: String,
    },
    /// A score that no passage can have.
    #[error("the minimum score is {score}; it must be 0 to 1")]
    MinScore {
        /// As it was given.
        score: f64,
    },
    /// A path that is not searched.
    #[error(
        "{path:?} is no file of this memory; there are MEMORY.md, USER.md, SOUL.md, AGENTS.md, \
         IDENTITY.md, memory/….md, sessions/….jsonl and the configured extra paths"
    )]
    NoMemory {
        /// As it was given.
        path: String,
    },
    /// A note that is not there.
    #[error("there is no note {path}")]
    NoSuchNote {
        /// Relative to the workspace.
        path: String,
    },
    /// Lines that are not there.
    #[error("{path} has lines 1 to {total}, not {from} to {to}")]
    NoSuchLines {
        /// Relative to the workspace.
        path: String,
        /// The first.
        from: u32,
        /// The last.
        to: u32,
        /// How many there are.
        total: u32,
    },
    /// A file that somebody else writes.
    #[error("{path} is {whose}")]
    NotOurs {
        /// As a hit names it.
        path: String,
        /// Whose, and what to do.
        whose: &'static str,
    },
    /// The workspace's files.
    #[error(transparent)]
    Workspace(#[from] workspace::Error),
    /// A file that cannot be read.
    #[error(transparent)]
    Intake(#[from] crate::intake::Error),
    /// The index.
    #[error(transparent)]
    Index(#[from] openclaw_retrieval::Error),
    /// A conversation that cannot be compacted.
    #[error(transparent)]
    Compact(#[from] crate::compact::Error),
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
            Error::NoteEmpty
            | Error::NoteTooLong { .. }
            | Error::QueryEmpty
            | Error::Corpus { .. }
            | Error::MinScore { .. }
            | Error::NoMemory { .. }
            | Error::NoSuchLines { .. } => Code::InvalidArgument,
            Error::NoSuchNote { .. } => Code::NotFound,
            Error::NotOurs { .. } => Code::FailedPrecondition,
            Error::Compact(error) => compact_code(error),
            Error::Intake(_) | Error::Index(_) => Code::Internal,
            Error::NoteFull { .. } => Code::ResourceExhausted,
            Error::Workspace(error) => workspace_code(error),
            Error::Work(_) => Code::Internal,
            Error::Ending => Code::Unavailable,
        };
        let message = failure::chain(&error);
        match remedy(code, &error) {
            Some(remedy) => call::refused(code, message, &remedy),
            None => Self::new(code, message),
        }
    }
}

fn compact_code(error: &compact::Error) -> Code {
    match error {
        compact::Error::NoRoom { .. } | compact::Error::SessionId { .. } => Code::InvalidArgument,
        compact::Error::NoTranscript { .. } => Code::NotFound,
        compact::Error::Transcript(_) | compact::Error::Tokenizer(_) => Code::Internal,
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

fn remedy(code: Code, error: &Error) -> Option<String> {
    let remedy = match (code, error) {
        (_, Error::UnknownAgent { id, known }) => {
            return nearest::question(id, known.iter().map(String::as_str));
        }
        (Code::PermissionDenied, Error::Workspace(_)) => {
            "let the user of this service read and write there (chown, chmod, or a drop-in with \
             ReadWritePaths= for openclaw-memory.service), or set agents.defaults.workspace to \
             another folder"
        }
        (Code::FailedPrecondition, Error::Workspace(_)) => {
            "the workspace must be a folder, see agents.defaults.workspace"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
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
    fn error_what_may_not_be_read_is_told_with_the_path_and_the_fix() {
        let status = status(ErrorKind::PermissionDenied);
        assert_eq!(status.code(), Code::PermissionDenied);
        let told = call::CallError::from(status).to_string();
        for part in [
            "cannot open \"/home/ada/workspace\": permission denied;",
            "ReadWritePaths=",
        ] {
            assert!(told.contains(part), "{told}");
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
