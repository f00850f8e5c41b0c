//! Whether a file is still the one that was read.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::stat::SFlag;
use openclaw_folder::FileStat;

/// Two writes can fall into one tick of the file system's clock (4 ms at
/// HZ=250, 10 ms at most); a file this young may change once more and look the
/// same.
const TICK_NS: i128 = 20_000_000;

/// Whoever has not closed a file so long after writing to it writes a log.
const WRITING_NS: i128 = 60_000_000_000;

/// What changes when a file does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    size: i64,
    /// Nanoseconds since 1970; the change time goes with every write and
    /// cannot be set back.
    modified: i128,
    changed: i128,
}

impl Stamp {
    /// None when it is not a regular file.
    pub(super) fn of(status: &FileStat) -> Option<Self> {
        let kind = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT;
        (kind == SFlag::S_IFREG).then(|| Self {
            inode: status.st_ino,
            size: status.st_size,
            modified: nanoseconds(status.st_mtime, status.st_mtime_nsec),
            changed: nanoseconds(status.st_ctime, status.st_ctime_nsec),
        })
    }

    /// Whether a write that has just ended could have left the same stamp.
    pub(crate) fn is_young(&self) -> bool {
        (now_ns() - self.changed).abs() < TICK_NS
    }

    /// Whether whoever wrote may still have it open.
    pub(crate) fn is_fresh(&self) -> bool {
        (now_ns() - self.changed).abs() < WRITING_NS
    }

    /// In bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size.unsigned_abs()
    }

    /// Unix milliseconds of the last write.
    pub(crate) fn modified_ms(&self) -> i64 {
        (self.modified / 1_000_000) as i64
    }
}

fn now_ns() -> i128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as i128)
}

/// As the index keeps it.
impl fmt::Display for Stamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            inode,
            size,
            modified,
            changed,
        } = self;
        write!(formatter, "{inode:x}-{size:x}-{modified:x}-{changed:x}")
    }
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}
