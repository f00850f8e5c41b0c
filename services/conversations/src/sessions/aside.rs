//! Lines of transcripts that are no entries.

use std::path::{Path, PathBuf};

use openclaw_daemon::failure;
use openclaw_sessions::transcript;

use super::Sessions;

impl Sessions {
    /// Copies the lines at `corrupt` to a file beside the transcript, and tells
    /// of those that are not there yet. Returns that file, when there is one.
    pub async fn keep_aside(&self, transcript: &Path, corrupt: &[u64]) -> Option<PathBuf> {
        if corrupt.is_empty() {
            return None;
        }
        let (path, offsets) = (transcript.to_owned(), corrupt.to_owned());
        let aside = transcript::aside_path(transcript);
        match self.storage.keep_aside(path, offsets).await {
            Ok(0) => {}
            Ok(lines) => tracing::warn!(
                lines,
                path = %transcript.display(),
                aside = %aside.display(),
                "the transcript has lines that are no entries; they are skipped, and copied to a file beside it"
            ),
            Err(fault) => {
                failure::report(
                    "copy lines that are no entries, they stay in the transcript",
                    &fault,
                );
                return None;
            }
        }
        Some(aside)
    }
}
