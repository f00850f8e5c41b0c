//! What the user's service manager knows of the units.

use std::path::Path;

use nix::unistd::geteuid;
use openclaw_config::{Environment, Paths, programs};
use openclaw_service_manager::{LINGERING, ask, user};

use crate::check::Check;
use crate::remedy::Mend;
use crate::units::{UNITS, folders};

/// What is asked of each unit.
const PROPERTIES: &str = "--property=Id,ActiveState,Result,NeedDaemonReload";
/// What `openclawctl sockets --check` says of a drop-in that is not as configured.
const NOT_IN_LINE: [&str; 2] = ["is not as configured", "is not needed any more"];

/// Looks at the units, where there is a manager and any of them is installed.
pub(crate) fn units(paths: &Paths, environment: &Environment) -> Vec<Check> {
    let folders = folders(paths, environment);
    let is_installed = |unit: &&str| folders.iter().any(|folder| folder.join(unit).exists());
    if openclaw_service_manager::runtime(environment).is_none() || !UNITS.iter().any(is_installed) {
        return Vec::new();
    }
    let mut checks = Vec::new();
    let show = ["--user", "show", PROPERTIES, "openclaw*"];
    if let Ok(said) = ask("systemctl", &show, environment) {
        let states = states(said.text());
        checks.extend(failed(&states));
        checks.extend(outdated(&states));
    }
    // Of a user's own suite: the machine's ports are its administrator's drop-ins, and it has
    // no login to end with.
    if !environment.is_of_machine() {
        checks.extend(drop_ins(environment));
        checks.extend(linger());
    }
    checks
}

/// A unit as the manager has it.
#[derive(Debug, Default, PartialEq, Eq)]
struct State {
    id: String,
    failed: bool,
    result: String,
    outdated: bool,
}

/// One block of lines for each unit.
fn states(text: &str) -> Vec<State> {
    let block = |block: &str| {
        let mut state = State::default();
        for (name, value) in block.lines().filter_map(|line| line.split_once('=')) {
            match name {
                "Id" => value.clone_into(&mut state.id),
                "ActiveState" => state.failed = value == "failed",
                "Result" => value.clone_into(&mut state.result),
                "NeedDaemonReload" => state.outdated = value == "yes",
                _ => {}
            }
        }
        state
    };
    let states = text.split("\n\n").map(block);
    states.filter(|state| !state.id.is_empty()).collect()
}

fn failed(states: &[State]) -> Vec<Check> {
    let failed = states.iter().filter(|state| state.failed);
    failed
        .map(|State { id, result, .. }| {
            Check::fail(
                "failed unit",
                format!("{id} has failed ({result}): journalctl --user -u {id} says why"),
                format!("systemctl --user reset-failed {id}"),
            )
            .mended_by(Mend::Failed(id.clone()))
        })
        .collect()
}

fn outdated(states: &[State]) -> Option<Check> {
    let count = states.iter().filter(|state| state.outdated).count();
    (count > 0).then(|| {
        Check::warn(
            "units",
            "their files were changed since the manager read them",
            "systemctl --user daemon-reload",
        )
        .mended_by(Mend::Reload)
    })
}

/// Whether the drop-ins say what the configuration does: the port, the places.
fn drop_ins(environment: &Environment) -> Option<Check> {
    let program = programs::sibling("openclawctl", environment).ok()?;
    let said = ask(program.to_str()?, &["sockets", "--check"], environment).ok()?;
    let mut lines = said.text().lines();
    let line = lines.find(|line| NOT_IN_LINE.iter().any(|it| line.contains(it)))?;
    Some(
        Check::warn(
            "units",
            line,
            "openclawctl sockets, then systemctl --user daemon-reload && systemctl --user restart \
             openclaw.target 'openclaw-*.socket'",
        )
        .mended_by(Mend::DropIns),
    )
}

fn linger() -> Option<Check> {
    let user = user()?;
    if Path::new("/").join(LINGERING).join(&user).exists() || geteuid().is_root() {
        return None;
    }
    Some(
        Check::warn(
            "linger",
            "the suite ends when you log out, and does not start with the machine",
            format!("loginctl enable-linger {user}"),
        )
        .mended_by(Mend::Linger),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;

    const SAID: &str = "Id=openclaw-gateway.service\nActiveState=active\nResult=success\n\
                        NeedDaemonReload=yes\n\nResult=exit-code\nId=openclaw-memory.service\n\
                        ActiveState=failed\nNeedDaemonReload=no\n";

    #[test]
    fn manager_tells_units_that_failed_and_files_that_changed() {
        let states = states(SAID);
        assert_eq!(states.len(), 2);
        let failed = failed(&states);
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].state, check::State::Fail);
        assert!(
            failed[0]
                .detail
                .contains("openclaw-memory.service has failed (exit-code)")
        );
        assert!(
            matches!(&failed[0].mend, Some(Mend::Failed(unit)) if unit == "openclaw-memory.service")
        );
        assert!(matches!(
            outdated(&states).unwrap().mend,
            Some(Mend::Reload)
        ));
        assert!(outdated(&states[1..]).is_none());
        assert!(super::states("").is_empty());
    }

    #[test]
    fn units_are_no_matter_where_there_is_no_manager() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let variables = [("HOME", text), ("XDG_RUNTIME_DIR", text)];
        let environment: Environment = variables.into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        assert!(units(&paths, &environment).is_empty());
    }
}
