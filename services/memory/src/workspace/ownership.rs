//! Whose the files of a workspace are.
//!
//! A daemon started as root serves agents that run as a user of their own. The
//! workspace belongs to that user, and so must what is made in it: the agent
//! is to edit its notes.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat};
use nix::unistd::{Gid, Uid, fchown, geteuid};

/// To whom what is made is passed on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ownership {
    /// None when what is made has the right owner already.
    owner: Option<(Uid, Gid)>,
    /// Whether nobody but the owner gets into the workspace.
    private: bool,
}

impl Ownership {
    /// The ownership of the workspace `root`.
    pub(super) fn of(root: impl AsFd) -> Result<Self, Errno> {
        let status = fstat(root)?;
        let owner = (Uid::from_raw(status.st_uid), Gid::from_raw(status.st_gid));
        let foreign = geteuid().is_root() && !owner.0.is_root();
        Ok(Self {
            owner: foreign.then_some(owner),
            private: status.st_mode & 0o077 == 0,
        })
    }

    /// Gives `made` to the owner of the workspace.
    pub(super) fn pass_on(self, made: impl AsFd) -> Result<(), Errno> {
        let Some((user, group)) = self.owner else {
            return Ok(());
        };
        match fchown(made.as_fd(), Some(user), Some(group)) {
            // A service may be forbidden to change owners (systemd's
            // @privileged). In a workspace that only the owner gets into, the
            // mode does as well.
            Err(Errno::EPERM) if self.private => open_up(made),
            result => result,
        }
    }
}

fn open_up(made: impl AsFd) -> Result<(), Errno> {
    let mode = if is_folder(&fstat(made.as_fd())?) {
        0o777
    } else {
        0o666
    };
    fchmod(made, Mode::from_bits_truncate(mode))
}

fn is_folder(status: &FileStat) -> bool {
    SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR
}
