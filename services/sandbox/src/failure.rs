//! How a turn that could not be confined, or not started, says so.

use std::error::Error;
use std::io::Write;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

/// Exit status when a confinement step failed; nothing was executed.
pub const EXIT_CONFINEMENT: u8 = 125;
/// Exit status when the program is there and cannot be executed.
pub(crate) const EXIT_NOT_EXECUTABLE: u8 = 126;
/// Exit status when the program, or its interpreter, is not there.
pub(crate) const EXIT_NOT_FOUND: u8 = 127;
/// Exit status for wrong arguments (`EX_USAGE` of sysexits.h).
pub const EXIT_USAGE: u8 = 64;

/// The step that failed, and why, in one line. Written as
/// `{"sandbox_error":{"step":"landlock","message":"…"}}` on the standard error of the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Name of the step: `plan`, `supervise`, `view`, `limits`, `landlock`, `exec`, …
    pub step: String,
    /// What failed, on what object, with the reason of the system.
    pub message: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    sandbox_error: Failure,
}

impl Failure {
    /// The failure a line of the helper's standard error reports, if it is such a line.
    pub fn parse(line: &str) -> Option<Self> {
        let line: Line = serde_json::from_str(line).ok()?;
        Some(line.sandbox_error)
    }

    pub(crate) fn new(step: &str, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Self {
            step: step.to_owned(),
            message,
        }
    }

    /// Writes the line. A standard error that cannot take it leaves the exit status to tell.
    pub(crate) fn report(self) {
        let line = Line {
            sandbox_error: self,
        };
        if let Ok(mut text) = serde_json::to_string(&line) {
            text.push('\n');
            // One write: lines of several writers on the same pipe stay whole up to PIPE_BUF.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }
}

/// Why a step of the list did not hold.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    #[error("{operation} {object}")]
    System {
        operation: &'static str,
        object: String,
        #[source]
        source: Errno,
    },
    #[error("cannot {operation} {object}")]
    Io {
        operation: &'static str,
        object: String,
        #[source]
        source: std::io::Error,
    },
    #[error("a user could be regained after it was given up")]
    Regained,
    #[error("a {which} namespace is not permitted here: {remedy}")]
    Namespace {
        which: &'static str,
        remedy: String,
        #[source]
        source: Errno,
    },
    #[error("the parent died before the turn began")]
    ParentGone,
    #[error("the kernel did not enforce the path rules (Landlock is off)")]
    NotEnforced,
    #[error("path rules")]
    Landlock(#[from] landlock::RulesetError),
    #[error("system-call filter")]
    Filter(#[from] seccompiler::Error),
    #[error(
        "{path} is closed to user {user}, and a private mount namespace, which would open it, is \
         not permitted here; put the state where that user can reach it, for example \
         OPENCLAW_STATE_DIR=/var/lib/openclaw"
    )]
    Unreachable { path: String, user: String },
}

/// Names the operation and its object around a bare error number.
pub(crate) fn system(
    operation: &'static str,
    object: impl ToString,
) -> impl Fn(Errno) -> StepError {
    let object = object.to_string();
    move |source| StepError::System {
        operation,
        object: object.clone(),
        source,
    }
}

/// Names the operation and its object around an error of the standard library.
pub(crate) fn io(
    operation: &'static str,
    object: impl ToString,
) -> impl FnOnce(std::io::Error) -> StepError {
    let object = object.to_string();
    move |source| StepError::Io {
        operation,
        object,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_the_documented_one_and_reads_back() {
        let error = system("mount", "/root")(Errno::EPERM);
        let failure = Failure::new("view", &error);
        let text = serde_json::to_string(&Line {
            sandbox_error: failure.clone(),
        })
        .unwrap();
        assert_eq!(
            text,
            r#"{"sandbox_error":{"step":"view","message":"mount /root: EPERM: Operation not permitted"}}"#
        );
        assert_eq!(Failure::parse(&text), Some(failure));
        assert_eq!(Failure::parse("{}"), None);
        assert_eq!(Failure::parse("sh: 1: x: not found"), None);
    }
}
