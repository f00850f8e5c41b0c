//! Whether a process that stands ready would still see what is there: its view
//! was made when it was started.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use openclaw_sandbox::Plan;

/// Readable with an error when something was mounted or unmounted (proc(5)).
const MOUNTS: &str = "/proc/self/mountinfo";

/// A snapshot of the granted paths.
#[derive(Debug)]
pub(crate) struct PathSnapshot {
    mounts: Option<File>,
    grants: Vec<(PathBuf, Identity)>,
}

/// Device and inode; `None`: it is not there.
type Identity = Option<(u64, u64)>;

impl PathSnapshot {
    /// To be taken before the process is started.
    pub(crate) fn of(plan: &Plan) -> Self {
        let paths = plan.read_write.iter().chain(&plan.read_only);
        Self {
            mounts: File::open(MOUNTS).ok(),
            grants: paths.map(|path| (path.clone(), identity(path))).collect(),
        }
    }

    /// Whether all of it is the same now: nothing was mounted, and no folder
    /// was removed and made anew.
    pub(crate) fn holds(&self) -> bool {
        let same = |(path, before): &(PathBuf, Identity)| identity(path) == *before;
        !self.is_mounted() && self.grants.iter().all(same)
    }

    fn is_mounted(&self) -> bool {
        let Some(mounts) = &self.mounts else {
            return false;
        };
        let mut watched = [PollFd::new(mounts.as_fd(), PollFlags::POLLPRI)];
        match poll(&mut watched, PollTimeout::ZERO) {
            Ok(_) => watched[0]
                .revents()
                .is_some_and(|events| events.contains(PollFlags::POLLERR)),
            Err(_) => false,
        }
    }
}

fn identity(path: &Path) -> Identity {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_that_was_made_anew_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("workspace");
        fs::create_dir(&workspace).unwrap();
        let mut plan = Plan::new("run", "main", &workspace);
        plan.read_write.push(workspace.clone());
        let path_snapshot = PathSnapshot::of(&plan);
        fs::write(workspace.join("file"), "").unwrap();
        assert!(path_snapshot.holds());
        // The old one is kept: its inode is not given to the new one.
        fs::rename(&workspace, dir.path().join("old")).unwrap();
        assert!(!path_snapshot.holds());
        fs::create_dir(&workspace).unwrap();
        assert!(!path_snapshot.holds());
    }
}
