//! A file that is looked at and changed as the one that it is, whatever its path leads to by then.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use nix::fcntl::{AT_FDCWD, OFlag, open};
use nix::sys::stat::{FchmodatFlags, FileStat, Mode, fchmodat, fstat};

/// A file of any kind but a link, held (`O_PATH`) and not opened: nothing happens to it by that.
///
/// The path is the host's own: only its last name could be somebody else's.
#[derive(Debug)]
pub struct PinnedFile(OwnedFd);

impl PinnedFile {
    /// Takes hold of what lies at `path`.
    ///
    /// # Errors
    /// As open(2).
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(Self(open(path, flags, Mode::empty())?))
    }

    /// What it is, of a link the link.
    ///
    /// # Errors
    /// As fstat(2).
    pub fn status(&self) -> io::Result<FileStat> {
        Ok(fstat(&self.0)?)
    }

    /// Gives it the permission bits of `mode`.
    ///
    /// # Errors
    /// As chmod(2); EOPNOTSUPP or ELOOP of a link.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        // The one way to what an O_PATH descriptor is of (open(2)).
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        let mode = Mode::from_bits_truncate(mode);
        Ok(fchmodat(
            AT_FDCWD,
            &*path,
            mode,
            FchmodatFlags::FollowSymlink,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn held_file_is_changed_and_not_what_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        for path in [&file, &other] {
            fs::write(path, "").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let held = PinnedFile::open(&file).unwrap();
        let moved = folder.path().join("moved");
        fs::rename(&file, &moved).unwrap();
        symlink(&other, &file).unwrap();
        held.set_mode(0o600).unwrap();
        let mode = |path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&moved), mode(&other)), (0o600, 0o644));
        // Of a link that lies there already nothing is changed either.
        let link = PinnedFile::open(&file).unwrap();
        assert_eq!(link.status().unwrap().st_mode & 0o170_000, 0o120_000);
        link.set_mode(0o600).unwrap_err();
        assert_eq!(mode(&other), 0o644);
    }
}
