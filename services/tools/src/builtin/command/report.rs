//! The text format of a command's outcome; see [`crate::Builtin::ExecuteShell`].

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

use super::capture::Capture;

/// How a command ended.
#[derive(Debug, Clone, Copy)]
pub(in crate::builtin) enum End {
    Status(ExitStatus),
    TimedOut,
}

/// Everything about a command that has ended.
#[derive(Debug)]
pub(in crate::builtin) struct Report {
    pub(in crate::builtin) end: End,
    pub(super) stdout: Capture,
    pub(super) stderr: Capture,
    /// Something it started still has its output open.
    pub(super) held_open: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit code: {}", self.end)?;
        stream(f, "stdout", &self.stdout)?;
        stream(f, "stderr", &self.stderr)?;
        if self.held_open {
            writeln!(
                f,
                "note: a background process still holds the output open; its further output is lost, redirect it to a file"
            )?;
        }
        let files = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        for (name, capture) in files {
            if let Some(path) = capture.file() {
                writeln!(f, "note: all of {name} is in {}", path.display())?;
            }
        }
        Ok(())
    }
}

fn stream(f: &mut fmt::Formatter<'_>, name: &str, capture: &Capture) -> fmt::Result {
    writeln!(f, "{name} ({} bytes):", capture.total())?;
    let text = capture.text();
    f.write_str(&text)?;
    if !text.is_empty() && !text.ends_with('\n') {
        f.write_str("\n")?;
    }
    Ok(())
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("none (timed out)"),
            Self::Status(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "{code}"),
                (None, Some(number)) => {
                    let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
                    write!(f, "{} (killed by signal {number}, {name})", 128 + number)
                }
                (None, None) => write!(f, "none ({status})"),
            },
        }
    }
}
