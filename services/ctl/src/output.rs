//! The only place that prints.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

use anyhow::Context as _;

use crate::failure::Failure;

/// Writes `text` to standard output and flushes it.
pub(crate) fn stdout(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::reader_gone()),
        other => Ok(other.context("cannot write to standard output")?),
    }
}

/// Writes `text` and a line end to standard output.
pub(crate) fn stdout_line(text: &str) -> Result<(), Failure> {
    stdout(&format!("{text}\n"))
}

/// Writes `document` as indented JSON to standard output.
pub(crate) fn document(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).context("cannot write JSON")?;
    stdout_line(&text)
}

/// Writes `text` and a line end to standard error.
pub(crate) fn stderr_line(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = io::stderr()
        .lock()
        .write_all(format!("{text}\n").as_bytes());
}

/// Writes `text` over the line before, on a terminal's standard error.
pub(crate) fn stderr_progress(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = io::stderr()
        .lock()
        .write_all(format!("\r\u{1b}[K{text}").as_bytes());
}

/// Whether standard output is a terminal.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// The text with everything taken out that a terminal would act on, but for
/// line ends and tabs. What a model or a tool says must not be able to move
/// the cursor, set the title or fill the clipboard.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(*c)))
        .collect()
}

/// Bidirectional overrides, which show text in another order than it has.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text on one line of at most `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let spaced = printable(&text.replace(['\n', '\t', '\r'], " "));
    if spaced.chars().count() <= width {
        return spaced;
    }
    let mut cut: String = spaced.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        let text = printable("a\u{1b}]52;c;eA==\u{7}b\r\n\tc\u{9b}2J\u{202e}d");
        assert_eq!(text, "a]52;c;eA==b\n\tc2Jd");
    }

    #[test]
    fn a_line_is_cut_by_characters() {
        assert_eq!(one_line("one\ntwo", 10), "one two");
        assert_eq!(one_line("äöüß", 3), "äö…");
    }
}
