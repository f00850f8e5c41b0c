//! An open folder, and what is found beneath it.

use std::fs::DirBuilder;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::Mode;

use crate::beneath;
use crate::error::Error;
use crate::ownership::Ownership;

/// Of folders that are made: only for their owner.
pub(crate) const FOLDER_MODE: Mode = Mode::S_IRWXU;

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
    /// When it is no folder, is a symbolic link, or may not be read.
    pub fn open(path: &Path) -> Result<Option<Self>, Error> {
        Self::opened(path, OFlag::O_NOFOLLOW)
    }

    /// As [`Folder::open`], for a folder that the configuration names and that
    /// lies in no other [`Folder`]: the user's own link to it is followed.
    ///
    /// # Errors
    /// When it is no folder or may not be read.
    pub fn open_configured(path: &Path) -> Result<Option<Self>, Error> {
        Self::opened(path, OFlag::empty())
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

    /// As [`Folder::open_or_create`], for a folder that the configuration names.
    ///
    /// # Errors
    /// As [`Folder::open_configured`], and when it cannot be made.
    pub fn open_or_create_configured(path: &Path) -> Result<Self, Error> {
        if let Some(folder) = Self::open_configured(path)? {
            return Ok(folder);
        }
        make(path)?;
        Self::open_configured(path)?.ok_or_else(|| Error::new("open", path, Errno::ENOENT))
    }

    /// Where it was when it was opened; for messages, and for whoever is told
    /// a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
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

    fn opened(path: &Path, links: OFlag) -> Result<Option<Self>, Error> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | links;
        let descriptor = match nix::fcntl::open(path, flags, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(Errno::ENOENT) => return Ok(None),
            // What a link is to O_DIRECTORY.
            Err(Errno::ENOTDIR) if !links.is_empty() && path.is_symlink() => {
                return Err(Error::new("open", path, Errno::ELOOP));
            }
            Err(errno) => return Err(Error::new("open", path, errno)),
        };
        let ownership =
            Ownership::of(&descriptor).map_err(|errno| Error::new("look at", path, errno))?;
        Ok(Some(Self {
            descriptor,
            path: path.to_owned(),
            ownership,
        }))
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

fn make(path: &Path) -> Result<(), Error> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE.bits())
        .create(path)
        .map_err(|source| Error::new("create", path, source))
}
