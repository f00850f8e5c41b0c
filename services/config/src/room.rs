//! Room on the disk.

use std::path::Path;

use nix::sys::statvfs::statvfs;

/// Bytes that have to be free for a message to be taken: its answer, what is noted of it
/// and the log need room too. What is taken with less could be lost half-way.
pub const LEAST: u64 = 1 << 20;

/// Whether less than [`LEAST`] is free, for an ordinary user, where `path` is. Of a path
/// that is not there, and of a file system that does not count, nothing is known.
pub fn is_short(path: &Path) -> bool {
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
