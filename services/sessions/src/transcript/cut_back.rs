//! Taking back the last entries of a transcript.

use std::fs::{self, OpenOptions};
use std::path::Path;

use crate::disk;
use crate::error::Error;

/// What became of entries that were to be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutBack {
    /// They are gone, or were already.
    Gone,
    /// Other entries follow them, so they stay.
    Followed,
}

/// Takes back what was appended to the transcript at `path` when its length
/// went from `before` to `after` bytes, durably. A file that had nothing before
/// is removed. It must not be open, nor its end be in a journal.
///
/// # Errors
/// The file cannot be changed; its entries are still there.
pub fn cut_back(path: &Path, before: u64, after: u64) -> Result<CutBack, Error> {
    let Some(file) = disk::if_there(OpenOptions::new().write(true).open(path))
        .map_err(Error::io("open", path))?
    else {
        return Ok(CutBack::Gone);
    };
    let length = file.metadata().map_err(Error::io("look at", path))?.len();
    if length > after {
        return Ok(CutBack::Followed);
    }
    if before == 0 {
        fs::remove_file(path).map_err(Error::io("remove", path))?;
        disk::sync_dir(path.parent().unwrap_or(Path::new(".")))?;
    } else if length > before {
        file.set_len(before).map_err(Error::io("shorten", path))?;
        file.sync_data().map_err(Error::io("make durable", path))?;
    }
    Ok(CutBack::Gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_back_takes_the_end_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        assert_eq!(cut_back(&path, 0, 4).unwrap(), CutBack::Gone, "absent");
        fs::write(&path, "onetwo").unwrap();
        assert_eq!(cut_back(&path, 0, 3).unwrap(), CutBack::Followed);
        assert_eq!(fs::read(&path).unwrap(), b"onetwo");
        assert_eq!(cut_back(&path, 3, 6).unwrap(), CutBack::Gone);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(cut_back(&path, 3, 6).unwrap(), CutBack::Gone, "again");
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(cut_back(&path, 0, 3).unwrap(), CutBack::Gone);
        assert!(!path.exists());
    }
}
