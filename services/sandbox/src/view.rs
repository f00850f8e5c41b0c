//! The agent's view of the directories that are closed to its user: empty, but for the grants.
//!
//! Only as root. The home of root is mode 0700, so an agent that became another user could not
//! reach a workspace inside it, and opening the home would open all of it.

use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::{Mode, umask};
use rustix::fs::StatVfsMountFlags as Held;

use crate::failure::{StepError, io, system};
use crate::identity::Identity;
use crate::real;
use crate::sys::errno;
use crate::valid::{Access, Grant};

/// The empty directories hold mount points only.
const TMPFS_OPTIONS: &str = "mode=0755,size=1m,nr_inodes=4k";
const NONE: Option<&str> = None;

/// A grant that lies in a hidden directory, held open while that is covered.
struct HeldGrant<'a> {
    object: OwnedFd,
    directory: bool,
    targets: Vec<&'a Path>,
    access: Access,
}

/// Makes the view for `identity`, in a mount namespace of this process.
///
/// # Errors
/// A mount fails; or namespaces are not permitted and a grant cannot be reached without.
pub(crate) fn apply(
    hide: &[PathBuf],
    grants: &[Grant],
    identity: &Identity,
) -> Result<(), StepError> {
    if hide.is_empty() {
        return Ok(());
    }
    match unshare(CloneFlags::CLONE_NEWNS) {
        Ok(()) => {}
        // Containers often keep CAP_SYS_ADMIN from root. The path rules close the home either way,
        // so this matters only if the grants cannot be reached.
        Err(Errno::EPERM) => return check_reachable(grants, identity),
        Err(error) => return Err(system("unshare", "mount namespace")(error)),
    }
    // Slave, so that nothing made here is seen outside, while an unmount outside is followed and
    // no turn keeps a removed disk busy.
    let slave = MsFlags::MS_REC | MsFlags::MS_SLAVE;
    mount(NONE, "/", NONE, slave, NONE).map_err(system("make private", "/"))?;
    // Opened after unshare: a descriptor of the old namespace's mount cannot be bound in this one.
    let kept = open_kept(hide, grants)?;
    hide.iter().try_for_each(|dir| cover(dir))?;
    // The agent's user has to pass through directories that root makes on the way to a grant.
    let mask = umask(Mode::from_bits_truncate(0o022));
    let result = kept.iter().try_for_each(bring_back);
    umask(mask);
    result?;
    hide.iter().try_for_each(|dir| seal(dir))
}

fn check_reachable(grants: &[Grant], identity: &Identity) -> Result<(), StepError> {
    match grants
        .iter()
        .find(|grant| !reachable(&grant.real, identity))
    {
        None => Ok(()),
        Some(grant) => Err(StepError::Unreachable {
            path: grant.path.display().to_string(),
            user: identity.name.clone(),
        }),
    }
}

/// Whether mode bits let `identity` through every directory above `path`. Access lists are not
/// read: an error here is a clear message too few, not an access too many.
fn reachable(path: &Path, identity: &Identity) -> bool {
    let above = path.ancestors().skip(1);
    let mut metadata = above.map_while(|dir| fs::metadata(dir).ok());
    metadata.all(|dir| {
        let bit = match () {
            () if dir.uid() == identity.uid.as_raw() => 0o100,
            () if dir.gid() == identity.gid.as_raw() => 0o010,
            () => 0o001,
        };
        dir.mode() & bit != 0
    })
}

/// Opens the grants inside hidden directories, enclosing ones first.
fn open_kept<'a>(hide: &[PathBuf], grants: &'a [Grant]) -> Result<Vec<HeldGrant<'a>>, StepError> {
    let inside = |path: &Path| hide.iter().any(|dir| path.starts_with(dir));
    let mut kept = Vec::new();
    for grant in grants {
        // Both names: the one the agent is told, which may go through a link inside the hidden
        // directory, and the one that links elsewhere lead to.
        let mut targets = vec![grant.path.as_path(), grant.real.as_path()];
        targets.dedup();
        targets.retain(|path| inside(path));
        if !targets.is_empty() {
            let (object, directory) =
                real::open(&grant.real).map_err(io("open", grant.path.display()))?;
            kept.push(HeldGrant {
                object,
                directory,
                targets,
                access: grant.access,
            });
        }
    }
    kept.sort_by_key(|kept| kept.targets.first().map(|path| path.components().count()));
    Ok(kept)
}

fn cover(dir: &Path) -> Result<(), StepError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(
        Some("tmpfs"),
        dir,
        Some("tmpfs"),
        flags,
        Some(TMPFS_OPTIONS),
    )
    .map_err(system("cover", dir.display()))
}

fn bring_back(kept: &HeldGrant<'_>) -> Result<(), StepError> {
    let source = format!("/proc/self/fd/{}", kept.object.as_raw_fd());
    for target in &kept.targets {
        make_mount_point(target, kept.directory).map_err(io("make", target.display()))?;
        let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
        mount(Some(source.as_str()), *target, NONE, bind, NONE)
            .map_err(system("bring back", target.display()))?;
        let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | flags_of(kept)?;
        mount(NONE, *target, NONE, flags, NONE).map_err(system("restrict", target.display()))?;
    }
    Ok(())
}

/// What is already there was brought back with an enclosing grant.
fn make_mount_point(target: &Path, directory: bool) -> std::io::Result<()> {
    if target.exists() {
        return Ok(());
    }
    if directory {
        return fs::create_dir_all(target);
    }
    fs::create_dir_all(target.parent().unwrap_or(target))?;
    File::create(target).map(drop)
}

/// A remount sets all flags anew, so those the administrator gave the file system are repeated.
fn flags_of(kept: &HeldGrant<'_>) -> Result<MsFlags, StepError> {
    let held = rustix::fs::fstatvfs(&kept.object)
        .map_err(errno)
        .map_err(system("look at", "mount"))?
        .f_flag;
    let mut flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    if kept.access == Access::Device {
        flags.remove(MsFlags::MS_NODEV);
    }
    let read_only = held.contains(Held::RDONLY) || kept.access == Access::ReadOnly;
    flags.set(MsFlags::MS_RDONLY, read_only);
    flags.set(MsFlags::MS_NOEXEC, held.contains(Held::NOEXEC));
    flags.set(MsFlags::MS_NOATIME, held.contains(Held::NOATIME));
    flags.set(MsFlags::MS_NODIRATIME, held.contains(Held::NODIRATIME));
    flags.set(MsFlags::MS_RELATIME, held.contains(Held::RELATIME));
    Ok(flags)
}

fn seal(dir: &Path) -> Result<(), StepError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let remount = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | flags;
    mount(NONE, dir, NONE, remount, NONE).map_err(system("seal", dir.display()))
}
