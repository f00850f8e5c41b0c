//! Giving up root, or the user of a service.

use nix::sys::prctl;
use nix::sys::stat::{Mode, umask};
use nix::unistd::{
    Gid, Uid, geteuid, getgroups, getresgid, getresuid, setgid, setgroups, setresgid, setresuid,
    setuid,
};

use crate::capabilities;
use crate::failure::{StepError, system};
use crate::identity::Identity;

/// What an agent makes in a folder that it shares with daemons of other users is for their group.
const UMASK: Mode = Mode::from_bits_truncate(0o007);

/// Becomes `identity`, for good.
pub(crate) fn give_up(identity: &Identity) -> Result<(), StepError> {
    let Identity { name, uid, gid } = identity;
    // Groups first: setgroups needs CAP_SETGID, which goes with user 0. The list is emptied and
    // not filled from the database: no group of that user is part of the plan.
    setgroups(&[]).map_err(system("give up", "supplementary groups"))?;
    // All three ids, because a saved id of 0 could be taken up again.
    setresgid(*gid, *gid, *gid).map_err(system("become group of", name))?;
    setresuid(*uid, *uid, *uid).map_err(system("become user", name))?;
    if holds(identity) && !can_regain() {
        Ok(())
    } else {
        Err(StepError::Regained)
    }
}

/// Becomes `identity` by CAP_SETUID and CAP_SETGID of an ordinary user, and gives these up. The
/// saved id stays that user's: by it the daemon may signal this process (kill(2)), and processes of
/// `identity` may not look into it (ptrace(2)). Whoever executes anything calls [`settle`] first.
pub(crate) fn take_on(identity: &Identity) -> Result<(), StepError> {
    let own = geteuid();
    let Identity { name, uid, gid } = identity;
    setgroups(&[]).map_err(system("give up", "supplementary groups"))?;
    setresgid(*gid, *gid, *gid).map_err(system("become group of", name))?;
    setresuid(*uid, *uid, own).map_err(system("become user", name))?;
    capabilities::clear()?;
    // A change of users makes /proc/self root's (proc(5)), and with it the maps of a user namespace.
    prctl::set_dumpable(true).map_err(system("keep", "/proc/self"))?;
    umask(UMASK);
    Ok(())
}

/// Gives up the saved ids that [`take_on`] left, for good.
pub(crate) fn settle() -> Result<(), StepError> {
    let ids = getresuid().map_err(system("look at", "user ids"))?;
    if ids.saved == ids.real {
        return Ok(());
    }
    let user = ids.real;
    setresuid(user, user, user).map_err(system("give up", "saved user id"))?;
    let before = ids.saved;
    if setresuid(before, before, before).is_ok() {
        return Err(StepError::Regained);
    }
    Ok(())
}

/// Whether all ids are the ones of `identity` and no group is left.
fn holds(identity: &Identity) -> bool {
    let Identity { uid, gid, .. } = *identity;
    let users = getresuid().map(|ids| [ids.real, ids.effective, ids.saved]);
    let groups = getresgid().map(|ids| [ids.real, ids.effective, ids.saved]);
    users == Ok([uid; 3]) && groups == Ok([gid; 3]) && getgroups() == Ok(Vec::new())
}

/// Tries every way back: what works is a bug above or in the kernel.
pub(crate) fn can_regain() -> bool {
    let (user, group) = (Uid::from_raw(0), Gid::from_raw(0));
    setuid(user).is_ok()
        || setresuid(user, user, user).is_ok()
        || setgid(group).is_ok()
        || setresgid(group, group, group).is_ok()
        || setgroups(&[group]).is_ok()
}
