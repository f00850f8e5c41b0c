//! Whose the files of a folder are.
//!
//! A daemon started as root serves agents that run as a user of their own. An
//! agent's folder belongs to that user, and so must what is made in it: the
//! agent is to edit its notes.
//!
//! Where daemons are users of their own too, they and the agents have a group in
//! common. A folder with the set-group-ID bit that its group may write (inode(7))
//! is that group's, and so is what is made in it.

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
    /// Whether the folder is its group's.
    shared: bool,
}

/// Set-group-ID, and what the group may do with a folder that is its own.
const OF_GROUP: u32 = 0o2070;
const SET_GROUP_ID: u32 = 0o2000;
const PERMISSIONS: u32 = 0o777;

/// Whether a folder of this mode is its group's.
pub(crate) fn is_of_group(mode: u32) -> bool {
    mode & OF_GROUP == OF_GROUP
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
            shared: is_of_group(status.st_mode),
        })
    }

    /// The mode with which something is made: what would be its owner's alone is its
    /// group's, too, in a folder that is.
    pub(crate) fn mode(self, mode: Mode) -> Mode {
        let is_private = mode.bits() & 0o077 == 0;
        if is_private && self.shared {
            Mode::from_bits_truncate(mode.bits() | mode.bits() >> 3)
        } else {
            mode
        }
    }

    /// Gives `made` to the owner of the folder, with `mode`, of which umask(2)
    /// may have taken a part away.
    pub(crate) fn pass_on(self, made: impl AsFd, mode: Mode) -> Result<(), Errno> {
        let mode = self.mode(mode);
        if self.shared && self.owner.is_none() {
            let now = fstat(made.as_fd())?.st_mode;
            // A service may be forbidden to set the set-group-ID bit (RestrictSUIDSGID=), which a
            // folder has from the one around it.
            if now & PERMISSIONS == mode.bits() {
                return Ok(());
            }
            return fchmod(made, mode | Mode::from_bits_truncate(now & SET_GROUP_ID));
        }
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
