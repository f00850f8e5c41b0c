//! Writing whole files.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::errno::Errno;
use nix::fcntl::renameat;
use nix::unistd::{UnlinkatFlags, fsync, unlinkat};

use crate::error::Error;
use crate::folder::Folder;

/// Names that are tried for a new file. Somebody may take them on purpose.
const ATTEMPTS: u32 = 16;

impl Folder {
    /// Puts a file with `bytes` and `mode` at `relative`, in one step, so that
    /// nobody ever reads half of it. What was there before, a link also, is
    /// replaced and not written to.
    ///
    /// # Errors
    /// When its folder is not there, a link is on the way, a folder is in its
    /// place, or the file cannot be written.
    pub fn write(&self, relative: impl AsRef<Path>, bytes: &[u8], mode: u32) -> Result<(), Error> {
        self.put(relative.as_ref(), bytes, mode, Durability::Left)
    }

    /// As [`Folder::write`], and returns when a crash of the machine cannot
    /// take the file away any more.
    ///
    /// # Errors
    /// As [`Folder::write`].
    pub fn write_durably(
        &self,
        relative: impl AsRef<Path>,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), Error> {
        self.put(relative.as_ref(), bytes, mode, Durability::Synced)
    }

    /// Makes the names in this folder durable.
    ///
    /// # Errors
    /// When the device fails.
    pub fn sync(&self) -> Result<(), Error> {
        fsync(self).map_err(|errno| self.error("write", Path::new(""), errno))
    }

    fn put(
        &self,
        relative: &Path,
        bytes: &[u8],
        mode: u32,
        durability: Durability,
    ) -> Result<(), Error> {
        let (folder, name) = self.parent("write", relative)?;
        let error = |source: io::Error| self.error("write", relative, source);
        let (mut file, beside) = self
            .new_file(&folder, name, mode)
            .map_err(|errno| error(errno.into()))?;
        let put = fill(&mut file, bytes, durability).and_then(|()| {
            renameat(&folder, &beside, &folder, name)?;
            if durability == Durability::Synced {
                fsync(&folder)?;
            }
            Ok(())
        });
        if put.is_err() {
            // The error that is told is the first one.
            let _ = unlinkat(&folder, &beside, UnlinkatFlags::NoRemoveDir);
        }
        put.map_err(error)
    }

    /// A new file beside `name`, and its own name.
    fn new_file(
        &self,
        folder: &OwnedFd,
        name: &std::ffi::OsStr,
        mode: u32,
    ) -> Result<(File, PathBuf), Errno> {
        let mut attempts = ATTEMPTS;
        loop {
            let beside = beside(name);
            match self.create_in(folder, &beside, mode) {
                Err(Errno::EEXIST) if attempts > 1 => attempts -= 1,
                Err(errno) => return Err(errno),
                Ok(file) => return Ok((file, beside)),
            }
        }
    }
}

/// Whether a crash of the machine may take a file away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    Left,
    Synced,
}

fn fill(file: &mut File, bytes: &[u8], durability: Durability) -> io::Result<()> {
    file.write_all(bytes)?;
    if durability == Durability::Synced {
        file.sync_all()?;
    }
    Ok(())
}

/// A name that nobody else of this process has, and others hardly.
fn beside(name: &std::ffi::OsStr) -> PathBuf {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}-{made}.new", std::process::id()));
    beside.into()
}
