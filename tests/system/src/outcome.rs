//! What a command in the machine did.

use std::process::Output;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Exit status and output of a finished command.
#[derive(Debug, Clone)]
pub struct Outcome {
    command: String,
    /// Exit status; 128 and the signal's number when a signal ended it, as in a shell.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    pub(crate) fn new(command: &str, output: &Output) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        let signalled = || output.status.signal().map(|signal| 128 + signal);
        Self {
            command: command.to_owned(),
            status: output.status.code().or_else(signalled).unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The outcome, if the command succeeded.
    ///
    /// # Errors
    /// It did not; the message has the command and all it wrote.
    pub fn success(self) -> Result<Self> {
        if self.status != 0 {
            bail!("{}", self.describe());
        }
        Ok(self)
    }

    /// Standard output, trimmed, of a command that succeeded.
    ///
    /// # Errors
    /// It did not succeed.
    pub fn text(self) -> Result<String> {
        Ok(self.success()?.stdout.trim().to_owned())
    }

    /// Standard output as JSON, one value a line.
    ///
    /// # Errors
    /// The command did not succeed, or a line is not JSON.
    pub fn json_lines(self) -> Result<Vec<Value>> {
        let outcome = self.success()?;
        let parse =
            |line: &str| serde_json::from_str(line).with_context(|| format!("not JSON: {line:?}"));
        outcome
            .stdout
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(parse)
            .collect()
    }

    /// The command with all it wrote, for the message of an assertion.
    pub fn describe(&self) -> String {
        format!(
            "{:?} exited with {}\n--- stdout\n{}\n--- stderr\n{}",
            self.command, self.status, self.stdout, self.stderr
        )
    }
}
