//! The only place that prints. What goes through here may have been said by a
//! model, a tool, a provider or another program, whole or in part; so nothing
//! leaves that a terminal would act on, whoever wrote it, but line ends and
//! tabs. Where a line end must not end the line either, callers write
//! [`line()`].

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
pub use openclaw_escape::{block, json, line, line_within as one_line, prose};

use crate::failure::Failure;
use crate::size::size;
use crate::width::{cut, wrap};

/// The columns of the terminal on which a pager shows standard output; 0: there is none.
static COLUMNS_OF_READER: AtomicUsize = AtomicUsize::new(0);

/// Writes `text` to standard output and flushes it.
pub fn stdout(text: &str) -> Result<(), Failure> {
    write_stdout(&prose(text))
}

/// Writes `text` and a line end to standard output.
pub fn stdout_line(text: &str) -> Result<(), Failure> {
    stdout(&format!("{text}\n"))
}

/// Writes what was laid out for a terminal: escape sequences in it are ours, and
/// everything else went through `openclaw_escape` there.
pub(crate) fn stdout_laid_out(text: &str) -> Result<(), Failure> {
    write_stdout(text)
}

/// Whether standard output is a terminal that acts on escape sequences, and its
/// user wants them.
pub fn stdout_takes_escapes() -> bool {
    stdout_is_terminal() && escapes_are_wanted(|name| std::env::var_os(name))
}

/// Writes `document` as indented JSON to standard output.
pub fn document(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).context("cannot write JSON")?;
    json_line(&text)
}

/// Writes a JSON text and a line end to standard output.
pub fn json_line(text: &str) -> Result<(), Failure> {
    write_stdout(&format!("{}\n", openclaw_escape::json(text)))
}

/// Writes `text` to standard error.
pub fn stderr(text: &str) {
    write_stderr(&prose(text));
}

/// Writes `text` and a line end to standard error.
pub fn stderr_line(text: &str) {
    stderr(&format!("{text}\n"));
}

/// Writes a JSON text and a line end to standard error.
pub fn stderr_json_line(text: &str) {
    write_stderr(&format!("{}\n", openclaw_escape::json(text)));
}

/// Writes `text` on a line of standard error, in a terminal's faint style where
/// there is one.
pub fn stderr_faint_line(text: &str) {
    let text = line(text);
    if !stderr_takes_escapes() {
        return write_stderr(&format!("{text}\n"));
    }
    for text in wrap(&text, size().0) {
        write_stderr(&format!("\u{1b}[2m{text}\u{1b}[0m\n"));
    }
}

/// Writes `text` over the line before, on a terminal's standard error; nothing
/// where that cannot be.
pub fn stderr_progress(text: &str) {
    if stderr_takes_escapes() {
        // What wraps cannot be written over.
        let text = cut(&line(text), size().0.saturating_sub(1));
        write_stderr(&format!("\r\u{1b}[K{text}"));
    }
}

/// Writes a question to standard error, where its answer is typed behind it.
pub fn stderr_prompt(text: &str) {
    let text = line(text);
    write_stderr(&if stderr_takes_escapes() {
        format!("\r\u{1b}[K{text}")
    } else {
        text
    });
}

/// Whether standard error is a terminal that acts on escape sequences, and its
/// user wants them.
fn stderr_takes_escapes() -> bool {
    stderr_is_terminal() && escapes_are_wanted(|name| std::env::var_os(name))
}

/// A terminal without a name, or a dumb one, takes none; who sets NO_COLOR
/// wants none (no-color.org).
pub(crate) fn escapes_are_wanted(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let given = |name| variable(name).filter(|value| !value.is_empty());
    given("TERM").is_some_and(|term| term != "dumb") && given("NO_COLOR").is_none()
}

pub(crate) fn write_stdout(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::reader_gone()),
        other => Ok(other.context("cannot write to standard output")?),
    }
}

fn write_stderr(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whoever reads standard output from now on shows it on a terminal of so many columns.
pub(crate) fn reader_is_terminal(columns: usize) {
    COLUMNS_OF_READER.store(columns, Ordering::Relaxed);
}

/// The columns of the terminal that shows standard output, by itself or by a pager; `None`:
/// none does.
#[must_use]
pub fn room() -> Option<usize> {
    match COLUMNS_OF_READER.load(Ordering::Relaxed) {
        0 => stdout_is_terminal().then(|| size().0),
        columns => Some(columns),
    }
}

/// Whether standard output is a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_for_terminals_that_take_them() {
        let wanted = |term: Option<&str>, no_color: Option<&str>| {
            escapes_are_wanted(|name| match name {
                "TERM" => term.map(OsString::from),
                _ => no_color.map(OsString::from),
            })
        };
        assert!(wanted(Some("xterm-256color"), None));
        assert!(wanted(Some("xterm"), Some("")));
        assert!(!wanted(Some("dumb"), None));
        assert!(!wanted(None, None));
        assert!(!wanted(Some(""), None));
        assert!(!wanted(Some("xterm"), Some("1")));
    }
}
