//! Starting a command.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::call::FailureKind;
use crate::handler::HandlerError;

/// Variables with which whoever sets them decides what a program is: where it
/// is found, what it loads, what runs before it.
const REFUSED: [&str; 6] = [
    "PATH",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "GCONV_PATH",
];
const REFUSED_BEGINNINGS: [&str; 3] = ["LD_", "DYLD_", "BASH_FUNC_"];

/// A line for the shell, or a program with its arguments.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(in crate::builtin) enum CommandLine {
    Line(String),
    Words(Vec<String>),
}

impl CommandLine {
    /// As people see it.
    pub(in crate::builtin) fn shown(&self) -> String {
        let value = match self {
            Self::Line(line) => Value::from(line.as_str()),
            Self::Words(words) => Value::from(words.as_slice()),
        };
        crate::approval::shown(&value)
    }

    /// The program and its arguments.
    fn words(&self) -> Vec<&str> {
        match self {
            Self::Line(line) => vec![shell(), "-c", line],
            Self::Words(words) => words.iter().map(String::as_str).collect(),
        }
    }
}

/// Variables beside those that every command has.
pub(in crate::builtin) type Variables = BTreeMap<String, String>;

/// Refuses variables that would make another program of a command.
pub(in crate::builtin) fn check(variables: &Variables) -> Result<(), HandlerError> {
    let refused = |name: &str| {
        REFUSED.contains(&name)
            || REFUSED_BEGINNINGS
                .iter()
                .any(|begin| name.starts_with(begin))
    };
    let odd = |name: &str| name.is_empty() || name.contains(['=', '\0']);
    for (name, value) in variables {
        if odd(name) || value.contains('\0') {
            return Err(HandlerError::new(
                FailureKind::INVALID_ARGUMENTS,
                format!("{name:?} cannot be set as a variable"),
            ));
        }
        if refused(name) {
            return Err(HandlerError::new(
                FailureKind::INVALID_ARGUMENTS,
                format!("the variable {name} may not be set: it decides which code runs"),
            ));
        }
    }
    Ok(())
}

/// A command with its standard streams.
pub(in crate::builtin) struct Streams {
    pub(in crate::builtin) stdin: Stdio,
    pub(in crate::builtin) stdout: Stdio,
    pub(in crate::builtin) stderr: Stdio,
}

impl Streams {
    /// Nothing to read, output to be read.
    pub(in crate::builtin) fn captured() -> Self {
        Self {
            stdin: Stdio::null(),
            stdout: Stdio::piped(),
            stderr: Stdio::piped(),
        }
    }
}

/// Starts `command` in `workdir`, the leader of a process group of its own.
pub(in crate::builtin) fn start(
    command: &CommandLine,
    workdir: &Path,
    variables: &Variables,
    streams: Streams,
) -> io::Result<Child> {
    let mut process = prepare(&command.words(), workdir, variables, streams)?;
    process.process_group(0).spawn()
}

/// Starts `command` in a session of its own, whose terminal its standard input
/// is. It leads the session's process group.
pub(in crate::builtin) fn start_on_terminal(
    command: &CommandLine,
    workdir: &Path,
    variables: &Variables,
    streams: Streams,
) -> io::Result<Child> {
    // setsid(1) of util-linux, which is everywhere: taking a terminal between
    // fork and exec by ourselves would need unsafe code.
    let words = [vec!["setsid", "--ctty"], command.words()].concat();
    let mut process = prepare(&words, workdir, variables, streams)?;
    process.env("TERM", "xterm-256color").spawn()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tools run inside the sandbox already, and their children inherit it"
)]
fn prepare(
    words: &[&str],
    workdir: &Path,
    variables: &Variables,
    streams: Streams,
) -> io::Result<Command> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut process = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if is_credential(&name.to_string_lossy()) {
            process.env_remove(name);
        }
    }
    process
        .args(arguments)
        .envs(variables)
        .current_dir(workdir)
        .stdin(streams.stdin)
        .stdout(streams.stdout)
        .stderr(streams.stderr);
    Ok(process)
}

/// Another agent's CLI has its model's key in its environment, which an MCP
/// server inherits; what a model has run is not to have it.
fn is_credential(name: &str) -> bool {
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// bash where there is one: models write bash.
fn shell() -> &'static str {
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .unwrap_or("/bin/sh")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_choose_the_code_are_refused() {
        let set = |name: &str| check(&[(name.to_owned(), "x".to_owned())].into());
        for name in [
            "PATH",
            "LD_PRELOAD",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "",
            "A=B",
        ] {
            assert!(set(name).is_err(), "{name}");
        }
        assert!(set("LANG").is_ok() && set("MY_PATH").is_ok());
    }

    #[test]
    fn credentials_are_told_by_the_ends_of_their_names() {
        for name in [
            "A_KEY",
            "OPENAI_API_KEY",
            "GH_TOKEN",
            "MY_SECRET",
            "DB_PASSWORD",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "KEYBOARD",
            "KEY",
            "TOKEN_URL",
            "MY_KEY_FILE",
            "",
        ] {
            assert!(!is_credential(name), "{name}");
        }
    }
}
