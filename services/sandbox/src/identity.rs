//! The user an agent becomes when its runner is root.

use nix::errno::Errno;
use nix::unistd::{Gid, Uid, User, geteuid};

/// Taken where the wanted user does not exist. Shared with other software, so files of one turn
/// are open to whatever else runs as it; the installer creates the wanted user.
const FALLBACK: &str = "nobody";

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

/// Whether this process has root's user id and so has something to give up.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// The user agents run as when started by root: `wanted`, or `nobody` where it does not exist
/// (compare [`Identity::name`] to say so in a status).
///
/// # Errors
/// The user database fails, has neither user, or gives one with root's ids.
pub fn agent(wanted: &str) -> Result<Identity, IdentityError> {
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
    fn a_missing_user_becomes_nobody() {
        assert_eq!(agent("no-such-user").unwrap().name, FALLBACK);
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
