//! Room that a turn, or a server of tools, leaves on the disk. An ordinary user
//! has no quotas to set, and a limit on each file bounds no number of them; so
//! what is left is looked at while it runs, and who uses it up is ended.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::statvfs::statvfs;

/// Room that is left to the rest of the machine: enough to log, to answer and to clean up.
const RESERVE: u64 = 1 << 30;
/// The reserve of a small disk, as a part of it: a twentieth.
const PART: u64 = 20;
/// Of what is free where less than the reserve is left already, a turn may use this part: an
/// ordinary turn needs little, and what turns leave comes together.
const SHARE: u64 = 16;
/// And none does where no more than this part of the reserve is left: who else writes there, the
/// suite itself among them, still can.
const FLOOR: u64 = 8;
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
pub struct Disk(Vec<Place>);

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// The space that must be left.
    least: Room,
    /// Whether less than the reserve was left before the turn.
    before: bool,
}

/// The free space of a file system, or its size.
#[derive(Debug, Clone, Copy)]
struct Room {
    bytes: u64,
    /// Files that can be made (inodes). A file system that has as many as it has room for says 0
    /// of all.
    names: u64,
}

/// The shortage on the file system of `path`, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Short {
    path: PathBuf,
    what: What,
    /// Whether it was short before the turn.
    before: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Less than so many bytes are free.
    Bytes(u64),
    /// Fewer than so many files can be made.
    Names(u64),
}

/// For people, with the way out.
impl fmt::Display for Short {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = match self.what {
            What::Bytes(least) => format!("{} MiB are to stay free", least >> 20),
            What::Names(least) => format!("room for {least} files (inodes) is to stay free"),
        };
        let path = self.path.display();
        if self.before {
            write!(
                formatter,
                "the disk that {path} is on is nearly full, and {kept}; remove something there, such \
                 as what earlier turns left"
            )
        } else {
            write!(
                formatter,
                "it has used up the disk that {path} is on, of which {kept}; remove what it wrote there"
            )
        }
    }
}

impl Disk {
    /// What is to be left where these paths are. A disk that is nearly full is nobody's fault, and a
    /// turn may have a little of it: see [`kept`].
    #[must_use]
    pub fn watch(paths: &[PathBuf]) -> Self {
        let places = paths.iter().filter_map(|path| {
            let (free, whole) = room(path)?;
            let reserve = Room {
                bytes: RESERVE.min(whole.bytes / PART),
                names: NAMES.min(whole.names / PART),
            };
            Some(Place {
                path: path.clone(),
                least: Room {
                    bytes: kept(free.bytes, reserve.bytes),
                    names: kept(free.names, reserve.names),
                },
                before: free.bytes <= reserve.bytes
                    || (reserve.names > 0 && free.names <= reserve.names),
            })
        });
        Self(places.collect())
    }

    /// The path with too little left, and what is short.
    #[must_use]
    pub fn used_up(&self) -> Option<Short> {
        self.0.iter().find_map(|place| {
            let (free, _) = room(&place.path)?;
            let Room { bytes, names } = place.least;
            let what = if free.bytes < bytes {
                What::Bytes(bytes)
            } else if free.names < names {
                What::Names(names)
            } else {
                return None;
            };
            Some(Short {
                path: place.path.clone(),
                what,
                before: place.before,
            })
        })
    }

    /// Waits until too little is left.
    pub async fn until_used_up(&self) -> Short {
        loop {
            if let Some(short) = self.used_up() {
                return short;
            }
            tokio::time::sleep(self.pause()).await;
        }
    }

    /// How long to wait before the next look.
    #[must_use]
    pub fn pause(&self) -> Duration {
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

/// What a turn leaves of what is `free`: the reserve, or of less than that all but a share, as
/// long as something worth the name is left. A file system that counts no names has none to keep.
fn kept(free: u64, reserve: u64) -> u64 {
    if free > reserve {
        reserve
    } else {
        (free - free / SHARE).max(reserve / FLOOR)
    }
}

/// The space that is free for a user, and all there is.
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
    fn disk_with_room_is_not_used_up() {
        let disk = Disk::watch(&[std::env::temp_dir(), PathBuf::from("/no/such/place")]);
        assert!(disk.0.len() <= 1);
        assert!(disk.used_up().is_none());
        let full = |bytes, names, before| {
            Disk(vec![Place {
                path: std::env::temp_dir(),
                least: Room { bytes, names },
                before,
            }])
        };
        for (full, what, said) in [
            (
                full(u64::MAX, 0, false),
                What::Bytes(u64::MAX),
                "MiB are to stay free; remove what it wrote there",
            ),
            (
                full(0, u64::MAX, true),
                What::Names(u64::MAX),
                "(inodes) is to stay free; remove something there",
            ),
        ] {
            let short = full.used_up().unwrap();
            assert_eq!((&short.path, short.what), (&std::env::temp_dir(), what));
            assert!(short.to_string().contains(said), "{short}");
            assert_eq!(full.pause(), NEAR_PAUSE);
        }
        assert_eq!(Disk(Vec::new()).pause(), PAUSE);
    }

    #[test]
    fn turns_one_after_the_other_leave_something_of_the_reserve() {
        let mut free = 3 * RESERVE;
        for _ in 0..1000 {
            let least = kept(free, RESERVE);
            assert!((RESERVE / FLOOR..=RESERVE).contains(&least), "{least}");
            free = free.min(least);
        }
        assert!(free < kept(free, RESERVE) + RESERVE / FLOOR / SHARE);
        assert_eq!(
            kept(RESERVE / FLOOR - 1, RESERVE),
            RESERVE / FLOOR,
            "none begins"
        );
        assert_eq!(kept(0, 0), 0, "no names are counted");
    }
}
