//! Room on the disk.

use std::io;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

/// Bytes that have to be free for a message to be taken: its answer, what is noted of it
/// and the log need room too. What is taken with less could be lost half-way.
pub const LEAST: u64 = 1 << 20;

/// Too little is free for a message and its answer.
#[derive(Debug, thiserror::Error)]
#[error(
    "less than {} KiB are free where {} is, and a message needs room for its answer; make room \
     there",
    LEAST / 1024, .path.display()
)]
pub struct Short {
    path: PathBuf,
    /// As the kernel would say it.
    #[source]
    source: io::Error,
}

impl From<Short> for io::Error {
    fn from(short: Short) -> Self {
        Self::new(io::ErrorKind::StorageFull, short)
    }
}

/// Refuses a place where less than [`LEAST`] is free, for an ordinary user. Of a path that
/// is not there, and of a file system that does not count, nothing is known.
pub fn check(path: &Path) -> Result<(), Short> {
    if !is_short(path) {
        return Ok(());
    }
    Err(Short {
        path: path.to_owned(),
        source: io::ErrorKind::StorageFull.into(),
    })
}

fn is_short(path: &Path) -> bool {
    let bytes = |blocks: u64, size: u64| blocks.saturating_mul(size);
    statvfs(path).is_ok_and(|found| {
        let free = bytes(found.blocks_available(), found.fragment_size());
        lacks(free, bytes(found.blocks(), found.fragment_size()))
    })
}

fn lacks(free: u64, whole: u64) -> bool {
    whole > 0 && free < LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_short_where_less_is_free() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_short(folder.path()));
        assert!(!is_short(&folder.path().join("none")));
        assert!(!is_short(Path::new("/proc")), "it has no blocks");
        assert!(lacks(LEAST - 1, 2 * LEAST) && !lacks(LEAST, 2 * LEAST));
    }
}
