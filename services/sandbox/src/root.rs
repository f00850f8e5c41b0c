//! A root directory in which only the grants exist, at the places they have outside.
//!
//! Path rules alone leave names to be seen and metadata to be read (Landlock judges opening, not
//! stat(2)); and they say nothing about sockets and pipes of the file system before version 9.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{chdir, pivot_root};

use crate::failure::{StepError, io, system};
use crate::real;
use crate::sys::{self, MountFlags};
use crate::valid::{Access, Grant};

/// Where the new root is put together; what is there outside is covered meanwhile.
const BASE: &str = "/tmp";
/// The root itself holds mount points and links only.
const ROOT_OPTIONS: &str = "mode=0755,size=1m,nr_inodes=4k";
/// POSIX shared memory and semaphores, as large as container engines make it.
const SHARED_MEMORY_OPTIONS: &str = "mode=1777,size=64m,nr_inodes=4k";
/// A `/tmp` in memory, for plans that name none.
const TEMPORARY_OPTIONS: &str = "mode=1777,size=256m,nr_inodes=64k";
const TERMINAL_OPTIONS: &str = "newinstance,ptmxmode=0666,mode=0620";
/// `/` and a name.
const TOP_LEVEL: usize = 2;
const NONE: Option<&str> = None;

/// A grant, cloned off the tree of mounts outside.
struct ClonedGrant<'a> {
    mount: OwnedFd,
    directory: bool,
    grant: &'a Grant,
}

/// Makes the new root the root of this process, which has to be the first of a namespace of
/// processes and in a mount namespace of its own. Returns what is granted beside the grants.
pub(crate) fn enter(grants: &[Grant], tmp: Option<&Path>) -> Result<Vec<Grant>, StepError> {
    // An agent's user has to pass through directories that root makes here.
    let mask = umask(Mode::from_bits_truncate(0o022));
    let result = build(grants, tmp);
    umask(mask);
    result
}

fn build(grants: &[Grant], tmp: Option<&Path>) -> Result<Vec<Grant>, StepError> {
    // Slave, so that nothing made here is seen outside, while an unmount outside is followed and
    // no turn keeps a removed disk busy.
    let slave = MsFlags::MS_REC | MsFlags::MS_SLAVE;
    mount(NONE, "/", NONE, slave, NONE).map_err(system("make private", "/"))?;
    // All before the base covers some of them.
    let taken = take(grants)?;
    let temporary = match tmp {
        Some(path) => Some(clone(path, Access::ReadWrite)?.0),
        None => None,
    };
    new("tmpfs", Path::new(BASE), MsFlags::MS_NODEV, ROOT_OPTIONS)?;
    // What encloses a place of its own comes before that, what lies in one after.
    let (around, within): (Vec<_>, Vec<_>) = taken
        .iter()
        .partition(|taken| taken.grant.real.components().count() <= TOP_LEVEL);
    around.into_iter().try_for_each(put)?;
    let own = put_own(grants, temporary.as_ref())?;
    within.into_iter().try_for_each(put)?;
    change_root()?;
    grants.iter().try_for_each(link)?;
    seal()?;
    Ok(own)
}

/// Enclosing grants first; those that an enclosing one brings along with the same access are left
/// out.
fn take(grants: &[Grant]) -> Result<Vec<ClonedGrant<'_>>, StepError> {
    let mut sorted: Vec<&Grant> = grants.iter().filter(|grant| !is_own(&grant.real)).collect();
    sorted.sort_by_key(|grant| grant.real.components().count());
    let mut taken: Vec<ClonedGrant<'_>> = Vec::new();
    for grant in sorted {
        let encloses = |other: &&ClonedGrant<'_>| grant.real.starts_with(&other.grant.real);
        // The innermost of those is the last.
        let around = taken.iter().rev().find(encloses);
        if around.is_none_or(|around| around.grant.access != grant.access) {
            let (mount, directory) = clone(&grant.real, grant.access)?;
            taken.push(ClonedGrant {
                mount,
                directory,
                grant,
            });
        }
    }
    Ok(taken)
}

/// `/proc` is made anew: the one outside shows the processes there.
fn is_own(path: &Path) -> bool {
    path == Path::new("/proc")
}

/// Recursive, because a bind without what is mounted below would uncover what that hides, which the
/// kernel refuses in a user namespace.
fn clone(path: &Path, access: Access) -> Result<(OwnedFd, bool), StepError> {
    let (object, directory) = real::open(path).map_err(io("open", path.display()))?;
    let clone = sys::clone_mount(&object).map_err(system("take", path.display()))?;
    let flags = match access {
        Access::ReadWrite => MountFlags::NO_SUID | MountFlags::NO_DEVICES,
        Access::ReadOnly => MountFlags::NO_SUID | MountFlags::NO_DEVICES | MountFlags::READ_ONLY,
        Access::Device => MountFlags::NO_SUID | MountFlags::NO_EXECUTION,
    };
    sys::restrict_mount(&clone, flags).map_err(system("restrict", path.display()))?;
    Ok((clone, directory))
}

