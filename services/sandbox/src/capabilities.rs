//! Capability sets, capabilities(7).

use nix::errno::Errno;

use crate::failure::{StepError, system};
use crate::sys;

/// The kernel keeps a set in 64 bits.
const CAPABILITY_BITS: u32 = 64;

/// Takes everything out of the bounding set that may be taken out. That needs CAP_SETPCAP: an
/// ordinary user gets EPERM, and for it no_new_privs makes the set meaningless.
pub(crate) fn drop_bounding() -> Result<(), StepError> {
    for capability in 0..CAPABILITY_BITS {
        match sys::drop_bounding(capability) {
            Ok(()) => {}
            Err(Errno::EINVAL | Errno::EPERM) => return Ok(()),
            Err(error) => return Err(system("drop bounding capability", capability)(error)),
        }
    }
    Ok(())
}

/// Empties all sets of this process, and with them those of everything it starts.
pub(crate) fn clear() -> Result<(), StepError> {
    sys::clear_ambient().map_err(system("clear", "ambient capabilities"))?;
    sys::clear_capabilities().map_err(system("clear", "capabilities"))
}

/// Whether the bounding set is empty.
pub(crate) fn bounding_is_empty() -> bool {
    let mut all = (0..CAPABILITY_BITS).map_while(|capability| sys::in_bounding(capability).ok());
    !all.any(|held| held)
}
