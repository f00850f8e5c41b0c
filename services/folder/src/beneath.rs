//! Opening a path that does not lead out of a folder, through no link.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::{Mode, fstatat};

use crate::kind::Kind;

/// How long whoever holds a lease on a file (fcntl(2)) has to let it go. The kernel asks them
/// when it is opened, and opening without waiting fails until then.
const LEASE_PATIENCE: Duration = Duration::from_millis(250);
/// How often it is tried meanwhile.
const LEASE_PAUSE: Duration = Duration::from_millis(10);

/// Opens `path` beneath `root`: EXDEV when it is absolute or has `..` in it,
/// ELOOP when a symbolic link is on the way or in its place, EAGAIN when somebody
/// holds a lease on it and keeps it. Opening waits for nobody else.
///
/// By openat2(2) where there is one. Containers answer EPERM or ENOSYS, and
/// RestrictSUIDSGID= (systemd.exec(5)) does, because a filter cannot see its
/// flags; there the path is walked name by name.
pub(crate) fn open(
    root: impl AsFd,
    path: &Path,
    flags: OFlag,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    // An O_PATH descriptor is no open file: openat2(2) refuses what it would
    // not heed.
    let flags = if flags.contains(OFlag::O_PATH) {
        flags - OFlag::O_NONBLOCK - OFlag::O_NOCTTY
    } else {
        flags
    };
    names(path).try_for_each(|name| name.map(drop))?;
    let whole = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let how = OpenHow::new().flags(flags).mode(mode).resolve(
        ResolveFlag::RESOLVE_BENEATH
            | ResolveFlag::RESOLVE_NO_SYMLINKS
            | ResolveFlag::RESOLVE_NO_MAGICLINKS,
    );
    let begun = Instant::now();
    loop {
        let opened = match openat2(root.as_fd(), whole, how) {
            Err(Errno::ENOSYS | Errno::EPERM) => walk(&root, path, flags, mode),
            opened => opened,
        };
        let is_leased = matches!(opened, Err(Errno::EAGAIN));
        if !is_leased || begun.elapsed() >= LEASE_PATIENCE {
            return opened;
        }
        pause();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nobody is told when a lease is let go, unless open(2) itself waits, without a bound"
)]
fn pause() {
    std::thread::sleep(LEASE_PAUSE);
}

/// Opens what lies at an absolute path, not for reading, by openat2(2) alone: EXDEV where the path
/// is not absolute or has `..` in it, ELOOP as [`open`] has it.
pub(crate) fn open_absolute(path: &Path) -> Result<OwnedFd, Errno> {
    let beneath = path.strip_prefix("/").map_err(|_| Errno::EXDEV)?;
    names(beneath).try_for_each(|name| name.map(drop))?;
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    openat2(AT_FDCWD, path, how)
}

/// Every name is opened in the folder before it and never through a link, so
/// nobody can swap one in between.
fn walk(root: impl AsFd, path: &Path, flags: OFlag, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut folder = root.as_fd().try_clone_to_owned().map_err(errno)?;
    let mut names = names(path).peekable();
    while let Some(name) = names.next() {
        let name = name?;
        if names.peek().is_none() {
            return last(&folder, name, path, flags, mode);
        }
        let through = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        folder = openat(&folder, name, through, Mode::empty())
            .map_err(|errno| explained(&folder, name, errno))?;
    }
    openat(&folder, ".", flags, mode)
}

fn last(
    folder: &OwnedFd,
    name: &OsStr,
    path: &Path,
    flags: OFlag,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    // Links are opened by O_PATH alone, as links.
    if flags.contains(OFlag::O_PATH) && Kind::of(folder, name) == Ok(Kind::Link) {
        return Err(Errno::ELOOP);
    }
    // The kernel's way to say that it is to be a folder.
    let flags = if ends_as_folder(path) {
        flags | OFlag::O_DIRECTORY
    } else {
        flags
    };
    openat(folder, name, flags | OFlag::O_NOFOLLOW, mode)
        .map_err(|errno| explained(folder, name, errno))
}

