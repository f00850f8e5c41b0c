//! The lock on the part of the state that a daemon owns.

use openclaw_config::state_lock::{Error, StateLock};
use openclaw_config::{Environment, Paths};

/// The file by which `openclawctl run` is known in its runtime directory.
const RUN: &str = "run.lock";

/// Takes the lock of `program`, which another suite may hold.
pub(crate) fn take(environment: &Environment, program: &str) -> anyhow::Result<StateLock> {
    let paths = Paths::resolve(environment)?;
    let stop = stop(environment, &paths);
    Ok(StateLock::take_to_start(&paths, program, stop)?)
}

/// Whether `error` says that another process owns the state.
pub(crate) fn is_held(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Held { .. }))
}

/// The command that ends this daemon and the others of its suite, from any
/// shell of its user's.
fn stop(environment: &Environment, paths: &Paths) -> String {
    let own = std::process::id();
    let unit = environment.get("SYSTEMD_EXEC_PID");
    if unit.is_some_and(|pid| pid.parse() == Ok(own)) {
        // Units of the machine's own manager have no runtime directory of a user.
        let manager = match environment.get("XDG_RUNTIME_DIR") {
            Some(_) => " --user",
            None => "",
        };
        return format!("systemctl{manager} stop openclaw.target");
    }
    if paths.runtime.join(RUN).exists() {
        let runtime = paths.runtime.display();
        return format!("OPENCLAW_RUNTIME_DIR={runtime} openclawctl run --stop");
    }
    format!("kill {own}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_names_what_started_the_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_str().unwrap();
        let own = std::process::id().to_string();
        let told = |variables: &[(&str, &str)]| {
            let places = [
                ("OPENCLAW_STATE_DIR", place),
                ("OPENCLAW_RUNTIME_DIR", place),
            ];
            let environment = places.iter().chain(variables).copied().collect();
            stop(&environment, &Paths::resolve(&environment).unwrap())
        };
        assert_eq!(told(&[]), format!("kill {own}"));
        let user = [
            ("SYSTEMD_EXEC_PID", &*own),
            ("XDG_RUNTIME_DIR", "/run/user/7"),
        ];
        assert_eq!(told(&user), "systemctl --user stop openclaw.target");
        assert_eq!(told(&user[..1]), "systemctl stop openclaw.target");
        // That of a shell in a unit: not this process's.
        let other = [("SYSTEMD_EXEC_PID", "1"), user[1]];
        std::fs::write(folder.path().join(RUN), "").unwrap();
        let expected = format!("OPENCLAW_RUNTIME_DIR={place} openclawctl run --stop");
        assert_eq!(told(&other), expected);
    }
}
