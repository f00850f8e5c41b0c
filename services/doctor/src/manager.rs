//! What the user's service manager knows of the units.

use std::path::Path;
use std::process::Command;

use nix::unistd::{User, geteuid};
use openclaw_config::{Environment, Paths, paths, programs};

use crate::check::Check;
use crate::remedy::Mend;
use crate::units::{UNITS, folders, has_manager};

/// Users whose manager runs without a session (`loginctl enable-linger`).
const LINGERING: &str = "/var/lib/systemd/linger";
/// What is asked of each unit.
const PROPERTIES: &str = "--property=Id,ActiveState,Result,NeedDaemonReload";
/// What `openclawctl sockets --check` says of a drop-in that is not as configured.
const NOT_IN_LINE: [&str; 2] = ["is not as configured", "is not needed any more"];

/// Looks at the units, where there is a manager and any of them is installed.
pub(crate) fn units(paths: &Paths, environment: &Environment) -> Vec<Check> {
    let folders = folders(paths, environment);
    let is_installed = |unit: &&str| folders.iter().any(|folder| folder.join(unit).exists());
    if !has_manager(environment) || !UNITS.iter().any(is_installed) {
        return Vec::new();
    }
    let mut checks = Vec::new();
    let show = ["--user", "show", PROPERTIES, "openclaw*"];
    if let Ok(said) = run("systemctl", &show, environment) {
        let states = states(&said.text);
        checks.extend(failed(&states));
        checks.extend(outdated(&states));
    }
    checks.extend(drop_ins(environment));
    checks.extend(linger());
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
    let said = run(program.to_str()?, &["sockets", "--check"], environment).ok()?;
    let mut lines = said.text.lines();
    let line = lines.find(|line| NOT_IN_LINE.iter().any(|it| line.contains(it)))?;
    Some(
        Check::warn(
            "units",
            line,
            "openclawctl sockets, then systemctl --user daemon-reload && systemctl --user restart \
             openclaw.target",
        )
        .mended_by(Mend::DropIns),
    )
}

/// The name of whoever runs this. Without it loginctl looks for a login session,
/// and a shell of su(1) or a service has none.
pub(crate) fn user() -> Option<String> {
    Some(User::from_uid(geteuid()).ok()??.name)
}

fn linger() -> Option<Check> {
    let user = user()?;
    if Path::new(LINGERING).join(&user).exists() || geteuid().is_root() {
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

/// What a program of the system's said.
#[derive(Debug)]
pub(crate) struct Said {
    /// Whether it was content.
    pub(crate) ok: bool,
    /// What it wrote to standard output, or else to standard error.
    pub(crate) text: String,
}

/// Runs a program to its end. It finds the user's manager as we do, also in a
/// shell that does not say where that is.
///
/// # Errors
/// It cannot be started.
#[expect(
    clippy::disallowed_methods,
    reason = "systemd's own programs and ours, with fixed arguments: no agent"
)]
pub(crate) fn run(
    program: &str,
    arguments: &[&str],
    environment: &Environment,
) -> std::io::Result<Said> {
    let mut command = Command::new(program);
    command.args(arguments);
    if let Ok(Some(runtime)) = paths::runtime_of_user(environment) {
        command.env("XDG_RUNTIME_DIR", runtime);
    }
    let output = command.output()?;
    let written = if output.stdout.is_empty() {
        output.stderr
    } else {
        output.stdout
    };
    Ok(Said {
        ok: output.status.success(),
        text: String::from_utf8_lossy(&written).trim().to_owned(),
    })
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

    #[test]
    fn run_tells_what_was_said_and_whether_it_went_well() {
        let nothing: Environment = [("", ""); 0].into_iter().collect();
        let sh = |line: &str| run("/bin/sh", &["-c", line], &nothing).unwrap();
        let said = sh("echo a; echo b >&2");
        assert!(said.ok && said.text == "a");
        let said = sh("echo b >&2; exit 1");
        assert!(!said.ok && said.text == "b");
        run("/no/such/program", &[], &nothing).unwrap_err();
    }

    #[test]
    fn run_tells_the_program_where_the_manager_is() {
        let environment = Environment::inherit();
        let expected = paths::runtime_of_user(&environment).unwrap();
        let line = "echo \"$XDG_RUNTIME_DIR\"";
        let there: Environment = [("XDG_RUNTIME_DIR", "/there")].into_iter().collect();
        let said = |environment| run("/bin/sh", &["-c", line], environment).unwrap().text;
        assert_eq!(said(&there), "/there");
        let expected = expected.map(|path| path.display().to_string());
        assert_eq!(said(&environment), expected.unwrap_or_default());
    }
}
