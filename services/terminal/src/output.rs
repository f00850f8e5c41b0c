//! The only place that prints. What goes through here may have been said by a
//! model, a tool, a provider or another program, whole or in part; so nothing
//! leaves that a terminal would act on, whoever wrote it, but line ends and
//! tabs. A reply that a program reads ([`Pieces`]) is the one exception: whoever
//! pipes it wants what was said. Where a line end must not end the line either, callers write
//! [`line()`].

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use openclaw_escape::Prose;
pub use openclaw_escape::{block, json, line, line_within as one_line, prose};

use crate::failure::Failure;
use crate::reader;
use crate::size::size;
use crate::width::{columns, cut, wrap};

/// Before what goes on of a line.
const INDENT_OF_REST: &str = "  ";
/// Begins a style, and most other escape sequences.
const STYLE: &str = "\u{1b}[";
/// The columns of the terminal on which a pager shows standard output; 0: there is none.
static COLUMNS_OF_READER: AtomicUsize = AtomicUsize::new(0);

/// Writes `text` to standard output and flushes it.
pub fn stdout(text: &str) -> Result<(), Failure> {
    write_stdout(&prose(text))
}

/// What comes in pieces, on its way to standard output: fit for a terminal where it is one,
/// and else byte for byte, for the program or file that has it.
#[derive(Debug)]
pub struct Pieces(Option<Prose>);

impl Pieces {
    /// By what standard output is.
    #[must_use]
    pub fn for_stdout() -> Self {
        Self(stdout_is_terminal().then(Prose::default))
    }

    /// Writes the next piece and flushes it.
    pub fn stdout(&mut self, piece: &str) -> Result<(), Failure> {
        match &mut self.0 {
            Some(prose) => write_stdout(&prose.more(piece)),
            None => write_stdout(piece),
        }
    }

    /// Writes what the last pieces left open, as no more comes or something else does.
    pub fn end(&mut self) -> Result<(), Failure> {
        match &mut self.0 {
            Some(prose) => write_stdout(&prose.end()),
            None => Ok(()),
        }
    }
}

/// Writes `text` and a line end to standard output.
pub fn stdout_line(text: &str) -> Result<(), Failure> {
    stdout(&format!("{text}\n"))
}

/// Writes what was laid out for a terminal: escape sequences in it are ours, and
/// everything else went through `openclaw_escape` there.
pub(crate) fn stdout_laid_out(text: &str) -> Result<(), Failure> {
    write_stdout(&in_wanted_colours(text))
}

/// What was laid out for a terminal, without its colours where its user wants none: what
/// stands out in bold, and links, stay.
#[must_use]
pub fn in_wanted_colours(text: &str) -> Cow<'_, str> {
    if colours_are_wanted(|name| std::env::var_os(name)) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(without_colours(text))
    }
}

