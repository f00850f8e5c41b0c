//! An open folder, and what is found beneath it.

use std::fs::DirBuilder;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Uid, fchown};

use crate::beneath;
use crate::error::Error;
use crate::ownership::{Ownership, is_of_group};

/// Of folders that are made: only for their owner.
pub(crate) const FOLDER_MODE: Mode = Mode::S_IRWXU;

/// Of folders that are made in one of its group.
const OF_GROUP: u32 = 0o770;

/// An open folder in which somebody else may write at the same time.
///
/// Paths given to its methods are relative to it; one that is absolute or has
/// `..` in it is refused, and so is one through a symbolic link
/// ([`Error::Link`]). What is made belongs to the owner of the folder, also
/// when root makes it.
#[derive(Debug)]
pub struct Folder {
    pub(crate) descriptor: OwnedFd,
    pub(crate) path: PathBuf,
    pub(crate) ownership: Ownership,
}

/// Opens what lies at an absolute path, not for reading (`O_PATH`), through no
/// symbolic link at all: one that was resolved before, and may be another now.
///
/// # Errors
/// ELOOP where a link is on the way or in its place; otherwise as open(2).
pub fn open_resolved(path: &Path) -> std::io::Result<OwnedFd> {
    match beneath::open_absolute(path) {
        Err(Errno::ENOSYS | Errno::EPERM) => {
            let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
            let root = openat(AT_FDCWD, "/", flags, Mode::empty())?;
            let path = path.strip_prefix("/").unwrap_or(path);
            Ok(beneath::open(root, path, OFlag::O_PATH, Mode::empty())?)
        }
        result => Ok(result?),
    }
}

impl Folder {
    /// Opens the folder at `path`; None when nothing is there.
    ///
    /// The path is the host's own: only its last name could be somebody
    /// else's, and is not followed when it is a link.
    ///
    /// # Errors
    /// When it is not a folder, is a symbolic link, or may not be read.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        match nix::fcntl::open(path, flags, Mode::empty()) {
            Ok(descriptor) => Self::of(descriptor, path).map(Some),
            Err(Errno::ENOENT) => Ok(None),
            // What a link is to O_DIRECTORY.
            Err(Errno::ENOTDIR) if path.is_symlink() => Err(Error::new("open", path, Errno::ELOOP)),
            Err(errno) => Err(Error::new("open", path, errno)),
        }
    }

    /// Opens the folder at `path`, and makes it first (mode 0700, parents
    /// included) when nothing is there.
    ///
    /// # Errors
    /// As [`Folder::open`], and when it cannot be made.
    pub fn open_or_create(path: &Path) -> Result<Self, Error> {
        if let Some(folder) = Self::open(path)? {
            return Ok(folder);
        }
        make(path)?;
        Self::open(path)?.ok_or_else(|| Error::new("open", path, Errno::ENOENT))
    }

    /// Where it was when it was opened; for messages, and for whoever is told
    /// a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it to a user and a group: this folder, whatever its path leads to by now.
    ///
    /// # Errors
    /// As chown(2).
    pub fn give_to(&self, user: Uid, group: Gid) -> Result<(), Error> {
        fchown(&self.descriptor, Some(user), Some(group))
            .map_err(|errno| Error::new("give away", &self.path, errno))
    }

    /// The folder at `relative`, this one itself when that is empty; None when
    /// nothing, or no folder, is there.
    ///
    /// # Errors
    /// When a link is on the way or in its place, or it may not be read.
    pub fn folder(&self, relative: impl AsRef<Path>) -> Result<Option<Self>, Error> {
        let relative = relative.as_ref();
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let found = self.found("open", relative, flags)?;
        found
            .map(|descriptor| self.inner(relative, descriptor))
            .transpose()
    }

    /// Opens what is at `relative`, of any kind but a link; None when nothing
    /// is there.
    pub(crate) fn found(
        &self,
        operation: &'static str,
        relative: &Path,
        flags: OFlag,
    ) -> Result<Option<OwnedFd>, Error> {
        match beneath::open(&self.descriptor, relative, flags, Mode::empty()) {
            Ok(descriptor) => Ok(Some(descriptor)),
            Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(None),
            Err(errno) => Err(self.error(operation, relative, errno)),
        }
    }

    /// The folder that holds the last name of `relative`, and that name.
    pub(crate) fn parent<'a>(
        &self,
        operation: &'static str,
        relative: &'a Path,
    ) -> Result<(OwnedFd, &'a std::ffi::OsStr), Error> {
        let error = |errno| self.error(operation, relative, errno);
        let (folder, name) = beneath::split_last(relative).map_err(error)?;
        // Readable, because that is what fsync(2) takes.
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let opened = beneath::open(&self.descriptor, folder, flags, Mode::empty());
        opened.map(|opened| (opened, name)).map_err(error)
    }

    fn inner(&self, relative: &Path, descriptor: OwnedFd) -> Result<Self, Error> {
        Ok(Self {
            ownership: Ownership::of(&descriptor)
                .map_err(|errno| self.error("look at", relative, errno))?,
            path: self.path.join(relative),
            descriptor,
        })
    }

    /// The folder that `descriptor` is open on, which need not be open for reading.
    pub(crate) fn at(descriptor: &OwnedFd, path: &Path) -> Result<Self, Error> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let opened = openat(descriptor, ".", flags, Mode::empty());
        Self::of(
            opened.map_err(|errno| Error::new("open", path, errno))?,
            path,
        )
    }

    fn of(descriptor: OwnedFd, path: &Path) -> Result<Self, Error> {
        let ownership =
            Ownership::of(&descriptor).map_err(|errno| Error::new("look at", path, errno))?;
        Ok(Self {
            descriptor,
            path: path.to_owned(),
            ownership,
        })
    }

    /// The error of an `operation` on what is at `relative`.
    pub(crate) fn error(
        &self,
        operation: &'static str,
        relative: &Path,
        source: impl Into<std::io::Error>,
    ) -> Error {
        Error::new(operation, &self.path.join(relative), source)
    }
}

/// For what takes a descriptor of a folder, as fsync(2) and fstatvfs(3).
impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The mode with which a folder is made at `path`, the host's own: `mode`, or what its
/// group may have where the folder around it is that group's.
pub fn mode_of_new(path: &Path, mode: u32) -> u32 {
    let mut around = path.ancestors().skip(1);
    let around = around.find_map(|folder| folder.metadata().ok());
    let around = around.map_or(0, |found| found.permissions().mode());
    if is_of_group(around) { OF_GROUP } else { mode }
}

fn make(path: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .recursive(true)
        .mode(mode_of_new(path, FOLDER_MODE.bits()))
        .create(path)
        .map_err(|source| Error::new("create", path, source))
}
