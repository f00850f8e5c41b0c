//! The suite of this user's service manager, in the place of one that
//! `openclawctl run` starts.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::unistd::Pid;

/// Set where the installed units are tested.
const VARIABLE: &str = "OPENCLAW_TEST_UNITS";

/// Every unit there is, with those of turns.
const ALL: &str = "openclaw-*";

/// Whether they are what is tested.
pub fn are_tested() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// A folder that this variable names.
pub(crate) fn folder(variable: &str) -> PathBuf {
    let value = std::env::var_os(variable);
    value
        .unwrap_or_else(|| panic!("{variable} is not set"))
        .into()
}

/// Asks the service manager; what it says.
pub(crate) fn systemctl(arguments: &[&str]) -> String {
    let output = Command::new("systemctl")
        .arg("--user")
        .args(arguments)
        .output()
        .expect("start systemctl");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Stops whatever of the suite runs.
pub(crate) fn stop() {
    systemctl(&["stop", "openclaw.target", ALL]);
    systemctl(&["reset-failed", ALL]);
}

/// The process of a service.
pub(crate) fn process(service: &str) -> Pid {
    let pid = systemctl(&["show", "-P", "MainPID", &format!("{service}.service")]);
    match pid.parse() {
        Ok(pid @ 1..) => Pid::from_raw(pid),
        _ => panic!("{service} does not run: {pid:?}"),
    }
}

/// What the suite says from now on, line by line.
pub(crate) fn journal() -> tokio::process::Command {
    let mut command = tokio::process::Command::new("journalctl");
    command
        .args(["--user", "--follow", "--lines=0", "--output=cat"])
        .args(["--user-unit", ALL])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    command
}
