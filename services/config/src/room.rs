//! Room on the disk.

use std::io;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

/// Bytes that have to be free for a message to be taken: its answer, what is noted of it
/// and the log need room too. What is taken with less could be lost half-way.
pub const LEAST: u64 = 1 << 20;

/// Bytes that are left to everybody else by what takes much at once, and need not: an import.
pub const RESERVE: u64 = 1 << 30;

/// Of a small disk less is left: one part in so many.
const RESERVE_PART: u64 = 10;

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

/// The bytes that may be used where `path` is so that [`RESERVE`] stays free; as many as there
/// are numbers where nothing is known of it, as [`check`] has it.
pub fn beside_reserve(path: &Path) -> u64 {
    let room = free_and_whole(path).filter(|(_, whole)| *whole > 0);
    room.map_or(u64::MAX, |(free, whole)| {
        free.saturating_sub(RESERVE.min(whole / RESERVE_PART))
    })
}

fn is_short(path: &Path) -> bool {
    free_and_whole(path).is_some_and(|(free, whole)| lacks(free, whole))
}

/// In bytes; what is free is so for an ordinary user.
fn free_and_whole(path: &Path) -> Option<(u64, u64)> {
    let found = statvfs(path).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.fragment_size());
    Some((bytes(found.blocks_available()), bytes(found.blocks())))
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
        assert_eq!(beside_reserve(Path::new("/proc")), u64::MAX);
        let (free, _) = free_and_whole(folder.path()).unwrap();
        assert!(beside_reserve(folder.path()) < free);
        assert!(lacks(LEAST - 1, 2 * LEAST) && !lacks(LEAST, 2 * LEAST));
    }
}
