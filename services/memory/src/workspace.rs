//! An agent's workspace: the one door to its files.
//!
//! The agent writes there too, so nothing in it is trusted: paths are resolved
//! beneath the workspace's folder ([`beneath`]),
//! symbolic links that lead out of it are as good as not there, and what is
//! not a regular file is never waited for.

use std::fs::{DirBuilder, File};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, renameat};
use nix::sys::stat::{Mode, SFlag, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

mod beneath;
mod decode;
mod error;
mod listing;
mod ownership;
mod stamp;

pub(crate) use error::Error;
pub(crate) use listing::Listing;
pub(crate) use stamp::Stamp;

use beneath::Links;
use ownership::Ownership;

/// Larger files are no notes, and reading one would hold up a search; in bytes.
pub(crate) const FILE_LIMIT: u64 = 2 * 1024 * 1024;

/// Only for the user: what is remembered is private.
const FILE_MODE: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);
const FOLDER_MODE: Mode = Mode::S_IRWXU;

/// An open workspace. Paths are relative to it.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: OwnedFd,
    path: PathBuf,
    ownership: Ownership,
}

impl Workspace {
    /// Opens the workspace at `path`; None when nothing is there.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, Error> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let error = |errno: Errno| Error::new("open the workspace", path, errno);
        let root = match nix::fcntl::open(path, flags, Mode::empty()) {
            Ok(root) => root,
            Err(Errno::ENOENT) => return Ok(None),
            Err(errno) => return Err(error(errno)),
        };
        let ownership = Ownership::of(&root).map_err(error)?;
        let path = path.to_owned();
        Ok(Some(Self {
            root,
            path,
            ownership,
        }))
    }

    /// Opens the workspace at `path`, and makes it first when nothing is there.
    pub(crate) fn open_or_create(path: &Path) -> Result<Self, Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE.bits())
            .create(path)
            .map_err(|source| Error::new("create the workspace", path, source))?;
        Self::open(path)?.ok_or_else(|| Error::new("open the workspace", path, Errno::ENOENT))
    }

    /// What is known of the file at `path` without reading it; None when there
    /// is no regular file that may be read.
    pub(crate) fn stamp(&self, path: &str) -> Result<Option<Stamp>, Error> {
        self.stamp_in(&self.root, path, path)
    }

    /// The text of the file at `path` and what it was when it was read; None
    /// when there is no regular file that may be read. Bytes that are not
    /// UTF-8 are replaced.
    pub(crate) fn read(&self, path: &str) -> Result<Option<(String, Stamp)>, Error> {
        let Some((file, stamp)) = self.open_file(path)? else {
            return Ok(None);
        };
        let error = |source| self.error("read", path, source);
        let mut bytes = Vec::with_capacity(stamp.size().min(FILE_LIMIT) as usize);
        // One more than allowed, by which a file that grows meanwhile shows.
        let mut file = File::from(file).take(FILE_LIMIT + 1);
        if stamp.size() <= FILE_LIMIT {
            file.read_to_end(&mut bytes).map_err(error)?;
        }
        if stamp.size() > FILE_LIMIT || bytes.len() as u64 > FILE_LIMIT {
            let path = self.path.join(path);
            return Err(Error::TooLarge { path });
        }
        Ok(Some((decode::text(bytes), stamp)))
    }

    /// The regular file at `path`, open for reading, and what it is now; None
    /// when there is none that may be read.
    pub(crate) fn open_file(&self, path: &str) -> Result<Option<(OwnedFd, Stamp)>, Error> {
        let Some(file) = self.open_to_read(path, OFlag::O_NONBLOCK)? else {
            return Ok(None);
        };
        let status = fstat(&file).map_err(|errno| self.error("read", path, errno))?;
        Ok(Stamp::of(&status).map(|stamp| (file, stamp)))
    }

    /// The folder at `path`, the workspace's own when that is empty; None when
    /// there is none, or only by a link.
    pub(crate) fn folder(&self, path: &str) -> Result<Option<Listing>, Error> {
        let path = if path.is_empty() { "." } else { path };
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        let Some(folder) = self.open_to_read(path, flags)? else {
            return Ok(None);
        };
        Listing::new(folder)
            .map(Some)
            .map_err(|source| self.error("list", path, source))
    }

    /// Makes the folder `name` unless it is there.
    pub(crate) fn create_folder(&self, name: &str) -> Result<(), Error> {
        let error = |errno: Errno| self.error("create", name, errno);
        match nix::sys::stat::mkdirat(&self.root, name, FOLDER_MODE) {
            Ok(()) => {}
            Err(Errno::EEXIST) => return Ok(()),
            Err(errno) => return Err(error(errno)),
        }
        if let Some(folder) = self.open_to_read(name, OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW)? {
            self.ownership.pass_on(&folder).map_err(error)?;
        }
        Ok(())
    }

    /// Opens the file at `path` for reading and appending, and makes it first
    /// when it is not there; the flag says so. Symbolic links are refused.
    pub(crate) fn open_to_append(&self, path: &str) -> Result<(File, bool), Error> {
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_NONBLOCK;
        match self.open_to_write(path, flags) {
            Err(Errno::ENOENT) => match self.create(path)? {
                Some(file) => Ok((file, true)),
                // Somebody else has just made it.
                None => self
                    .open_to_write(path, flags)
                    .map(|file| (file, false))
                    .map_err(|errno| self.error("open", path, errno)),
            },
            Ok(file) => Ok((file, false)),
            Err(errno) => Err(self.error("open", path, errno)),
        }
    }

    /// Makes an empty file at `path`, readable and writable for the agent; None
    /// when something of that name is there, which is never touched.
    pub(crate) fn create(&self, path: &str) -> Result<Option<File>, Error> {
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_EXCL;
        let file = match self.open_to_write(path, flags) {
            Ok(file) => file,
            Err(Errno::EEXIST) => return Ok(None),
            Err(errno) => return Err(self.error("create", path, errno)),
        };
        self.ownership
            .pass_on(&file)
            .map_err(|errno| self.error("hand over", path, errno))?;
        Ok(Some(file))
    }

    /// Takes the file at `path` away, durably.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Error> {
        let (folder, name) = split(path);
        let error = |errno: Errno| self.error("remove", path, errno);
        let folder_flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        let Some(open) = self.open_to_read(folder, folder_flags)? else {
            return Err(error(Errno::ENOENT));
        };
        unlinkat(&open, name, UnlinkatFlags::NoRemoveDir).map_err(error)?;
        nix::unistd::fsync(&open).map_err(error)
    }

    /// Puts `text` in the place of what the file at `path` says: in one step,
    /// so that nobody ever reads half of it.
    pub(crate) fn replace(&self, path: &str, text: &str) -> Result<(), Error> {
        let error = |source| self.error("write", path, source);
        let (folder, name) = split(path);
        let folder_flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        let Some(open) = self.open_to_read(folder, folder_flags)? else {
            return Err(self.error("write", path, Errno::ENOENT));
        };
        let temporary = format!(".{name}.{}.new", std::process::id());
        let beside = match folder {
            "." => temporary.clone(),
            folder => format!("{folder}/{temporary}"),
        };
        let mut file = match self.create(&beside)? {
            Some(file) => file,
            None => return Err(self.error("create", &beside, Errno::EEXIST)),
        };
        let renamed = (|| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            renameat(&open, temporary.as_str(), &open, name)?;
            nix::unistd::fsync(&open).map_err(std::io::Error::from)
        })();
        if renamed.is_err() {
            // The error that is told is the first one.
            let _ = unlinkat(&open, temporary.as_str(), UnlinkatFlags::NoRemoveDir);
        }
        renamed.map_err(error)
    }

    /// Makes the names in the folder at `path` durable; the workspace's own
    /// when `path` is empty.
    pub(crate) fn sync_folder(&self, path: &str) -> Result<(), Error> {
        let error = |errno: Errno| self.error("write", path, errno);
        if path.is_empty() {
            return nix::unistd::fsync(&self.root).map_err(error);
        }
        match self.open_to_read(path, OFlag::O_DIRECTORY)? {
            Some(folder) => nix::unistd::fsync(&folder).map_err(error),
            None => Ok(()),
        }
    }

    /// The error of an `operation` on the file at `path`.
    pub(crate) fn error(
        &self,
        operation: &'static str,
        path: &str,
        source: impl Into<std::io::Error>,
    ) -> Error {
        Error::new(operation, &self.path.join(path), source)
    }

    /// As [`Workspace::stamp`], for the file `name` in `folder`.
    fn stamp_in(
        &self,
        folder: impl std::os::fd::AsFd,
        name: &str,
        path: &str,
    ) -> Result<Option<Stamp>, Error> {
        let error = |errno: Errno| self.error("look at", path, errno);
        let status = match fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(status) => status,
            Err(Errno::ENOENT) => return Ok(None),
            Err(errno) => return Err(error(errno)),
        };
        if SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT != SFlag::S_IFLNK {
            return Ok(Stamp::of(&status));
        }
        match self.open_to_read(path, OFlag::O_PATH)? {
            Some(file) => fstat(&file).map(|s| Stamp::of(&s)).map_err(error),
            None => Ok(None),
        }
    }

    fn open_to_read(&self, path: &str, flags: OFlag) -> Result<Option<OwnedFd>, Error> {
        match beneath::open(&self.root, path, flags, Mode::empty(), Links::Followed) {
            Ok(file) => Ok(Some(file)),
            // EXDEV: leads out of the workspace. ELOOP: a link where none may be.
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::EXDEV | Errno::ELOOP) => Ok(None),
            Err(errno) => Err(self.error("open", path, errno)),
        }
    }

    fn open_to_write(&self, path: &str, flags: OFlag) -> Result<File, Errno> {
        let creates = flags.contains(OFlag::O_CREAT);
        let mode = if creates { FILE_MODE } else { Mode::empty() };
        beneath::open(&self.root, path, flags, mode, Links::Refused).map(File::from)
    }
}

/// The folder of a path, and the name in it.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}

#[cfg(test)]
mod tests;
