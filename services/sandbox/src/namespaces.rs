//! Namespaces of a turn's own, namespaces(7).

use std::fs;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use crate::failure::{StepError, io, system};
use crate::identity;

/// Puts what this process forks from now on into a namespace of processes. Without root that needs
/// a user namespace, which this process itself enters, with its own ids as the only ones.
///
/// Called by the supervisor, which stays outside of every other namespace: it has to see all
/// processes to end them.
pub(crate) fn enter_processes() -> Result<(), StepError> {
    if identity::is_root() {
        return unshare(CloneFlags::CLONE_NEWPID).map_err(refused("process"));
    }
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID).map_err(refused("user"))?;
    // Groups of this user could be given up otherwise, and with them what is refused to a group.
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))
}

/// Puts this process into a mount namespace, and namespaces for System V queues, the host name, the
/// view of cgroups and, if wanted, the network.
pub(crate) fn enter_others(network: bool) -> Result<(), StepError> {
    let mut flags = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    flags.set(CloneFlags::CLONE_NEWNET, network);
    unshare(flags).map_err(refused("mount and network"))
}

fn write(path: &'static str, text: String) -> Result<(), StepError> {
    fs::write(path, text).map_err(io("write", path))
}

fn refused(which: &'static str) -> impl Fn(Errno) -> StepError {
    move |error| match error {
        Errno::EPERM | Errno::ENOSPC | Errno::ENOSYS | Errno::EINVAL => StepError::Namespace {
            which,
            remedy: remedy(),
            source: error,
        },
        other => system("make", format!("{which} namespace"))(other),
    }
}

/// What would permit namespaces here, by what the system's switches say.
fn remedy() -> &'static str {
    let is = |name: &str, value: &str| {
        let text = fs::read_to_string(format!("/proc/sys/{name}"));
        text.is_ok_and(|text| text.trim() == value)
    };
    match () {
        () if identity::is_root() => {
            "give this container the capability CAP_SYS_ADMIN, or run the suite as an ordinary user"
        }
        () if is("kernel/unprivileged_userns_clone", "0") => {
            "sysctl -w kernel.unprivileged_userns_clone=1"
        }
        () if is("user/max_user_namespaces", "0") => "sysctl -w user.max_user_namespaces=10000",
        () if is("kernel/apparmor_restrict_unprivileged_userns", "1") => {
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with \
             \"userns,\" for openclaw-sandbox"
        }
        () => {
            "permit unprivileged user namespaces; in a container that is a seccomp profile which \
             allows unshare and mount"
        }
    }
}