fn put(taken: &ClonedGrant<'_>) -> Result<(), StepError> {
    let target = inside(&taken.grant.real);
    make_place(&target, taken.directory).map_err(io("make", target.display()))?;
    sys::move_mount(&taken.mount, &target).map_err(system("put", target.display()))
}

fn inside(path: &Path) -> PathBuf {
    Path::new(BASE).join(path.strip_prefix("/").unwrap_or(path))
}

/// What is already there came with an enclosing grant. Otherwise nothing on the way is a link: the
/// places are real paths, and links are made last.
fn make_place(target: &Path, directory: bool) -> std::io::Result<()> {
    let make = || {
        if directory {
            DirBuilder::new().mode(0o755).create(target)
        } else {
            File::create_new(target).map(drop)
        }
    };
    match make() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // An enclosing grant may be read-only.
        Err(_) if target.exists() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let around = target.parent().unwrap_or(target);
            DirBuilder::new()
                .recursive(true)
                .mode(0o755)
                .create(around)?;
            make()
        }
        result => result,
    }
}

/// What every turn has for itself alone.
fn put_own(grants: &[Grant], temporary: Option<&OwnedFd>) -> Result<Vec<Grant>, StepError> {
    let own = |path: &str| -> Result<PathBuf, StepError> {
        let target = inside(Path::new(path));
        make_place(&target, true).map_err(io("make", target.display()))?;
        Ok(target)
    };
    let quiet = MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    // Before the old root is let go: the kernel shows processes in a new place only to who saw
    // them in an old one.
    new("proc", &own("/proc")?, quiet, "")?;
    new("tmpfs", &own("/dev/shm")?, quiet, SHARED_MEMORY_OPTIONS)?;
    let terminals = MsFlags::MS_NOEXEC;
    new("devpts", &own("/dev/pts")?, terminals, TERMINAL_OPTIONS)?;
    let tmp = own("/tmp")?;
    let is_granted = grants.iter().any(|grant| grant.real == Path::new("/tmp"));
    match temporary {
        _ if is_granted => {}
        Some(temporary) => {
            sys::move_mount(temporary, &tmp).map_err(system("put", tmp.display()))?;
        }
        None => new("tmpfs", &tmp, MsFlags::MS_NODEV, TEMPORARY_OPTIONS)?,
    }
    for (name, target) in [
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        let path = inside(Path::new("/dev")).join(name);
        match symlink(target, &path) {
            Ok(()) => {}
            // There is one where all of /dev is granted.
            Err(_) if fs::symlink_metadata(&path).is_ok() => {}
            Err(error) => return Err(io("make", path.display())(error)),
        }
    }
    let grant = |path: &str, access| Grant {
        path: path.into(),
        real: path.into(),
        access,
    };
    let mut granted = vec![
        grant("/proc", Access::ReadOnly),
        grant("/dev/shm", Access::ReadWrite),
        grant("/dev/pts", Access::Device),
    ];
    // Else it has the rights of the grant.
    if !is_granted {
        granted.push(grant("/tmp", Access::ReadWrite));
    }
    Ok(granted)
}

fn new(kind: &str, target: &Path, flags: MsFlags, options: &str) -> Result<(), StepError> {
    mount(
        Some(kind),
        target,
        Some(kind),
        flags | MsFlags::MS_NOSUID,
        Some(options),
    )
    .map_err(system("mount", format!("{kind} on {}", target.display())))
}

/// The old root ends up on top of the new one (pivot_root(2), NOTES), and is taken off again.
fn change_root() -> Result<(), StepError> {
    chdir(BASE).map_err(system("change to directory", BASE))?;
    pivot_root(".", ".").map_err(system("change", "root"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(system("let go of", "the old root"))?;
    chdir("/").map_err(system("change to directory", "/"))
}

/// The name under which the agent knows a grant, where that leads over a link.
fn link(grant: &Grant) -> Result<(), StepError> {
    if grant.path == grant.real || fs::metadata(&grant.path).is_ok() {
        return Ok(());
    }
    let parent = grant.path.parent().unwrap_or(&grant.path);
    make_place(parent, true).map_err(io("make", parent.display()))?;
    symlink(&grant.real, &grant.path).map_err(io("link", grant.path.display()))
}

/// Nothing can be put where the agent's user could otherwise, and as root nobody else can.
fn seal() -> Result<(), StepError> {
    let flags = MsFlags::MS_BIND
        | MsFlags::MS_REMOUNT
        | MsFlags::MS_RDONLY
        | MsFlags::MS_NOSUID
        | MsFlags::MS_NODEV;
    mount(NONE, "/", NONE, flags, NONE).map_err(system("seal", "/"))
}
