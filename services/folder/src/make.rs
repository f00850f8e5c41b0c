//! Making folders, and files that are written to piece by piece.

use std::fs::File;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, renameat};
use nix::sys::stat::{Mode, SFlag, mkdirat};
use nix::unistd::{mkfifoat, symlinkat};

use crate::beneath;
use crate::error::Error;
use crate::folder::{FOLDER_MODE, Folder};
use crate::kind::Kind;

impl Folder {
    /// The folder at `relative`, made (mode 0700, parents included) where it
    /// is not there.
    ///
    /// # Errors
    /// When a link is on the way or in its place, or something is there that
    /// is not a folder.
    pub fn create_folder(&self, relative: impl AsRef<Path>) -> Result<Self, Error> {
        let relative = relative.as_ref();
        let error = |errno| self.error("create", relative, errno);
        let mut made = PathBuf::new();
        for name in beneath::names(relative) {
            made.push(name.map_err(error)?);
            self.create_one(&made)?;
        }
        match self.folder(relative) {
            Ok(Some(folder)) => Ok(folder),
            Ok(None) => Err(error(Errno::ENOTDIR)),
            Err(other) => Err(other),
        }
    }

    /// As [`Folder::create_folder`]; a link or a file that is where one of the
    /// folders is to be is removed first. For what is the host's to lay out,
    /// in a folder of somebody who may have put something in its place.
    ///
    /// # Errors
    /// When it cannot be made, or is replaced again at once.
    pub fn create_folder_replacing(&self, relative: impl AsRef<Path>) -> Result<Self, Error> {
        let relative = relative.as_ref();
        let mut made = PathBuf::new();
        for name in beneath::names(relative) {
            made.push(name.map_err(|errno| self.error("create", relative, errno))?);
            if self.create_folder(&made).is_err() {
                // Not a folder, which is an error here.
                self.remove(&made)?;
                self.create_folder(&made)?;
            }
        }
        self.create_folder(relative)
    }

    /// Moves what is at `relative` into `to`, as `name`; false when nothing is there.
    ///
    /// # Errors
    /// When a link is on the way, or it cannot be moved.
    pub fn move_to(
        &self,
        relative: impl AsRef<Path>,
        to: &Self,
        name: &str,
    ) -> Result<bool, Error> {
        let relative = relative.as_ref();
        if self.status(relative)?.is_none() {
            return Ok(false);
        }
        let (folder, last) = self.parent("move", relative)?;
        match renameat(&folder, last, &to.descriptor, name) {
            Ok(()) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(errno) => Err(self.error("move", relative, errno)),
        }
    }

    /// Puts a symbolic link to `target` at `relative`, for whoever else reads
    /// here: nothing of this crate follows it. False when something of that
    /// name is there, which is never touched.
    ///
    /// # Errors
    /// When a link is on the way, or the link cannot be made.
    pub fn create_link(&self, relative: impl AsRef<Path>, target: &Path) -> Result<bool, Error> {
        let relative = relative.as_ref();
        let (folder, name) = self.parent("create", relative)?;
        match symlinkat(target, &folder, name) {
            Ok(()) => Ok(true),
            Err(Errno::EEXIST) => Ok(false),
            Err(errno) => Err(self.error("create", relative, errno)),
        }
    }

    /// Makes a FIFO at `relative`; one that is there stays.
    ///
    /// # Errors
    /// When a link is on the way, something else is there, or it cannot be
    /// made.
    pub fn create_fifo(&self, relative: impl AsRef<Path>, mode: u32) -> Result<(), Error> {
        let relative = relative.as_ref();
        let (folder, name) = self.parent("create", relative)?;
        let error = |errno| self.error("create", relative, errno);
        match mkfifoat(&folder, name, Mode::from_bits_truncate(mode)) {
            Ok(()) => {}
            Err(Errno::EEXIST) => return self.open_fifo(relative).map(drop),
            Err(errno) => return Err(error(errno)),
        }
        let made = self.open_fifo(relative)?;
        self.ownership
            .pass_on(made, Mode::from_bits_truncate(mode))
            .map_err(error)
    }

