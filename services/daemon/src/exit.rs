//! What a daemon ends with.

use std::process::ExitCode;

use crate::{listeners, state};

pub use openclaw_config::exit::{CONFIG, FAILURE, HELD, SUCCESS, USAGE};

/// A failure that starting again does not mend, such as files of a newer version.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Lasting(pub(crate) anyhow::Error);

/// The exit code for an error that ended a daemon.
pub fn code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(number(error))
}

pub(crate) fn number(error: &anyhow::Error) -> u8 {
    if error.is::<openclaw_config::Error>() || error.is::<Lasting>() {
        CONFIG
    } else if error.is::<listeners::Error>() {
        USAGE
    } else if state::is_held(error) {
        HELD
    } else {
        FAILURE
    }
}
