//! Whether something can be written to the state directory.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use openclaw_config::room;

/// What is written for a trial.
const TRIAL: [u8; 4096] = [0; 4096];

/// Why nothing can be written, if so.
pub(super) async fn check(folder: PathBuf) -> Option<String> {
    // A disk that stands still must not take the whole gateway along.
    let tried = tokio::task::spawn_blocking(move || {
        write(&folder).map_err(|error| format!("cannot write to {}: {error}", folder.display()))
    });
    match tried.await {
        Ok(Ok(())) => None,
        Ok(Err(problem)) => Some(problem),
        Err(_) => Some("the trial was not made".to_owned()),
    }
}

/// Written through to the disk, and gone again when this returns. Where the gateway takes no
/// message for want of room, nothing can be written either.
fn write(folder: &Path) -> io::Result<()> {
    room::check(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".readyz-")
        .tempfile_in(folder)?;
    file.write_all(&TRIAL)?;
    file.as_file().sync_data()?;
    file.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn folder_that_cannot_be_written_to_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check(folder.path().to_owned()).await, None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let missing = folder.path().join("missing");
        let problem = check(missing.clone()).await.unwrap();
        assert!(problem.contains(missing.to_str().unwrap()), "{problem}");
    }
}
