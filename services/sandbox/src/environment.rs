//! The program's environment.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The variables of this process that `allowed` names, in the form of execve.
///
/// The caller passes only these already. They are filtered again here because a turn may also be
/// started by a service manager, which adds variables of its own.
pub(crate) fn rebuilt(allowed: &[String]) -> Vec<CString> {
    let listed = |name: &OsString| {
        allowed
            .iter()
            .any(|entry| name.as_bytes() == entry.as_bytes())
    };
    let kept = std::env::vars_os().filter(|(name, _)| listed(name));
    kept.filter_map(|(mut entry, value)| {
        entry.push("=");
        entry.push(value);
        CString::new(entry.into_vec()).ok()
    })
    .collect()
}