/// What a link is to O_DIRECTORY is ENOTDIR; it is to be told from a file.
fn explained(folder: &OwnedFd, name: &OsStr, errno: Errno) -> Errno {
    match errno {
        Errno::ENOTDIR if Kind::of(folder, name) == Ok(Kind::Link) => Errno::ELOOP,
        errno => errno,
    }
}

fn ends_as_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

/// The names of a path; EXDEV where it could lead out.
pub(crate) fn names(path: &Path) -> impl Iterator<Item = Result<&OsStr, Errno>> {
    path.components().filter_map(|component| match component {
        Component::CurDir => None,
        Component::Normal(name) => Some(Ok(name)),
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => Some(Err(Errno::EXDEV)),
    })
}

/// The folder of a path, and the name in it; EXDEV where it could lead out,
/// EINVAL where it has no name.
pub(crate) fn split_last(path: &Path) -> Result<(&Path, &OsStr), Errno> {
    names(path).try_for_each(|name| name.map(drop))?;
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok((folder, name)),
        _ => Err(Errno::EINVAL),
    }
}

impl Kind {
    /// Of what `name` is in `folder`, which is not followed.
    pub(crate) fn of(folder: impl AsFd, name: &OsStr) -> Result<Self, Errno> {
        let status = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        Ok(Self::from_mode(status.st_mode))
    }
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
    fn both(root: &OwnedFd, path: &str, flags: OFlag) -> Result<u64, Errno> {
        let inode = |file: OwnedFd| nix::sys::stat::fstat(&file).unwrap().st_ino;
        let path = Path::new(path);
        let kernel = open(root, path, flags, Mode::empty()).map(inode);
        let walked = names(path)
            .try_for_each(|name| name.map(drop))
            .and_then(|()| walk(root, path, flags | OFlag::O_CLOEXEC, Mode::empty()))
            .map(inode);
        assert_eq!(walked, kernel, "{}, {flags:?}", path.display());
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
            ("/proc/self/fd/0", "magic"),
            ("sub/deep", "folder"),
            ("../../file", "sub/deep/up"),
            ("loop", "loop"),
        ] {
            symlink(target, base.join(link)).unwrap();
        }
        let root: OwnedFd = fs::File::open(&base).unwrap().into();
        let paths = [
            "",
            ".",
            "./file",
            "file",
            "file/",
            "file/x",
            "sub",
            "sub/",
            "sub/.",
            "sub/deep/file",
            "sub/none/file",
            "sub/../file",
            "../outside",
            "/etc/passwd",
            "in",
            "in/",
            "out",
            "absolute",
            "magic",
            "folder/file",
            "folder",
            "folder/",
            "sub/deep/up",
            "loop",
            "loop/x",
            "none",
        ];
        let read = OFlag::O_RDONLY;
        for flags in [read, read | OFlag::O_DIRECTORY, OFlag::O_PATH] {
            for path in paths {
                let _ = both(&root, path, flags);
            }
            for link in ["in", "out", "magic", "folder", "folder/file", "loop"] {
                assert_eq!(both(&root, link, flags), Err(Errno::ELOOP), "{link}");
            }
            for out in ["../outside", "sub/../file", "/etc/passwd"] {
                assert_eq!(both(&root, out, flags), Err(Errno::EXDEV), "{out}");
            }
        }
        assert!(both(&root, "sub/deep/file", read).is_ok());
    }

    /// /proc is full of links that are no links: they lead anywhere at once.
    #[test]
    fn links_of_proc_are_not_followed() {
        let process: OwnedFd = fs::File::open("/proc/self").unwrap().into();
        for path in ["root/etc/passwd", "cwd", "exe", "fd/0"] {
            let opened = both(&process, path, OFlag::O_RDONLY);
            assert_eq!(opened, Err(Errno::ELOOP), "{path}");
        }
    }
}
