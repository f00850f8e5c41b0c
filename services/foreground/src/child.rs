//! Starting a daemon's process.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use openclaw_config::{Environment, Paths, programs};
use openclaw_terminal::Failure;
use tokio::process::Child;

use crate::account::{Account, is_token};
use crate::daemon::Daemon;
use crate::environment_file;
use crate::handover;
use crate::notify::NotifySocket;
use crate::sockets::Passed;

/// This very program, also after a newer one was installed over it.
const SELF: &str = "/proc/self/exe";
/// LISTEN_FDNAMES: the name under which each daemon looks for its socket.
const SOCKET_NAME: &str = "control";
/// What the names of the doors' credentials begin with, after OPENCLAW_.
const DOORS: [&str; 3] = ["CLI_", "GATEWAY_", "HOOKS_"];
/// What another service manager told this process about itself.
const MANAGERS: [&str; 8] = [
    "LISTEN_PID",
    "LISTEN_FDS",
    "LISTEN_FDNAMES",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "JOURNAL_STREAM",
    "OPENCLAW_ON_DEMAND",
];

/// Starts `daemon` with its sockets. Standard error is a pipe.
pub(crate) fn start(
    daemon: Daemon,
    paths: &Paths,
    environment: &Environment,
    sockets: Passed,
    notify: &NotifySocket,
) -> Result<Child, Failure> {
    let mut command = activation(daemon.program(), daemon.name(), SOCKET_NAME, environment)?;
    command.stdin(sockets.control);
    if !sockets.more.is_empty() {
        let more = handover::send(&sockets.more).context("cannot hand over the sockets")?;
        command.arg("--more").stdout(more);
    }
    command.env("NOTIFY_SOCKET", notify.path());
    if let Some(settings) = environment.overrides_variable() {
        command.env(openclaw_config::environment::OVERRIDES, settings);
    }
    if daemon == Daemon::Runner {
        for (name, value) in environment_file::read(paths)? {
            // What was set for this very start comes first.
            if environment.get(&name).is_none() {
                command.env(name, value);
            }
        }
    }
    keep_credentials(&mut command, |name| holder(name) == Some(daemon));
    spawned(command, daemon.name())
}

/// Starts the channel daemon of `account`. Standard error is a pipe.
pub(crate) fn start_channel(
    account: &Account,
    environment: &Environment,
    notify: &NotifySocket,
) -> Result<Child, Failure> {
    let mut command = activation(&account.program(), &account.shown(), "", environment)?;
    command
        .arg("--")
        .args(
            account
                .argument()
                .iter()
                .flat_map(|name| ["--account", name]),
        )
        .stdin(Stdio::null())
        .env("NOTIFY_SOCKET", notify.path());
    let own = account.variable();
    keep_credentials(&mut command, |name| own.as_deref() == Some(name));
    spawned(command, &account.shown())
}

/// Takes all keys and tokens out of what `command` is given but those that
/// `is_kept`.
fn keep_credentials(command: &mut Command, is_kept: impl Fn(&str) -> bool) {
    for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
        if is_credential(&name) && !is_kept(&name) {
            command.env_remove(name);
        }
    }
}

fn spawned(command: Command, name: &str) -> Result<Child, Failure> {
    let child = tokio::process::Command::from(command)
        .spawn()
        .with_context(|| format!("cannot start the {name} daemon"))?;
    Ok(child)
}

/// Whether a variable's name says that it is a key or a token.
fn is_credential(name: &str) -> bool {
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"]
        .iter()
        .any(|end| name.ends_with(end))
        || name.starts_with("AWS_")
}

/// The only daemon that holds a credential: the gateway those of its doors, no
/// daemon of these those of channels, the agent-runner all others.
fn holder(name: &str) -> Option<Daemon> {
    match name.strip_prefix("OPENCLAW_") {
        Some(rest) if DOORS.iter().any(|door| rest.starts_with(door)) => Some(Daemon::Gateway),
        _ if is_token(name) => None,
        _ => Some(Daemon::Runner),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "starts a daemon of the suite, never an agent"
)]
fn activation(
    program: &str,
    name: &str,
    socket: &str,
    environment: &Environment,
) -> Result<Command, Failure> {
    let program = programs::sibling(program, environment)
        .with_context(|| format!("cannot find the program of the {name} daemon"))?;
    let mut command = Command::new(SELF);
    command
        .arg("activate")
        .arg(std::process::id().to_string())
        .arg(socket)
        .arg(program)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Ctrl-C in the terminal is for this process, which ends the daemons
        // in their order.
        .process_group(0);
    for variable in MANAGERS {
        command.env_remove(variable);
    }
    Ok(command)
}

/// Sends `signal` to `child`, unless it has ended.
pub(crate) fn send(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
    if let Some(pid) = pid {
        // One that ended just now needs no signal any more.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

#[cfg(test)]
mod tests {
    use super::{holder, is_credential};
    use crate::daemon::Daemon;

    #[test]
    fn keys_are_told_from_other_variables() {
        for name in [
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["HOME", "PATH", "ANTHROPIC_BASE_URL", "OPENCLAW_STATE_DIR"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn child_every_credential_has_one_holder() {
        for name in ["OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_CLI_SECRET"] {
            assert!(
                is_credential(name) && holder(name) == Some(Daemon::Gateway),
                "{name}"
            );
        }
        assert_eq!(holder("ANTHROPIC_API_KEY"), Some(Daemon::Runner));
        assert!(is_credential("TELEGRAM_BOT_TOKEN"));
        assert_eq!(holder("TELEGRAM_BOT_TOKEN"), None);
    }
}
