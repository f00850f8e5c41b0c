//! Namespaces of a turn's own, namespaces(7).

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use crate::failure::{StepError, io, system};
use crate::identity;
use crate::remedy::Remedy;

/// Watchers of files (inotify(7)) that a turn in a user namespace of its own may have, and where
/// that is said (user_namespaces(7)). The kernel counts them for its user, too, who has 128.
const WATCHERS: &str = "48";
const WATCHERS_LIMIT: &str = "/proc/sys/user/max_inotify_instances";

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
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    // Refused where /proc/sys is not to be written, as in some containers.
    let _ = fs::write(WATCHERS_LIMIT, WATCHERS);
    Ok(())
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
    fs::write(path, text).map_err(|error| match error.kind() {
        // Ubuntu's AppArmor lets whoever has no profile make the namespace, and do nothing in it.
        ErrorKind::PermissionDenied => refused("user")(Errno::EPERM),
        _ => io("write", path)(error),
    })
}

fn refused(which: &'static str) -> impl Fn(Errno) -> StepError {
    move |error| match error {
        Errno::EPERM | Errno::ENOSPC | Errno::ENOSYS | Errno::EINVAL => StepError::Namespace {
            which,
            remedy: remedy().to_string(),
            source: error,
        },
        other => system("make", format!("{which} namespace"))(other),
    }
}

/// What would permit namespaces here, by what the system's switches say.
pub(crate) fn remedy() -> Remedy {
    let is = |name: &str, value: &str| {
        let text = fs::read_to_string(format!("/proc/sys/{name}"));
        text.is_ok_and(|text| text.trim() == value)
    };
    match () {
        () if identity::is_root() => Remedy::Words(
            // Docker's filter refuses pivot_root(2) whatever is given.
            "start this container with --cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt \
             seccomp=unconfined --security-opt apparmor=unconfined (docker, podman), or with --user as \
             an ordinary user"
                .to_owned(),
        ),
        () if is("kernel/unprivileged_userns_clone", "0") => {
            setting("kernel.unprivileged_userns_clone=1")
        }
        () if is("user/max_user_namespaces", "0") => setting("user.max_user_namespaces=10000"),
        () if is("kernel/apparmor_restrict_unprivileged_userns", "1") => apparmor(),
        () => Remedy::Words(
            "permit unprivileged user namespaces; a container has them with --security-opt \
             seccomp=unconfined and --security-opt systempaths=unconfined (podman: unmask=ALL)"
                .to_owned(),
        ),
    }
}

/// Sets a switch of the kernel for good.
fn setting(text: &str) -> Remedy {
    Remedy::Command(format!(
        "echo {text} | sudo tee -a /etc/sysctl.d/50-openclaw.conf && sudo sysctl --system"
    ))
}

/// Loads the profile that is shipped beside the programs.
fn apparmor() -> Remedy {
    const PROFILE: &str = "share/openclaw/apparmor/openclaw-sandbox";
    const PLACE: &str = "/etc/apparmor.d/openclaw-sandbox";
    let program = std::env::current_exe().unwrap_or_default();
    // Of the programs in `bin`, and in a package's `lib/openclaw`.
    let mut prefixes = program.ancestors().skip(2).take(2);
    let prefix = prefixes.find(|prefix| prefix.join(PROFILE).exists());
    let prefix = prefix.unwrap_or(Path::new("/usr"));
    let profile = prefix.join(PROFILE).display().to_string();
    let profile = profile.replace('\'', r"'\''");
    Remedy::Command(format!(
        "sudo install -m 644 '{profile}' {PLACE} && sudo apparmor_parser -r {PLACE}"
    ))
}
