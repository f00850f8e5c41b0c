//! Giving a directory of the state to the user agents run as.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::fchownat;

use crate::identity::Identity;

/// Nesting beyond this is no workspace, and would use up descriptors: one is held per level.
const DEPTH_MAX: usize = 128;

/// Why a tree could not be given away.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// One entry failed.
    #[error("{operation} {path:?}")]
    Entry {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: Errno,
    },
    /// Nested deeper than is taken.
    #[error("{0:?} is nested too deeply")]
    Depth(PathBuf),
}

/// Gives `top` and everything beneath it to `user`. Does nothing when `top` itself belongs to it
/// already, which makes the call cheap before every turn.
///
/// Follows no symbolic link, not even one put in place of a directory meanwhile. Only for paths
/// inside the state directory: other files with hard links into the tree change owner too.
///
/// # Errors
/// The first entry that cannot be opened or given away; what came before stays given.
pub fn adopt(top: &Path, user: &Identity) -> Result<(), AdoptError> {
    let directory = open(nix::fcntl::AT_FDCWD, top.as_os_str(), top)?;
    let held = fstat(&directory).map_err(at("look at", top))?;
    if is_owned(&held, user) {
        return Ok(());
    }
    adopt_entries(directory, top, user, 0)?;
    // The top last: its owner says that the work is done, also after an interruption.
    change(nix::fcntl::AT_FDCWD, top.as_os_str(), top, user)
}

fn adopt_entries(
    directory: OwnedFd,
    path: &Path,
    user: &Identity,
    depth: usize,
) -> Result<(), AdoptError> {
    if depth > DEPTH_MAX {
        return Err(AdoptError::Depth(path.to_owned()));
    }
    let mut listing = Dir::from_fd(directory).map_err(at("list", path))?;
    let mut names = Vec::new();
    for entry in listing.iter() {
        let entry = entry.map_err(at("list", path))?;
        names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    }
    for name in names.iter().filter(|name| *name != "." && *name != "..") {
        let inner = path.join(name);
        let held = fstatat(&listing, name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW);
        let held = held.map_err(at("look at", &inner))?;
        if SFlag::from_bits_truncate(held.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR {
            let below = open(&listing, name, &inner)?;
            adopt_entries(below, &inner, user, depth + 1)?;
        }
        if !is_owned(&held, user) {
            change(&listing, name, &inner, user)?;
        }
    }
    Ok(())
}

fn is_owned(held: &FileStat, user: &Identity) -> bool {
    held.st_uid == user.uid.as_raw() && held.st_gid == user.gid.as_raw()
}

fn open(parent: impl AsFd, name: &OsStr, path: &Path) -> Result<OwnedFd, AdoptError> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_RDONLY;
    openat(parent, name, flags, Mode::empty()).map_err(at("open", path))
}

fn change(parent: impl AsFd, name: &OsStr, path: &Path, user: &Identity) -> Result<(), AdoptError> {
    let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
    fchownat(parent, name, Some(user.uid), Some(user.gid), flags).map_err(at("give away", path))
}

fn at(operation: &'static str, path: &Path) -> impl Fn(Errno) -> AdoptError {
    let path = path.to_owned();
    move |source| AdoptError::Entry {
        operation,
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use nix::unistd::{Gid, Uid, getegid, geteuid};

    use super::*;
    use crate::identity::{agent, is_root};

    fn own() -> Identity {
        Identity {
            name: "own".into(),
            uid: geteuid(),
            gid: getegid(),
        }
    }

    #[test]
    fn tree_changes_hands_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (top, outside) = (dir.path().join("top"), dir.path().join("outside"));
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("file"), "").unwrap();
        std::fs::write(top.join("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink(&outside, top.join("a/link")).unwrap();
        if !is_root() {
            assert!(adopt(&top, &own()).is_ok());
            return;
        }
        let user = agent("nobody").unwrap();
        adopt(&top, &user).unwrap();
        let owner = |path: PathBuf| std::fs::symlink_metadata(path).unwrap().uid();
        for inside in ["", "a", "a/b", "a/b/file", "a/link"] {
            assert_eq!(owner(top.join(inside)), user.uid.as_raw(), "{inside}");
        }
        assert_eq!(owner(outside.clone()), 0);
        assert_eq!(owner(outside.join("file")), 0);
    }

    #[test]
    fn link_as_top_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        let other = Identity {
            name: "other".into(),
            uid: Uid::from_raw(1),
            gid: Gid::from_raw(1),
        };
        assert!(adopt(&link, &other).is_err());
    }
}
