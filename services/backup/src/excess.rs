//! How much more the files of agents say than lies on the disk.
//!
//! A second's work makes files of terabytes that take no room: holes, and one
//! file under many names. Reading them would take a backup days, and a restore
//! would have to find the room, so that all of them together have a bound.
//!
//! Copies that share their blocks (FICLONE) count as what they are to whoever restores
//! them, data: which extents are shared is told by FIEMAP alone, for which there is no
//! safe call, and of a file system that presses or joins extents by itself it says as
//! much of files that nobody cloned.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Bytes that the files of agents may say beyond what lies on the disk, in one
/// backup: a database or an image of a disk of some size has them for a reason.
pub(crate) const EXCESS_LIMIT: u64 = 1 << 30;
/// Pieces of a file that are counted: what comes after them counts as holes.
const PIECES_LIMIT: usize = 65_536;

/// What of [`EXCESS_LIMIT`] is used up.
#[derive(Debug, Default)]
pub(crate) struct Excess {
    bytes: u64,
    /// Files that were taken already and have several names.
    taken: HashSet<(u64, u64)>,
}

impl Excess {
    /// How many bytes of `file` may be taken, which are all that it has now: its
    /// excess fits what is left, and is used up. None: it does not. Leaves the
    /// file at its beginning.
    pub(crate) fn takes(&mut self, file: &File) -> io::Result<Option<u64>> {
        let found = file.metadata()?;
        let more = if self.is_another_name(&found) {
            found.len()
        } else {
            found.len().saturating_sub(on_disk(file, &found)?)
        };
        let all = self.bytes.saturating_add(more);
        if all > EXCESS_LIMIT {
            return Ok(None);
        }
        self.bytes = all;
        if found.nlink() > 1 {
            self.taken.insert((found.dev(), found.ino()));
        }
        Ok(Some(found.len()))
    }

    fn is_another_name(&self, found: &Metadata) -> bool {
        found.nlink() > 1 && self.taken.contains(&(found.dev(), found.ino()))
    }
}

/// Bytes of `file` that are data and no holes.
fn on_disk(file: &File, found: &Metadata) -> io::Result<u64> {
    /// Bytes of a block of `st_blocks` (stat(2)).
    const BLOCK: u64 = 512;
    if found.blocks().saturating_mul(BLOCK) >= found.len() {
        return Ok(found.len());
    }
    // A file system may press what it holds together, which is no hole.
    let counted = data(file, found.len());
    seek(file, SeekFrom::Start(0))?;
    counted
}

fn data(file: &File, length: u64) -> io::Result<u64> {
    let mut bytes = 0_u64;
    let mut at = 0;
    for _ in 0..PIECES_LIMIT {
        let from = match seek(file, SeekFrom::Data(at)) {
            Ok(from) => from,
            // There is nothing but a hole from there on.
            Err(Errno::NXIO) => break,
            // It knows of no holes.
            Err(Errno::INVAL) => return Ok(length),
            Err(error) => return Err(error.into()),
        };
        at = seek(file, SeekFrom::Hole(from))?;
        bytes = bytes.saturating_add(at.saturating_sub(from));
        if at >= length {
            break;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read as _, Seek as _, Write as _};
    use std::path::Path;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn sparse(path: &Path, data: u64, length: u64) -> File {
        let mut file = File::create_new(path).unwrap();
        file.seek(io::SeekFrom::Start(length - data)).unwrap();
        file.write_all(&vec![7; usize::try_from(data).unwrap()])
            .unwrap();
        file.sync_all().unwrap();
        File::open(path).unwrap()
    }

    #[test]
    fn holes_of_all_files_together_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let mut excess = Excess::default();
        let half = EXCESS_LIMIT / 2;
        let first = sparse(&folder.path().join("a"), MIB, half);
        assert_eq!(excess.takes(&first).unwrap(), Some(half));
        let second = sparse(&folder.path().join("b"), MIB, half);
        assert_eq!(excess.takes(&second).unwrap(), Some(half));
        let third = sparse(&folder.path().join("c"), MIB, 4 * MIB);
        assert_eq!(excess.takes(&third).unwrap(), None);
        // What has none is taken all the same.
        let full = sparse(&folder.path().join("d"), MIB, MIB);
        assert_eq!(excess.takes(&full).unwrap(), Some(MIB));
    }

    #[test]
    fn file_without_data_is_a_hole() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create_new(folder.path().join("a")).unwrap();
        file.set_len(EXCESS_LIMIT + 1).unwrap();
        let file = File::open(folder.path().join("a")).unwrap();
        assert_eq!(Excess::default().takes(&file).unwrap(), None);
    }

    #[test]
    fn file_of_many_names_is_data_once() {
        let folder = tempfile::tempdir().unwrap();
        let name = |it: &str| folder.path().join(it);
        drop(sparse(&name("a"), MIB, MIB));
        for other in ["b", "c"] {
            fs::hard_link(name("a"), name(other)).unwrap();
        }
        let mut excess = Excess::default();
        for it in ["a", "b"] {
            let file = File::open(name(it)).unwrap();
            assert_eq!(excess.takes(&file).unwrap(), Some(MIB));
        }
        assert_eq!(excess.bytes, MIB);
        excess.bytes = EXCESS_LIMIT;
        assert_eq!(excess.takes(&File::open(name("c")).unwrap()).unwrap(), None);
    }

    #[test]
    fn file_is_read_from_its_beginning_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = sparse(&folder.path().join("a"), MIB, 3 * MIB);
        assert_eq!(Excess::default().takes(&file).unwrap(), Some(3 * MIB));
        let mut text = Vec::new();
        file.read_to_end(&mut text).unwrap();
        assert_eq!(text.len() as u64, 3 * MIB);
    }
}
