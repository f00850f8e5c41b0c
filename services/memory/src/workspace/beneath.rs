//! Opening a path that does not lead out of a folder.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstatat};

/// Links followed in one path; the kernel's own limit (path_resolution(7)).
const LINK_LIMIT: usize = 40;

/// What a symbolic link on the way means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// Followed, as long as it stays beneath the folder.
    Followed,
    /// ELOOP.
    Refused,
}

/// Opens `path` beneath `root`: EXDEV when it leads out of it.
///
/// By openat2(2) where there is one. Containers and RestrictSUIDSGID=
/// (systemd.exec(5)) answer ENOSYS, because a filter cannot see its flags;
/// there the path is walked name by name.
pub(super) fn open(
    root: impl AsFd,
    path: &str,
    flags: OFlag,
    mode: Mode,
    links: Links,
) -> Result<OwnedFd, Errno> {
    let links_flag = match links {
        Links::Followed => ResolveFlag::RESOLVE_NO_MAGICLINKS,
        Links::Refused => ResolveFlag::RESOLVE_NO_SYMLINKS,
    };
    let how = OpenHow::new()
        .flags(flags | OFlag::O_CLOEXEC)
        .mode(mode)
        .resolve(ResolveFlag::RESOLVE_BENEATH | links_flag);
    match openat2(root.as_fd(), path, how) {
        Err(Errno::ENOSYS) => walk(root, path, flags | OFlag::O_CLOEXEC, mode, links),
        result => result,
    }
}

/// Every name is opened in the folder before it and never through a link, so
/// nobody can swap one in between: a link is read, and its own names take its
/// place.
fn walk(
    root: impl AsFd,
    path: &str,
    flags: OFlag,
    mode: Mode,
    links: Links,
) -> Result<OwnedFd, Errno> {
    let mut folders = vec![root.as_fd().try_clone_to_owned().map_err(errno)?];
    let mut names: VecDeque<OsString> = split(Path::new(path))?.collect();
    let mut followed = 0;
    while let Some(name) = names.pop_front() {
        let Some(folder) = folders.last() else {
            return Err(Errno::EXDEV);
        };
        if name == ".." {
            folders.pop();
            continue;
        }
        if is_link(folder, &name) {
            followed += 1;
            if links == Links::Refused || followed > LINK_LIMIT {
                return Err(Errno::ELOOP);
            }
            let target = readlinkat(folder, name.as_os_str())?;
            let inner: Vec<_> = split(Path::new(&target))?.collect();
            inner
                .into_iter()
                .rev()
                .for_each(|name| names.push_front(name));
            continue;
        }
        if names.is_empty() {
            return openat(folder, name.as_os_str(), flags | OFlag::O_NOFOLLOW, mode);
        }
        let through = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let next = openat(folder, name.as_os_str(), through, Mode::empty())?;
        folders.push(next);
    }
    // The path names the folder itself, or one above a name in it.
    let folder = folders.last().ok_or(Errno::EXDEV)?;
    openat(folder, ".", flags, mode)
}

/// The names of a path; an absolute one leads out.
fn split(path: &Path) -> Result<impl Iterator<Item = OsString> + use<'_>, Errno> {
    if path.is_absolute() {
        return Err(Errno::EXDEV);
    }
    Ok(path.components().filter_map(|component| match component {
        Component::CurDir => None,
        other => Some(other.as_os_str().to_owned()),
    }))
}

fn is_link(folder: impl AsFd, name: &OsStr) -> bool {
    fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok_and(|status| {
        SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFLNK
    })
}

fn errno(error: std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Both ways must answer the same.
    fn both(root: &OwnedFd, path: &str, links: Links) -> Result<u64, Errno> {
        let inode = |file: OwnedFd| nix::sys::stat::fstat(&file).unwrap().st_ino;
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK;
        let kernel = open(root, path, flags, Mode::empty(), links).map(inode);
        let walked = walk(root, path, flags, Mode::empty(), links).map(inode);
        assert_eq!(walked, kernel, "{path}");
        walked
    }

    #[test]
    fn walking_answers_as_the_kernel_does() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("root");
        fs::create_dir_all(base.join("sub/deep")).unwrap();
        fs::write(folder.path().join("outside"), "").unwrap();
        fs::write(base.join("file"), "").unwrap();
        fs::write(base.join("sub/deep/file"), "").unwrap();
        for (target, link) in [
            ("file", "in"),
            ("../outside", "out"),
            ("/etc/passwd", "absolute"),
            ("sub/deep", "folder"),
            ("../../file", "sub/deep/up"),
            ("loop", "loop"),
        ] {
            symlink(target, base.join(link)).unwrap();
        }
        let root: OwnedFd = fs::File::open(&base).unwrap().into();
        for links in [Links::Followed, Links::Refused] {
            for path in [
                "file",
                "sub/deep/file",
                "sub/../file",
                "../outside",
                "/etc/passwd",
                "in",
                "out",
                "absolute",
                "folder/file",
                "folder",
                "sub/deep/up",
                "loop",
                "none",
                "file/x",
                ".",
                "sub/../../root/file",
            ] {
                let _ = both(&root, path, links);
            }
        }
        assert!(both(&root, "in", Links::Followed).is_ok());
        assert_eq!(both(&root, "out", Links::Followed), Err(Errno::EXDEV));
        assert_eq!(both(&root, "in", Links::Refused), Err(Errno::ELOOP));
    }
}
