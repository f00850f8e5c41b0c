//! Removing files and trees.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmod, fchmodat, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::entries::entries;
use crate::error::Error;
use crate::folder::{FOLDER_MODE, Folder};

/// Folders that are held open at a time, one for each level. What lies deeper
/// is moved up first, so a tree of any depth is removed.
const DEPTH_LIMIT: usize = 64;
/// Names of a folder that are read at a time.
const BATCH: usize = 1024;
/// Times that names of one folder are read. A folder of 64 million names is
/// emptied, and somebody who goes on writing is not written against for ever.
const BATCHES: usize = 1 << 16;
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
    if unlink(holder, name)? {
        return Ok(());
    }
    let top = open_own(holder, name)?;
    let mut moved = 0;
    empty(&top, &top, 1, &mut moved)?;
    remove_empty(holder, name)
}

/// Removes what is in `folder`, `depth` levels beneath `top`'s own.
fn empty(top: &OwnedFd, folder: &OwnedFd, depth: usize, moved: &mut u64) -> Result<(), Errno> {
    for _ in 0..BATCHES {
        let batch = entries(folder, BATCH)?;
        if batch.is_empty() {
            return Ok(());
        }
        for entry in &batch {
            remove_inner(top, folder, &entry.name, (depth, &mut *moved))?;
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
    if unlink(folder, name)? {
        return Ok(());
    }
    let inner = match open_own(folder, name) {
        Ok(inner) => inner,
        Err(Errno::ENOENT) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    if depth >= DEPTH_LIMIT {
        return move_up(top, folder, name, moved);
    }
    empty(top, &inner, depth + 1, moved)?;
    remove_empty(folder, name)
}

/// Removes what is no folder; false when it is one.
fn unlink(folder: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    match unlinkat(folder, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        Err(Errno::EISDIR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn remove_empty(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match unlinkat(folder, name, UnlinkatFlags::RemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
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
