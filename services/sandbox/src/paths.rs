//! Path rules, and what else Landlock offers, landlock(7).

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use crate::failure::{StepError, io};
use crate::real;
use crate::valid::{Access, Grant, Tcp};

/// The newest version this list was written for. The kernel's own may be lower: rights it does
/// not know are left out then, and the probes say which.
const ABI_KNOWN: ABI = ABI::V9;

/// Handles every right, so that whatever is not granted is refused, and grants `grants`.
///
/// Returns the version in force.
///
/// # Errors
/// A grant cannot be opened, or nothing at all is enforced.
pub(crate) fn apply<'a>(
    grants: impl IntoIterator<Item = &'a Grant>,
    tcp: &Tcp,
) -> Result<i32, StepError> {
    // Signals and abstract sockets stay inside the turn: a turn of an ordinary user has the same
    // user id as the daemons and the desktop.
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI_KNOWN))?
        .scope(Scope::from_all(ABI_KNOWN))?;
    if *tcp != Tcp::Free {
        // Handled, so that what is not granted is refused. Where no port is granted the filter
        // refuses the sockets already; this holds for descriptors that came in from outside too.
        rules = rules.handle_access(AccessNet::from_all(ABI_KNOWN))?;
    }
    let mut rules = rules.create()?;
    if let Tcp::Ports(ports) = tcp {
        for port in ports {
            rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
    }
    for grant in outermost(grants) {
        let opened = real::open(&grant.real).map_err(io("open", grant.path.display()));
        let (object, directory) = opened?;
        let rights = rights(grant.access, directory);
        rules = rules.add_rule(PathBeneath::new(object, rights))?;
    }
    let status = rules.restrict_self()?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => Err(StepError::NotEnforced),
        (_, LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi as i32),
        _ => Err(StepError::NotEnforced),
    }
}

/// Without those that lie in another one of the same access: what holds for a folder holds for what
/// is in it.
fn outermost<'a>(grants: impl IntoIterator<Item = &'a Grant>) -> Vec<&'a Grant> {
    let mut sorted: Vec<&Grant> = grants.into_iter().collect();
    sorted.sort_by_key(|grant| grant.real.components().count());
    let mut outermost: Vec<&Grant> = Vec::new();
    for grant in sorted {
        let covers =
            |other: &&Grant| other.access == grant.access && grant.real.starts_with(&other.real);
        if !outermost.iter().any(covers) {
            outermost.push(grant);
        }
    }
    outermost
}

/// Device nodes and sockets cannot be made anywhere: no turn needs them.
fn rights(access: Access, directory: bool) -> BitFlags<AccessFs> {
    let all = AccessFs::from_all(ABI_KNOWN);
    let unwanted = make_bitflags!(AccessFs::{
        MakeBlock | MakeChar | MakeSock | IoctlDev | ResolveUnix
    });
    let rights = match access {
        Access::ReadWrite => all & !unwanted,
        Access::ReadOnly => AccessFs::from_read(ABI_KNOWN),
        // With ioctl: programs ask any file whether it is a terminal, and expect ENOTTY.
        Access::Device => make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev}),
    };
    if directory {
        rights
    } else {
        // The kernel refuses a rule that gives a file the rights of a directory.
        rights & AccessFs::from_file(ABI_KNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outermost_leaves_out_what_another_grant_of_the_same_access_covers() {
        let grant = |path: &str, access| Grant {
            path: path.into(),
            real: path.into(),
            access,
        };
        let grants = [
            grant("/usr/bin", Access::ReadOnly),
            grant("/usr", Access::ReadOnly),
            grant("/usr/x", Access::ReadWrite),
            grant("/usr/x/y", Access::ReadOnly),
            grant("/usrlocal", Access::ReadOnly),
            grant("/usr", Access::ReadOnly),
        ];
        let left = outermost(&grants);
        let left: Vec<_> = left
            .iter()
            .map(|grant| (grant.real.to_str().unwrap_or_default(), grant.access))
            .collect();
        let expected = [
            ("/usr", Access::ReadOnly),
            ("/usrlocal", Access::ReadOnly),
            ("/usr/x", Access::ReadWrite),
        ];
        assert_eq!(left, expected);
    }
}
