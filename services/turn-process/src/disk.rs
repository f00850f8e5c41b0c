//! Room that a turn leaves on the disk. An ordinary user has no quotas to set,
//! and a limit on each file bounds no number of them; so what is left is looked
//! at while a turn runs, and the turn that uses it up is ended.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::statvfs::statvfs;

/// Room that is left to the rest of the machine: enough to log, to answer and
/// to clean up.
const RESERVE: u64 = 1 << 30;
/// Of a small disk it is this part: a twentieth.
const PART: u64 = 20;
/// Between two looks. A fast disk takes some hundred MiB meanwhile.
const PAUSE: Duration = Duration::from_millis(250);
/// When no more than this is left above the reserve, the next look is sooner.
const NEAR: u64 = 1 << 30;
/// Between two looks then; one costs a microsecond.
const NEAR_PAUSE: Duration = Duration::from_millis(10);

/// Names that are left to the rest of the machine: enough for what a turn needs to begin.
const NAMES: u64 = 10_000;
/// When no more than this many are left above those, the next look is sooner: a program makes
/// some ten thousand between two others.
const NEAR_NAMES: u64 = 100_000;

/// Watches the file systems that a turn writes to.
#[derive(Debug)]
pub(crate) struct Disk(Vec<Place>);

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// What has to be left.
    least: Room,
}

/// What is free of a file system, or all of it.
#[derive(Debug, Clone, Copy)]
struct Room {
    bytes: u64,
    /// Files that can be made (inodes). A file system that has as many as it has room for says 0
    /// of all.
    names: u64,
}

/// What is used up, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    /// Less than so many bytes are free.
    Bytes(u64),
    /// Fewer than so many files can be made.
    Names(u64),
}

impl fmt::Display for Short {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(least) => write!(formatter, "{} MiB are", least >> 20),
            Self::Names(least) => write!(formatter, "room for {least} files (inodes) is"),
        }
    }
}

impl Disk {
    /// What is to be left where these paths are. A disk that is full already
    /// is nobody's fault, and is not watched.
    pub(crate) fn watch(paths: &[PathBuf]) -> Self {
        let places = paths.iter().filter_map(|path| {
            let (free, whole) = room(path)?;
            let mut least = Room {
                bytes: RESERVE.min(whole.bytes / PART),
                names: NAMES.min(whole.names / PART),
            };
            if free.names <= least.names {
                least.names = 0;
            }
            let path = path.clone();
            (free.bytes > least.bytes).then_some(Place { path, least })
        });
        Self(places.collect())
    }

    /// The path where too little is left, and of what.
    pub(crate) fn used_up(&self) -> Option<(&PathBuf, Short)> {
        self.0.iter().find_map(|place| {
            let (free, _) = room(&place.path)?;
            let Room { bytes, names } = place.least;
            let short = if free.bytes < bytes {
                Short::Bytes(bytes)
            } else if free.names < names {
                Short::Names(names)
            } else {
                return None;
            };
            Some((&place.path, short))
        })
    }

    /// How long to wait before the next look.
    pub(crate) fn pause(&self) -> Duration {
        let is_near = |place: &Place| {
            let Room { bytes, names } = place.least;
            room(&place.path).is_some_and(|(free, _)| {
                free.bytes < bytes.saturating_add(NEAR)
                    || names > 0 && free.names < names.saturating_add(NEAR_NAMES)
            })
        };
        if self.0.iter().any(is_near) {
            NEAR_PAUSE
        } else {
            PAUSE
        }
    }
}

/// What is free for a user, and all there is.
fn room(path: &PathBuf) -> Option<(Room, Room)> {
    let found = statvfs(path).ok()?;
    let room = |blocks: u64, names: u64| Room {
        bytes: blocks.saturating_mul(found.fragment_size()),
        names,
    };
    let free = room(found.blocks_available(), found.files_available());
    Some((free, room(found.blocks(), found.files())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_room_is_not_used_up() {
        let disk = Disk::watch(&[std::env::temp_dir(), PathBuf::from("/no/such/place")]);
        assert!(disk.0.len() <= 1);
        assert!(disk.used_up().is_none());
        let full = |bytes, names| {
            Disk(vec![Place {
                path: std::env::temp_dir(),
                least: Room { bytes, names },
            }])
        };
        for (full, short) in [
            (full(u64::MAX, 0), Short::Bytes(u64::MAX)),
            (full(0, u64::MAX), Short::Names(u64::MAX)),
        ] {
            assert_eq!(full.used_up(), Some((&std::env::temp_dir(), short)));
            assert_eq!(full.pause(), NEAR_PAUSE);
        }
        assert_eq!(Disk(Vec::new()).pause(), PAUSE);
    }
}
