//! Whose the files of a folder are.
//!
//! A daemon started as root serves agents that run as a user of their own. An
//! agent's folder belongs to that user, and so must what is made in it: the
//! agent is to edit its notes.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::unistd::{Gid, Uid, fchown, geteuid};

/// To whom what is made is passed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ownership {
    /// None when what is made has the right owner already.
    owner: Option<(Uid, Gid)>,
    /// Whether nobody but the owner gets into the folder.
    private: bool,
}

impl Ownership {
    /// The ownership of the folder `root`.
    pub(crate) fn of(root: impl AsFd) -> Result<Self, Errno> {
        let status = fstat(root)?;
        let owner = (Uid::from_raw(status.st_uid), Gid::from_raw(status.st_gid));
        let foreign = geteuid().is_root() && !owner.0.is_root();
        Ok(Self {
            owner: foreign.then_some(owner),
            private: status.st_mode & 0o077 == 0,
        })
    }

    /// Gives `made` to the owner of the folder, with `mode`, of which umask(2)
    /// may have taken a part away.
    pub(crate) fn pass_on(self, made: impl AsFd, mode: Mode) -> Result<(), Errno> {
        let passed = match self.owner {
            Some((user, group)) => fchown(made.as_fd(), Some(user), Some(group)),
            None => Ok(()),
        };
        match passed {
            Ok(()) => fchmod(made, mode),
            // A service may be forbidden to change owners (systemd's
            // @privileged). In a folder that only the owner gets into, a mode
            // that gives everybody what the owner has does as well.
            Err(Errno::EPERM) if self.private => fchmod(made, for_everybody(mode)),
            Err(errno) => Err(errno),
        }
    }
}

fn for_everybody(mode: Mode) -> Mode {
    let owners = mode.bits() & 0o700;
    Mode::from_bits_truncate(owners | owners >> 3 | owners >> 6)
}
