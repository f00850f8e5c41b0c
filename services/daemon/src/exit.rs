//! Exit codes (sysexits.h where it has one).

use std::process::ExitCode;

use crate::{listeners, state};

/// Ended as asked.
pub const SUCCESS: u8 = 0;
/// A failure at run time; the manager may start the daemon again.
pub const FAILURE: u8 = 1;
/// Another suite owns the state.
pub const HELD: u8 = 3;
/// EX_USAGE: wrong arguments, or not started with its sockets.
pub const USAGE: u8 = 64;
/// EX_CONFIG: a configuration or a state that starting again does not mend.
pub const CONFIG: u8 = 78;

/// A failure that starting again does not mend, such as files of a newer version. The
/// daemon ends with [`CONFIG`], and clients are told why.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Lasting(#[from] pub anyhow::Error);

/// The exit code for an error that ended a daemon.
pub fn code(error: &anyhow::Error) -> ExitCode {
    let code = if error.is::<openclaw_config::Error>() || error.is::<Lasting>() {
        CONFIG
    } else if error.is::<listeners::Error>() {
        USAGE
    } else if state::is_held(error) {
        HELD
    } else {
        FAILURE
    };
    ExitCode::from(code)
}
