//! The names in a folder.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use rustix::fs::RawDir;

use crate::error::Error;
use crate::folder::Folder;
use crate::kind::Kind;

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Without its folder; never `.` or `..`.
    pub name: OsString,
    /// What it was when it was listed.
    pub kind: Kind,
}

impl Folder {
    /// At most `limit` names of this folder, in no order. Whoever has to know
    /// whether there are more asks for one more. No name costs a look at the
    /// file, but on file systems that do not tell kinds (readdir(3)).
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn entries(&self, limit: usize) -> Result<Vec<Entry>, Error> {
        let error = |errno| self.error("list", Path::new(""), errno);
        entries(self, limit).map_err(error)
    }
}

/// Bytes of names that the kernel is asked for at a time.
pub(crate) const BUFFER: usize = 8192;

pub(crate) fn entries(folder: impl AsFd, limit: usize) -> Result<Vec<Entry>, Errno> {
    // Opened once more: the place that reading has come to is the open file's.
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    listed(openat(&folder, ".", flags, Mode::empty())?, limit)
}

/// The names in `folder`, which nobody has read from.
pub(crate) fn listed(folder: impl AsFd, limit: usize) -> Result<Vec<Entry>, Errno> {
    let mut buffer = Vec::with_capacity(BUFFER);
    let mut listing = RawDir::new(&folder, buffer.spare_capacity_mut());
    let mut entries = Vec::new();
    while let Some(found) = listing.next() {
        let found = found.map_err(|errno| Errno::from_raw(errno.raw_os_error()))?;
        let name = OsStr::from_bytes(found.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if entries.len() == limit {
            break;
        }
        let kind = match Kind::told(found.file_type()) {
            Some(kind) => kind,
            None => match Kind::of(&folder, name) {
                Ok(kind) => kind,
                // Removed meanwhile.
                Err(_) => continue,
            },
        };
        let name = name.to_owned();
        entries.push(Entry { name, kind });
    }
    Ok(entries)
}
