//! From an agent's output to events.

use std::process::ExitStatus;

use openclaw_proto::event::{Failed, Kind};

/// Makes events of the lines that a backend's agent prints.
pub(crate) trait Translate: Send {
    /// The events of one line. A terminal event is the last that is looked at.
    fn line(&mut self, line: &str) -> Vec<Kind>;

    /// How the turn ended when the agent is gone without having said so.
    /// `complaint` is the end of what it wrote to its standard error.
    fn gone(&mut self, status: ExitStatus, complaint: &str) -> Failed;

    /// Whether an agent that is done has nothing left to write anywhere.
    fn is_last_word(&self) -> bool {
        false
    }

    /// The cost of the turn so far, in US dollars, when the backend reports it.
    fn cost(&self) -> Option<f64> {
        None
    }

    /// The backend's own session, when it has one.
    fn session(&self) -> Option<String> {
        None
    }
}

/// How much of a line that is not in an agent's format is quoted, in characters.
const QUOTE_LIMIT: usize = 120;

/// The beginning of a line that is not what it should be.
pub(crate) fn quoted(line: &str) -> String {
    line.chars().take(QUOTE_LIMIT).collect()
}

/// Whether SIGKILL ended it: the process itself, or the one it supervised.
pub(crate) fn was_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    let number = nix::sys::signal::Signal::SIGKILL as i32;
    status.signal() == Some(number) || status.code() == Some(128 + number)
}

/// The tool of a failure whose call was not told.
pub(crate) const UNKNOWN_TOOL: &str = "unknown";

/// The output of a failed tool, or that there was none (seed 002, property 17).
pub(crate) fn why_failed(output: &str) -> String {
    match output.trim() {
        "" => "it failed and did not say why".to_owned(),
        _ => output.to_owned(),
    }
}

/// How a process ended, in words.
pub(crate) fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) if code > 128 && code < 160 => {
            format!("was ended by {}", signal(code - 128))
        }
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(number)) => format!("was ended by {}", signal(number)),
        (None, None) => "ended".to_owned(),
    }
}

fn signal(number: i32) -> String {
    nix::sys::signal::Signal::try_from(number)
        .map_or_else(|_| format!("signal {number}"), |signal| signal.to_string())
}

#[cfg(test)]
mod properties;
