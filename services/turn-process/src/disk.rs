//! Room that a turn leaves on the disk. An ordinary user has no quotas to set,
//! and a limit on each file bounds no number of them; so what is left is looked
//! at while a turn runs, and the turn that uses it up is ended.

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

/// Watches the file systems that a turn writes to.
#[derive(Debug)]
pub(crate) struct Disk(Vec<Place>);

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// Bytes that have to be left.
    least: u64,
}

impl Disk {
    /// What is to be left where these paths are. A disk that is full already
    /// is nobody's fault, and is not watched.
    pub(crate) fn watch(paths: &[PathBuf]) -> Self {
        let places = paths.iter().filter_map(|path| {
            let (free, whole) = room(path)?;
            let least = RESERVE.min(whole / PART);
            let path = path.clone();
            (free > least).then_some(Place { path, least })
        });
        Self(places.collect())
    }

    /// The path where too little is left, and how much has to be.
    pub(crate) fn used_up(&self) -> Option<(&PathBuf, u64)> {
        let full = |place: &&Place| room(&place.path).is_some_and(|(free, _)| free < place.least);
        let place = self.0.iter().find(full)?;
        Some((&place.path, place.least))
    }

    /// How long to wait before the next look.
    pub(crate) fn pause(&self) -> Duration {
        let near = |place: &Place| {
            room(&place.path).is_some_and(|(free, _)| free < place.least.saturating_add(NEAR))
        };
        if self.0.iter().any(near) {
            NEAR_PAUSE
        } else {
            PAUSE
        }
    }
}

/// Bytes that are free for a user, and all there are.
fn room(path: &PathBuf) -> Option<(u64, u64)> {
    let found = statvfs(path).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.fragment_size());
    Some((bytes(found.blocks_available()), bytes(found.blocks())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_room_is_not_used_up() {
        let disk = Disk::watch(&[std::env::temp_dir(), PathBuf::from("/no/such/place")]);
        assert!(disk.0.len() <= 1);
        assert!(disk.used_up().is_none());
        let full = Disk(vec![Place {
            path: std::env::temp_dir(),
            least: u64::MAX,
        }]);
        assert_eq!(full.used_up(), Some((&std::env::temp_dir(), u64::MAX)));
        assert_eq!(full.pause(), NEAR_PAUSE);
        assert_eq!(Disk(Vec::new()).pause(), PAUSE);
    }
}
