//! Why a conversation cannot be compacted.

use std::path::PathBuf;

/// A compaction that cannot be planned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Less room than a message needs.
    #[error(
        "there is no room for a conversation: {reserved} of {total} tokens are reserved, and at \
         least {least} must be left"
    )]
    NoRoom {
        /// In tokens.
        total: usize,
        /// In tokens.
        reserved: usize,
        /// In tokens.
        least: usize,
    },
    /// A session id that is not a file name.
    #[error("{id:?} is no session id")]
    SessionId {
        /// As it was given.
        id: String,
    },
    /// A session without a transcript.
    #[error("there is no transcript {path}")]
    NoTranscript {
        /// Where it would be.
        path: PathBuf,
    },
    /// A transcript that cannot be read.
    #[error("read the conversation")]
    Transcript(#[source] openclaw_sessions::Error),
    /// The tokenizer's own table is broken.
    #[error("load the tokenizer: {0}")]
    Tokenizer(String),
}
