//! What a restored state directory says of itself, `state/restored.json`: from a
//! backup of which moment it is. The gateway reads it, and begins nothing again
//! that was under way then: the suite that was backed up has gone on with it.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::write;

/// Where a state directory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// When the backup was made, in Unix milliseconds.
    pub made_ms: i64,
    /// When it was put back: what is older and not ended came with it.
    pub restored_ms: i64,
    /// Whether the ledger was told.
    pub taken: bool,
}

impl Restored {
    /// What the file at `path` says; None: there is none, or it says nothing.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Writes it, for its owner alone.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        write::atomic(path, &serde_json::to_vec(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restored_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/restored.json");
        assert_eq!(Restored::read(&path), None);
        let restored = Restored {
            made_ms: 1,
            restored_ms: 2,
            taken: false,
        };
        restored.write(&path).unwrap();
        assert_eq!(Restored::read(&path), Some(restored));
        fs::write(&path, "rubbish").unwrap();
        assert_eq!(Restored::read(&path), None);
    }
}
