//! How far indexing is.

use serde::Serialize;

use crate::wire::memory as wire;

/// How far indexing is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Files that were looked at and taken in where they had changed.
    pub files_done: u64,
    /// Files there are.
    pub files_total: u64,
    /// Passages in the index.
    pub chunks: u64,
    /// Files that could not be read.
    pub failed: u64,
    /// Whether this is the last word.
    pub done: bool,
}

impl From<wire::IndexProgress> for Progress {
    fn from(progress: wire::IndexProgress) -> Self {
        Self {
            files_done: progress.files_done,
            files_total: progress.files_total,
            chunks: progress.chunks,
            failed: progress.failed,
            done: progress.done,
        }
    }
}

impl From<Progress> for wire::IndexProgress {
    fn from(progress: Progress) -> Self {
        Self {
            files_done: progress.files_done,
            files_total: progress.files_total,
            chunks: progress.chunks,
            failed: progress.failed,
            done: progress.done,
        }
    }
}
