//! Modes of what is written into the state directory: its owner's alone; or,
//! where each daemon is a user of its own, its group's to read as well.
//!
//! Like umask(2) this is of the whole process: everything that writes agrees.

use std::sync::atomic::{AtomicBool, Ordering};

static SHARED: AtomicBool = AtomicBool::new(false);

/// Modes of one kind of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// Of a file.
    pub file: u32,
    /// Of a folder.
    pub folder: u32,
    /// What a mode must have nothing of.
    pub foreign: u32,
}

/// State of one user.
const OWN: Modes = Modes {
    file: 0o600,
    folder: 0o700,
    foreign: 0o077,
};

/// State of several users of one group. Each writes its own files, which the
/// others read; in a folder each makes its own entries and removes nobody else's
/// (the sticky bit, inode(7)).
const SHARED_IN_GROUP: Modes = Modes {
    file: 0o640,
    folder: 0o1770,
    foreign: 0o007,
};

/// From here on what this process writes is for its group, too. Called once, before
/// anything is written.
pub fn share_with_group() {
    SHARED.store(true, Ordering::Relaxed);
}

/// Whether several users share the state.
#[must_use]
pub fn are_shared() -> bool {
    SHARED.load(Ordering::Relaxed)
}

/// The modes that hold in this process.
#[must_use]
pub fn current() -> Modes {
    if are_shared() { SHARED_IN_GROUP } else { OWN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_the_owners_until_they_are_shared() {
        assert_eq!(current(), OWN);
        share_with_group();
        let shared = current();
        assert_eq!(shared, SHARED_IN_GROUP);
        for modes in [OWN, shared] {
            assert_eq!((modes.file | modes.folder) & modes.foreign, 0);
        }
    }
}
