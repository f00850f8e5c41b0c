//! The user an agent becomes when its runner is root.

use std::fs;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::unistd::{Gid, Uid, User, geteuid};

use crate::sys;

/// Taken where the wanted user does not exist. Shared with other software, so files of one turn
/// are open to whatever else runs as it; the installer creates the wanted user.
const FALLBACK: &str = "nobody";

/// For how long a user that was looked up is taken to be the same. Each turn asks for it, and one
/// that the user database has not is looked for in some thirty places.
const LOOKUP_HOLDS: Duration = Duration::from_secs(10);

/// The last user that was looked up, by the name that was wanted.
static LAST: Mutex<Option<(Instant, String, Identity)>> = Mutex::new(None);

/// A user with no special rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name in the user database.
    pub name: String,
    /// User id, never 0.
    pub uid: Uid,
    /// Primary group id, never 0.
    pub gid: Gid,
}

/// Why no user could be found.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The user database did not answer.
    #[error("look up user {name}")]
    Lookup {
        /// Who was looked for.
        name: String,
        /// The system's reason.
        #[source]
        source: Errno,
    },
    /// Neither the wanted user nor `nobody` exists.
    #[error("neither user {0} nor user nobody exists")]
    Missing(String),
    /// The user found is root, or in root's group.
    #[error("user {0} has the ids of root")]
    Privileged(String),
}

/// CAP_SETGID and CAP_SETUID, as bits of a set of capabilities(7).
const TO_CHANGE_USER: u64 = 1 << 6 | 1 << 7;
/// And CAP_CHOWN.
const TO_GIVE_UP: u64 = 1 | TO_CHANGE_USER;

/// Whether this process is root and so has something to give up. Where a container lets root become
/// nobody else (no capabilities, or no other user in it), it counts as an ordinary user.
pub fn is_root() -> bool {
    // None of our programs changes its user before it has asked.
    static IS_ROOT: OnceLock<bool> = OnceLock::new();
    *IS_ROOT.get_or_init(|| geteuid().is_root() && can_become_others())
}

/// Whether this process is root and cannot become anybody else.
pub fn is_stuck_root() -> bool {
    geteuid().is_root() && !is_root()
}

/// Whether this process is an ordinary user who may become others: a service of the machine with
/// CAP_SETUID and CAP_SETGID. Its agents are users of their own, as root's are. A process in a user
/// namespace of its own has these, too: ask before making one.
pub fn can_change_user() -> bool {
    let effective = sys::effective_capabilities().unwrap_or(0);
    !geteuid().is_root() && effective & TO_CHANGE_USER == TO_CHANGE_USER
}

fn can_become_others() -> bool {
    // Where neither can be asked, the steps themselves say what fails.
    let users = fs::read_to_string("/proc/self/uid_map").ok();
    sys::effective_capabilities().is_none_or(has_capabilities)
        && users.is_none_or(|users| has_others(&users))
}

fn has_capabilities(effective: u64) -> bool {
    effective & TO_GIVE_UP == TO_GIVE_UP
}

/// By `/proc/self/uid_map`: whether there is more than one user.
fn has_others(map: &str) -> bool {
    let counts = map
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    let counts = counts.filter_map(|count| count.parse::<u64>().ok());
    counts.sum::<u64>() > 1
}

/// The user agents run as when started by root: `wanted`, or `nobody` where it does not exist
/// (compare [`Identity::name`] to say so in a status).
///
/// # Errors
/// The user database fails, has neither user, or gives one with root's ids.
pub fn agent(wanted: &str) -> Result<Identity, IdentityError> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, name, identity)) = &*last
        && name == wanted
        && at.elapsed() < LOOKUP_HOLDS
    {
        return Ok(identity.clone());
    }
    let identity = look_up(wanted)?;
    *last = Some((Instant::now(), wanted.to_owned(), identity.clone()));
    Ok(identity)
}

fn look_up(wanted: &str) -> Result<Identity, IdentityError> {
    for name in [wanted, FALLBACK] {
        if let Some(user) = lookup(name)? {
            return checked(Identity {
                name: user.name,
                uid: user.uid,
                gid: user.gid,
            });
        }
    }
    Err(IdentityError::Missing(wanted.to_owned()))
}

/// The same, where its ids are known already.
pub(crate) fn of(name: &str, ids: Option<(u32, u32)>) -> Result<Identity, IdentityError> {
    let Some((uid, gid)) = ids else {
        return agent(name);
    };
    checked(Identity {
        name: name.to_owned(),
        uid: Uid::from_raw(uid),
        gid: Gid::from_raw(gid),
    })
}

fn lookup(name: &str) -> Result<Option<User>, IdentityError> {
    User::from_name(name).map_err(|source| IdentityError::Lookup {
        name: name.to_owned(),
        source,
    })
}

fn checked(identity: Identity) -> Result<Identity, IdentityError> {
    if identity.uid.is_root() || identity.gid.as_raw() == 0 {
        Err(IdentityError::Privileged(identity.name))
    } else {
        Ok(identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_user_becomes_nobody() {
        assert_eq!(agent("no-such-user").unwrap().name, FALLBACK);
    }

    #[test]
    fn root_becomes_others_with_the_rights_to_and_where_there_are_some() {
        assert!(has_capabilities(0x8004_05fb));
        for stuck in [0, 0x80, 0x41] {
            assert!(!has_capabilities(stuck), "{stuck:x}");
        }
        assert!(has_others("         0          0 4294967295\n"));
        assert!(has_others("0 1000 1\n1 100000 65536\n"));
        assert!(!has_others("         0       1000          1\n"));
    }

    #[test]
    fn root_is_not_an_agent() {
        for ids in [(0, 7), (7, 0)] {
            let refused = of("sly", Some(ids));
            assert!(matches!(refused, Err(IdentityError::Privileged(_))));
        }
        assert_eq!(of("known", Some((7, 8))).unwrap().gid, Gid::from_raw(8));
        assert!(matches!(agent("root"), Err(IdentityError::Privileged(_))));
    }
}