    /// Opens the FIFO at `relative` for reading and writing, which waits for
    /// nobody (fifo(7)); reads and writes do not wait either.
    ///
    /// # Errors
    /// When a link is on the way or in its place, or no FIFO is there.
    pub fn open_fifo(&self, relative: impl AsRef<Path>) -> Result<File, Error> {
        let relative = relative.as_ref();
        let error = |errno| self.error("open", relative, errno);
        let fifo = beneath::open(self, relative, OFlag::O_RDWR, Mode::empty()).map_err(error)?;
        let mode = nix::sys::stat::fstat(&fifo).map_err(error)?.st_mode;
        match SFlag::from_bits_truncate(mode) & SFlag::S_IFMT {
            SFlag::S_IFIFO => Ok(fifo.into()),
            _ => Err(error(Errno::EINVAL)),
        }
    }

    fn create_one(&self, relative: &Path) -> Result<(), Error> {
        let error = |errno| self.error("create", relative, errno);
        let (folder, name) = self.parent("create", relative)?;
        match mkdirat(&folder, name, self.ownership.mode(FOLDER_MODE)) {
            Ok(()) => {}
            Err(Errno::EEXIST) => return Ok(()),
            Err(errno) => return Err(error(errno)),
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let made = beneath::open(&folder, Path::new(name), flags, Mode::empty()).map_err(error)?;
        self.ownership.pass_on(made, FOLDER_MODE).map_err(error)
    }

    /// Makes an empty file at `relative`, open for reading and appending; None
    /// when something of that name is there, which is never touched.
    ///
    /// # Errors
    /// When a link is on the way, or the file cannot be made.
    pub fn create_file(
        &self,
        relative: impl AsRef<Path>,
        mode: u32,
    ) -> Result<Option<File>, Error> {
        let relative = relative.as_ref();
        let (folder, name) = self.parent("create", relative)?;
        let error = |errno| self.error("create", relative, errno);
        match self.create_in(&folder, Path::new(name), mode) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::EEXIST) => Ok(None),
            Err(errno) => Err(error(errno)),
        }
    }

    /// Opens the file at `relative` for reading and appending, and makes it
    /// first when nothing is there; the flag says so.
    ///
    /// # Errors
    /// When a link is on the way or in its place, or what is there is no
    /// regular file that may be written to.
    pub fn open_to_append(
        &self,
        relative: impl AsRef<Path>,
        mode: u32,
    ) -> Result<(File, bool), Error> {
        let relative = relative.as_ref();
        if let Some(file) = self.append_to(relative)? {
            return Ok((file, false));
        }
        if let Some(file) = self.create_file(relative, mode)? {
            return Ok((file, true));
        }
        // Somebody else has just made it.
        let found = self.append_to(relative)?;
        let found = found.ok_or_else(|| self.error("open", relative, Errno::ENOENT))?;
        Ok((found, false))
    }

    fn append_to(&self, relative: &Path) -> Result<Option<File>, Error> {
        let flags = OFlag::O_RDWR | OFlag::O_APPEND;
        let error = |errno| self.error("open", relative, errno);
        let file = match beneath::open(self, relative, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::ENOENT) => return Ok(None),
            Err(errno) => return Err(error(errno)),
        };
        let status = nix::sys::stat::fstat(&file).map_err(error)?;
        match Kind::from_mode(status.st_mode) {
            Kind::File => Ok(Some(file.into())),
            _ => Err(error(Errno::EINVAL)),
        }
    }

    /// Makes the file `name` in `folder`, which belongs to this folder's owner
    /// then.
    pub(crate) fn create_in(
        &self,
        folder: &std::os::fd::OwnedFd,
        name: &Path,
        mode: u32,
    ) -> Result<File, Errno> {
        let flags =
            OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW;
        let mode = Mode::from_bits_truncate(mode);
        let file = beneath::open(folder, name, flags, mode)?;
        self.ownership.pass_on(&file, mode)?;
        Ok(file.into())
    }
}
