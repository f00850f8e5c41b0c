//! Giving up root.

use nix::unistd::{
    Gid, Uid, getgroups, getresgid, getresuid, setgid, setgroups, setresgid, setresuid, setuid,
};

use crate::failure::{StepError, system};
use crate::identity::Identity;

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