/// Whether standard output is a terminal that acts on escape sequences.
pub fn stdout_takes_escapes() -> bool {
    stdout_is_terminal() && escapes_are_taken(|name| std::env::var_os(name))
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

/// Writes `text` and a line end to standard error, on a terminal in lines that end between words.
/// A word that has no room in a line, such as a path, is in one piece.
pub(crate) fn stderr_words(text: &str) {
    if !stderr_is_terminal() {
        return stderr_line(text);
    }
    let room = size().0;
    let lines: Vec<String> = text.split('\n').map(|it| between_words(it, room)).collect();
    stderr_line(&lines.join("\n"));
}

/// `line` in lines of at most `room` columns where its words have room, those that follow
/// further to the right.
fn between_words(line: &str, room: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for (at, word) in line.split(' ').enumerate() {
        let width = columns(word);
        if used > INDENT_OF_REST.len() && used + 1 + width > room {
            text.push('\n');
            text.push_str(INDENT_OF_REST);
            used = INDENT_OF_REST.len();
        } else if at > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += width;
    }
    text
}

/// Writes a JSON text and a line end to standard error.
pub fn stderr_json_line(text: &str) {
    write_stderr(&format!("{}\n", openclaw_escape::json(text)));
}

/// Writes `text` on a line of standard error, in a terminal's faint style where
/// there is one.
pub fn stderr_faint_line(text: &str) {
    let text = line(text);
    let is_faint = colours_are_wanted(|name| std::env::var_os(name));
    if !stderr_is_terminal() || !is_faint {
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

/// Whether standard error is a terminal that acts on escape sequences.
fn stderr_takes_escapes() -> bool {
    stderr_is_terminal() && escapes_are_taken(|name| std::env::var_os(name))
}

/// A terminal without a name, or a dumb one, takes none.
pub(crate) fn escapes_are_taken(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    variable("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Who sets NO_COLOR wants none (no-color.org), also where other escape sequences are taken.
pub(crate) fn colours_are_wanted(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    escapes_are_taken(variable) && !is_refused
}

/// The text with those of its styles (SGR) alone that are no colour: bold, italic,
/// underlined, struck, and the end of each.
fn without_colours(text: &str) -> String {
    const KEPT: [&str; 5] = ["0", "1", "3", "4", "9"];
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    while let Some(start) = rest.find(STYLE) {
        let (before, behind) = rest.split_at(start);
        kept.push_str(before);
        let codes = &behind[STYLE.len()..];
        let end = codes.find(|c: char| !matches!(c, '0'..='9' | ';'));
        let end = end.unwrap_or(codes.len());
        rest = &codes[end..];
        let Some(behind) = rest.strip_prefix('m') else {
            // It moves the cursor, or clears.
            kept.push_str(STYLE);
            kept.push_str(&codes[..end]);
            continue;
        };
        rest = behind;
        let codes: Vec<&str> = codes[..end].split(';').collect();
        let codes: Vec<&str> = codes.into_iter().filter(|it| KEPT.contains(it)).collect();
        if !codes.is_empty() {
            kept.push_str(STYLE);
            kept.push_str(&codes.join(";"));
            kept.push('m');
        }
    }
    kept + rest
}

pub(crate) fn write_stdout(text: &str) -> Result<(), Failure> {
    let given = reader::give(text.as_bytes());
    let mut written = given.unwrap_or_else(|| write(text.as_bytes()));
    if is_gone(&written)
        && let Some(again) = reader::take_back()
    {
        written = write(&again);
    }
    match written {
        written if is_gone(&written) => Err(Failure::reader_gone()),
        other => Ok(other.context("cannot write to standard output")?),
    }
}

fn write(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush())
}

/// Whether nobody reads any more.
fn is_gone(written: &io::Result<()>) -> bool {
    let error = written.as_ref().err();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
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
    fn failures_are_broken_between_words_alone() {
        for (text, room, expected) in [
            ("error: it is so", 20, "error: it is so"),
            ("error: it is so", 9, "error: it\n  is so"),
            (
                "hint: /a/path/that/is/long x",
                12,
                "hint:\n  /a/path/that/is/long\n  x",
            ),
            ("  a b", 4, "  a\n  b"),
            ("日本 語", 5, "日本\n  語"),
            ("", 5, ""),
        ] {
            assert_eq!(between_words(text, room), expected);
        }
    }

    #[test]
    fn escapes_are_for_terminals_that_take_them() {
        for (term, no_color, are_taken, are_coloured) in [
            (Some("xterm-256color"), None, true, true),
            (Some("xterm"), Some(""), true, true),
            (Some("xterm"), Some("1"), true, false),
            (Some("dumb"), None, false, false),
            (None, None, false, false),
            (Some(""), None, false, false),
        ] {
            let variable = |name: &str| match name {
                "TERM" => term.map(OsString::from),
                _ => no_color.map(OsString::from),
            };
            let found = (escapes_are_taken(variable), colours_are_wanted(variable));
            assert_eq!(found, (are_taken, are_coloured), "{term:?} {no_color:?}");
        }
    }

    #[test]
    fn colours_go_alone() {
        let link = "\u{1b}]8;;https://a.example/[1;31m\u{1b}\\x\u{1b}]8;;\u{1b}\\";
        let text = format!(
            "\r\u{1b}[2A\u{1b}[J\u{1b}[1;4;36mPlan\u{1b}[0m \u{1b}[32mgreen\u{1b}[0m\u{1b}[2m{link}\u{1b}["
        );
        let expected =
            format!("\r\u{1b}[2A\u{1b}[J\u{1b}[1;4mPlan\u{1b}[0m green\u{1b}[0m{link}\u{1b}[");
        assert_eq!(without_colours(&text), expected);
    }
}
