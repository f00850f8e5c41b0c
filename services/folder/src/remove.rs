//! Removing files and trees.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmod, fchmodat, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use rustix::fs::RawDir;

use crate::entries::BUFFER;
use crate::error::Error;
use crate::folder::{FOLDER_MODE, Folder};

/// Folders that are held open at a time, one for each level. What lies deeper
/// is moved up first, so a tree of any depth is removed.
const DEPTH_LIMIT: usize = 64;
/// Names of one folder that are removed in one go through it, and times that this is done. A
/// folder of 64 million names is emptied, and somebody who goes on writing is not written against
/// for ever.
const NAMES: usize = 1 << 26;
const ROUNDS: usize = 1 << 16;
/// Names that are tried for what is moved up. Somebody may take them on purpose.
const ATTEMPTS: u32 = 64;

impl Folder {
    /// Removes the file, or the link itself, at `relative`; false when nothing
    /// is there.
    ///
    /// # Errors
    /// When a link is on the way, or a folder is in its place.
    pub fn remove(&self, relative: impl AsRef<Path>) -> Result<bool, Error> {
        let relative = relative.as_ref();
        let Some((folder, name)) = self.holder(relative)? else {
            return Ok(false);
        };
        match unlinkat(&folder, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => Err(self.error("remove", relative, errno)),
        }
    }

    /// Removes the folder at `relative` where nothing is in it; false when nothing is there.
    ///
    /// # Errors
    /// When a link is on the way or in its place, or something is in it.
    pub fn remove_empty(&self, relative: impl AsRef<Path>) -> Result<bool, Error> {
        let relative = relative.as_ref();
        let Some((folder, name)) = self.holder(relative)? else {
            return Ok(false);
        };
        match unlinkat(&folder, name, UnlinkatFlags::RemoveDir) {
            Ok(()) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => Err(self.error("remove", relative, errno)),
        }
    }

    /// Removes what is at `relative`, a folder with everything in it; the
    /// links in it themselves, never their targets.
    ///
    /// # Errors
    /// When a link is on the way, or something cannot be removed. What came
    /// before is gone then.
    pub fn remove_all(&self, relative: impl AsRef<Path>) -> Result<(), Error> {
        let relative = relative.as_ref();
        let Some((folder, name)) = self.holder(relative)? else {
            return Ok(());
        };
        remove(&folder, name).map_err(|errno| self.error("remove", relative, errno))
    }

    /// The folder that holds the last name of `relative`, if there is one.
    fn holder<'a>(&self, relative: &'a Path) -> Result<Option<(OwnedFd, &'a OsStr)>, Error> {
        match self.parent("remove", relative) {
            Ok(holder) => Ok(Some(holder)),
            Err(Error::Io { source, .. })
                if matches!(
                    source.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

fn remove(holder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    if unlink(holder, name)? || is_removed_empty(holder, name) {
        return Ok(());
    }
    let mut moved = 0;
    clear(holder, name, |top| empty(top, top, 1, &mut moved))
}

/// Removes the folder `name` with what `empty` removes of it: once more where somebody writes on,
/// and where what lay deep was moved up.
fn clear(
    holder: &OwnedFd,
    name: &OsStr,
    mut empty: impl FnMut(&OwnedFd) -> Result<(), Errno>,
) -> Result<(), Errno> {
    for _ in 0..ROUNDS {
        match open_own(holder, name) {
            Ok(folder) => empty(&folder)?,
            Err(Errno::ENOENT) => return Ok(()),
            Err(errno) => return Err(errno),
        }
        match unlinkat(holder, name, UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => return Ok(()),
            Err(Errno::ENOTEMPTY | Errno::EEXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EBUSY)
}

/// Removes what is in `folder`, from which nobody has read, `depth` levels beneath `top`'s own. It
/// is read once: what is removed meanwhile changes nothing of what follows (readdir(3)), and to
/// begin anew after each thousand names takes ever longer.
fn empty(top: &OwnedFd, folder: &OwnedFd, depth: usize, moved: &mut u64) -> Result<(), Errno> {
    let mut buffer = Vec::with_capacity(BUFFER);
    let mut listing = RawDir::new(folder, buffer.spare_capacity_mut());
    for _ in 0..NAMES {
        let Some(found) = listing.next() else {
            return Ok(());
        };
        let found = found.map_err(|errno| Errno::from_raw(errno.raw_os_error()))?;
        let name = OsStr::from_bytes(found.file_name().to_bytes());
        if name != "." && name != ".." {
            remove_inner(top, folder, name, (depth, &mut *moved))?;
        }
    }
    Err(Errno::EBUSY)
}

fn remove_inner(
    top: &OwnedFd,
    folder: &OwnedFd,
    name: &OsStr,
    (depth, moved): (usize, &mut u64),
) -> Result<(), Errno> {
    if unlink(folder, name)? || is_removed_empty(folder, name) {
        return Ok(());
    }
    if depth >= DEPTH_LIMIT {
        // A folder that is moved has to be writable, which it is made by being opened.
        return match open_own(folder, name) {
            Ok(_) => move_up(top, folder, name, moved),
            Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(errno),
        };
    }
    clear(folder, name, |inner| empty(top, inner, depth + 1, moved))
}

/// Most folders of a turn have nothing in them. Why one is not removed is found out when it is opened.
fn is_removed_empty(folder: &OwnedFd, name: &OsStr) -> bool {
    unlinkat(folder, name, UnlinkatFlags::RemoveDir).is_ok()
}

/// Removes what is not a folder; false when it is one.
fn unlink(folder: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    match unlinkat(folder, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        Err(Errno::EISDIR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Moves a folder into `top`, where it will be found and removed.
fn move_up(top: &OwnedFd, folder: &OwnedFd, name: &OsStr, moved: &mut u64) -> Result<(), Errno> {
    let mut attempts = ATTEMPTS;
    loop {
        *moved += 1;
        let new = format!(".removed.{}-{moved}", std::process::id());
        match renameat(folder, name, top, new.as_str()) {
            Ok(()) | Err(Errno::ENOENT) => return Ok(()),
            Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) if attempts > 1 => attempts -= 1,
            Err(errno) => return Err(errno),
        }
    }
}

/// Opens the folder `name`, and lets its owner, who we mostly are, read and
/// change it: it may have been closed on purpose, and module caches are.
fn open_own(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let read = || openat(folder, name, flags | OFlag::O_RDONLY, Mode::empty());
    let opened = match read() {
        Err(Errno::EACCES) => {
            let closed = openat(folder, name, flags | OFlag::O_PATH, Mode::empty())?;
            // The one way to what an O_PATH descriptor is of (open(2)).
            let path = format!("/proc/self/fd/{}", closed.as_fd().as_raw_fd());
            let follow = FchmodatFlags::FollowSymlink;
            fchmodat(AT_FDCWD, path.as_str(), FOLDER_MODE, follow)?;
            read()?
        }
        opened => opened?,
    };
    if fstat(&opened)?.st_mode & FOLDER_MODE.bits() != FOLDER_MODE.bits() {
        // Whose it is not finds out by the removal itself.
        let _ = fchmod(&opened, FOLDER_MODE);
    }
    Ok(opened)
}
