//! What the `run` that is running was given.

use std::fs;

use nix::sys::signal::{Signal, kill};
use openclaw_config::{Environment, Paths};

use crate::lock::{self, Holder};

/// The process of the `run` that holds the runtime directory.
#[must_use]
pub fn pid(paths: &Paths) -> Option<i32> {
    match lock::holder(&paths.runtime) {
        Ok(Holder::Process { pid, .. }) => Some(pid.as_raw()),
        _ => None,
    }
}

/// Whether a `run` holds the runtime directory.
#[must_use]
pub fn is_running(paths: &Paths) -> bool {
    pid(paths).is_some()
}

/// Makes the `run` that holds the runtime directory, if one does, read its
/// configuration and credentials anew; whether one does.
pub fn reload(paths: &Paths) -> bool {
    let Ok(Holder::Process { pid, .. }) = lock::holder(&paths.runtime) else {
        return false;
    };
    // One that has ended meanwhile reads them when it is started.
    kill(pid, Signal::SIGHUP).is_ok()
}

/// The variables and settings that the daemons have: those of the `run` that
/// holds the runtime directory. Without one, or where that cannot be read, the
/// variables of this process. `settings_of` reads settings out of its arguments.
pub fn environment(
    paths: &Paths,
    own: &Environment,
    settings_of: impl FnOnce(Vec<String>) -> Vec<(String, String)>,
) -> Environment {
    let Ok(Holder::Process { pid, .. }) = lock::holder(&paths.runtime) else {
        return own.clone();
    };
    let list = |name: &str| {
        let text = fs::read(format!("/proc/{pid}/{name}")).ok()?;
        let parts = text
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty());
        let parts = parts.map(|part| String::from_utf8_lossy(part).into_owned());
        Some(parts.collect::<Vec<_>>())
    };
    let (Some(variables), Some(arguments)) = (list("environ"), list("cmdline")) else {
        return own.clone();
    };
    let variables = variables
        .iter()
        .filter_map(|variable| variable.split_once('='));
    let environment: Environment = variables.collect();
    environment.overridden(settings_of(arguments))
}
