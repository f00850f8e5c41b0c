//! Looking at files and reading them.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, readlinkat};
use nix::sys::stat::{FileStat, fstat, fstatat};

use crate::error::Error;
use crate::folder::Folder;
use crate::kind::Kind;

impl Folder {
    /// What the file at `relative` says; None when no regular file is there.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when it has more than `limit` bytes, which are not
    /// read then; when a link is on the way or in its place; when it may not
    /// be read.
    pub fn read(&self, relative: impl AsRef<Path>, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        let relative = relative.as_ref();
        let Some((file, status)) = self.open_file(relative)? else {
            return Ok(None);
        };
        self.read_open(file, &status, relative, limit).map(Some)
    }

    /// What the `file` that was opened at `relative` says, as [`Folder::read`]
    /// has it.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when it has more than `limit` bytes; when it cannot
    /// be read.
    pub fn read_open(
        &self,
        file: File,
        status: &FileStat,
        relative: impl AsRef<Path>,
        limit: u64,
    ) -> Result<Vec<u8>, Error> {
        let relative = relative.as_ref();
        let size = status.st_size.unsigned_abs();
        let mut bytes = Vec::new();
        if size <= limit {
            bytes.reserve_exact(usize::try_from(size).unwrap_or_default());
            // One more than allowed, by which a file that grows meanwhile shows.
            let mut bounded = file.take(limit.saturating_add(1));
            let read = bounded.read_to_end(&mut bytes);
            read.map_err(|source| self.error("read", relative, source))?;
        }
        if size > limit || bytes.len() as u64 > limit {
            let path = self.path.join(relative);
            return Err(Error::TooLarge { path, limit });
        }
        Ok(bytes)
    }

    /// The regular file at `relative`, open for reading, and what it is; None
    /// when no regular file is there.
    ///
    /// # Errors
    /// When a link is on the way or in its place, or it may not be read.
    pub fn open_file(&self, relative: impl AsRef<Path>) -> Result<Option<(File, FileStat)>, Error> {
        let relative = relative.as_ref();
        let opened = match self.found("read", relative, OFlag::O_RDONLY) {
            // What a socket, and a device without a driver, is to open(2).
            Err(Error::Io { source, .. }) if source.raw_os_error() == Some(Errno::ENXIO as i32) => {
                return Ok(None);
            }
            opened => opened?,
        };
        let Some(file) = opened else {
            return Ok(None);
        };
        let status = fstat(&file).map_err(|errno| self.error("read", relative, errno))?;
        let is_file = Kind::from_mode(status.st_mode) == Kind::File;
        Ok(is_file.then(|| (File::from(file), status)))
    }

    /// Where the symbolic link at `relative` says that it leads, itself reached through
    /// none; None when nothing, or something else, is there.
    ///
    /// # Errors
    /// When a link is on the way, or it cannot be read.
    pub fn read_link(&self, relative: impl AsRef<Path>) -> Result<Option<OsString>, Error> {
        let relative = relative.as_ref();
        let (folder, name) = self.parent("read", relative)?;
        match readlinkat(&folder, name) {
            Ok(target) => Ok(Some(target)),
            Err(Errno::ENOENT | Errno::EINVAL) => Ok(None),
            Err(errno) => Err(self.error("read", relative, errno)),
        }
    }

    /// Whether a regular file is at `relative`, reached through no link.
    #[must_use]
    pub fn is_file(&self, relative: impl AsRef<Path>) -> bool {
        let status = self.status(relative);
        status.is_ok_and(|status| {
            status.is_some_and(|status| Kind::from_mode(status.st_mode) == Kind::File)
        })
    }

    /// What stat(2) says of what is at `relative`, without opening it; None
    /// when nothing is there.
    ///
    /// # Errors
    /// When a link is on the way or in its place.
    pub fn status(&self, relative: impl AsRef<Path>) -> Result<Option<FileStat>, Error> {
        let relative = relative.as_ref();
        let error = |errno| self.error("look at", relative, errno);
        // One system call, for the many files of a listing.
        if is_name(relative) {
            let status = fstatat(self, relative, AtFlags::AT_SYMLINK_NOFOLLOW);
            return match status {
                Ok(status) if Kind::from_mode(status.st_mode) == Kind::Link => {
                    Err(error(Errno::ELOOP))
                }
                Ok(status) => Ok(Some(status)),
                Err(Errno::ENOENT) => Ok(None),
                Err(errno) => Err(error(errno)),
            };
        }
        match self.found("look at", relative, OFlag::O_PATH)? {
            Some(file) => fstat(&file).map(Some).map_err(error),
            None => Ok(None),
        }
    }
}

/// Whether a path is one name, which leads nowhere else.
fn is_name(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    !bytes.contains(&b'/') && !matches!(bytes, b"" | b"." | b"..")
}
