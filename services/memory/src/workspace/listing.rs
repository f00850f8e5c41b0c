//! The names in a folder.

use std::os::fd::OwnedFd;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{SFlag, fstatat};

use super::{Error, Stamp, Workspace};

/// An open folder of a workspace.
#[derive(Debug)]
pub(crate) struct Listing {
    folder: Dir,
}

impl Listing {
    pub(super) fn new(folder: OwnedFd) -> Result<Self, Errno> {
        Ok(Self {
            folder: Dir::from_fd(folder)?,
        })
    }

    /// The names in it that are UTF-8 and do not begin with a dot, and what
    /// they name, links not followed. Reading ends where the folder does.
    pub(crate) fn entries(&mut self) -> Vec<(String, Option<Type>)> {
        let mut entries: Vec<_> = self
            .folder
            .iter()
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let name = entry.file_name().to_str().ok()?;
                (!name.starts_with('.')).then(|| (name.to_owned(), entry.file_type()))
            })
            .collect();
        for (name, kind) in &mut entries {
            // Some file systems leave it to stat(2) (readdir(3), DT_UNKNOWN).
            if kind.is_none() && self.is_folder(name) {
                *kind = Some(Type::Directory);
            }
        }
        entries
    }

    /// What is known of the file `name` in it, which is at `path` in
    /// `workspace`, as [`Workspace::stamp`] has it.
    pub(crate) fn stamp(
        &self,
        workspace: &Workspace,
        path: &str,
        name: &str,
    ) -> Result<Option<Stamp>, Error> {
        workspace.stamp_in(&self.folder, name, path)
    }

    fn is_folder(&self, name: &str) -> bool {
        fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok_and(|status| {
            SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR
        })
    }
}
