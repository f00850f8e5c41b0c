//! The login shell's variables, for what nothing else sets (seed 003 §2.3,
//! step 10). Only when `env.shellEnv` asks for it: a profile runs programs.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, User, geteuid};
use serde_json::Value;

use crate::environment::Environment;

/// OpenClaw's deadline; profiles that start version managers take seconds.
const DEADLINE: Duration = Duration::from_secs(15);
/// The longest that can be asked for: a unit has 20 s to start.
const LONGEST_DEADLINE: Duration = Duration::from_secs(18);
/// Prints the variables between two words, as profiles print greetings.
const SCRIPT: &str = "printf '\\0openclaw-begin\\0'; env -0; printf 'openclaw-end\\0'";
/// More than any environment (ARG_MAX of Linux).
const OUTPUT_LIMIT: u64 = 2 << 20;
/// Variables of the shell itself.
const SHELLS_OWN: [&str; 4] = ["OLDPWD", "PWD", "SHLVL", "_"];

/// What `env.shellEnv` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The shell.
    pub shell: String,
    /// How long it may take.
    pub deadline: Duration,
}

/// Why there are no variables.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be started, or its output not be read.
    #[error("the login shell {0} cannot be run")]
    Run(String, #[source] std::io::Error),
    /// It takes too long.
    #[error(
        "the login shell {0} did not answer within {1:?}; env.shellEnv.timeoutMs sets the time"
    )]
    Deadline(String, Duration),
    /// It printed something else.
    #[error("the login shell {0} did not print its variables")]
    Output(String),
}

/// What the document asks for; `None` unless it is switched on.
pub fn request(document: &Value, environment: &Environment) -> Option<Request> {
    let setting = document.get("env").and_then(|env| env.get("shellEnv"));
    let by_variable = environment
        .get("OPENCLAW_LOAD_SHELL_ENV")
        .is_some_and(|value| ["1", "true", "yes", "on"].contains(&value));
    let (enabled, shell) = match setting {
        Some(Value::Bool(enabled)) => (*enabled, None),
        // Seed 003 has a string there.
        Some(Value::String(text)) if text.starts_with('/') => (true, Some(text.clone())),
        Some(Value::String(text)) => (["true", "on", "login"].contains(&text.as_str()), None),
        Some(Value::Object(options)) => {
            let enabled = options.get("enabled").and_then(Value::as_bool);
            (enabled.unwrap_or(false), None)
        }
        _ => (false, None),
    };
    let milliseconds = setting
        .and_then(|setting| setting.get("timeoutMs"))
        .and_then(Value::as_u64);
    (enabled || by_variable).then(|| Request {
        shell: shell.unwrap_or_else(|| login_shell(environment)),
        deadline: milliseconds
            .map_or(DEADLINE, Duration::from_millis)
            .min(LONGEST_DEADLINE),
    })
}

fn login_shell(environment: &Environment) -> String {
    let known = environment.get("SHELL").map(str::to_owned);
    known
        .or_else(|| {
            let user = User::from_uid(geteuid()).ok().flatten()?;
            user.shell.into_os_string().into_string().ok()
        })
        .unwrap_or_else(|| "/bin/sh".to_owned())
}

/// The variables that the shell has after its profile.
pub fn import(request: &Request) -> Result<Vec<(String, String)>, Error> {
    let shell = &request.shell;
    let failed = |error| Error::Run(shell.clone(), error);
    let mut child = spawn(shell).map_err(failed)?;
    let output = read(&mut child, request.deadline);
    // What the profile started goes with it.
    let group = i32::try_from(child.id()).ok().map(Pid::from_raw);
    let _ = group.map(|group| killpg(group, Signal::SIGKILL));
    let _ = child.wait();
    match output {
        Some(bytes) => {
            variables(&bytes.map_err(failed)?).ok_or_else(|| Error::Output(shell.clone()))
        }
        None => Err(Error::Deadline(shell.clone(), request.deadline)),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user's own login shell, only when the configuration asks for it; never an agent"
)]
fn spawn(shell: &str) -> std::io::Result<Child> {
    Command::new(shell)
        .args(["-l", "-c", SCRIPT])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// The output up to the last word of [`SCRIPT`]; a program that the profile
/// left running may hold the pipe open for ever.
fn read(child: &mut Child, deadline: Duration) -> Option<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take()?;
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut limited = stdout.take(OUTPUT_LIMIT);
        let mut piece = [0; 4096];
        let result = loop {
            match limited.read(&mut piece) {
                Ok(0) => break Ok(bytes),
                Ok(length) => bytes.extend_from_slice(&piece[..length]),
                Err(error) => break Err(error),
            }
            if bytes.ends_with(b"openclaw-end\0") {
                break Ok(bytes);
            }
        };
        // Nobody waits any more after the deadline.
        let _ = sender.send(result);
    });
    receiver.recv_timeout(deadline).ok()
}

fn variables(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let text = String::from_utf8_lossy(bytes);
    let (_, rest) = text.split_once("\0openclaw-begin\0")?;
    let (list, _) = rest.rsplit_once("openclaw-end\0")?;
    Some(
        list.split('\0')
            .filter_map(|entry| entry.split_once('='))
            .filter(|(name, _)| !SHELLS_OWN.contains(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn shell(folder: &tempfile::TempDir, script: &str) -> String {
        let path = folder.path().join("shell");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn imported(script: &str, deadline: Duration) -> Result<Vec<(String, String)>, Error> {
        let folder = tempfile::tempdir().unwrap();
        let shell = shell(&folder, script);
        import(&Request { shell, deadline })
    }

    #[test]
    fn login_shell_is_asked_only_when_wanted() {
        let environment: Environment = [("SHELL", "/bin/zsh")].into_iter().collect();
        let wanted = |setting: Value| request(&json!({"env": {"shellEnv": setting}}), &environment);
        assert_eq!(request(&json!({}), &environment), None);
        assert_eq!(wanted(json!({"enabled": false})), None);
        assert_eq!(wanted(json!("off")), None);
        let asked = wanted(json!({"enabled": true, "timeoutMs": 50})).unwrap();
        assert_eq!(
            (asked.shell.as_str(), asked.deadline.as_millis()),
            ("/bin/zsh", 50)
        );
        assert_eq!(wanted(json!("/bin/dash")).unwrap().shell, "/bin/dash");
        assert!(wanted(json!(true)).is_some());
    }

    #[test]
    fn profiles_variables_come_after_its_greeting() {
        let script = "echo hello; export GREETED='a=b c'; shift 2; eval \"$1\"";
        let variables = imported(script, DEADLINE).unwrap();
        assert!(variables.contains(&("GREETED".to_owned(), "a=b c".to_owned())));
        assert!(variables.iter().all(|(name, _)| name != "PWD"));
    }

    #[test]
    fn shell_that_hangs_or_fails_ends_in_time() {
        let start = Instant::now();
        let error = imported("sleep 60", Duration::from_millis(200)).unwrap_err();
        assert!(
            error.to_string().contains("env.shellEnv.timeoutMs"),
            "{error}"
        );
        // What stays in the background does not hold it up.
        assert!(imported("sleep 60 & shift 2; eval \"$1\"", DEADLINE).is_ok());
        assert!(matches!(
            imported("exit 3", DEADLINE),
            Err(Error::Output(_))
        ));
        assert!(start.elapsed() < DEADLINE);
        let missing = Request {
            shell: "/nonexistent".to_owned(),
            deadline: DEADLINE,
        };
        assert!(matches!(import(&missing), Err(Error::Run(..))));
    }
}
