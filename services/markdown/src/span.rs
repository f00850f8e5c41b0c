//! Pieces of a line, and the escape sequences that they are written with.

use std::fmt::Write as _;
use std::rc::Rc;

/// Columns below which nothing is laid out narrower: lines are then longer than
/// the terminal, which breaks them itself.
pub(crate) const NARROWEST: usize = 8;

/// Ends every style.
const RESET: &str = "\u{1b}[0m";
/// Columns of a tab in code.
const TAB: &str = "    ";

/// A colour of the terminal's own palette, which is readable on its background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Blue = 34,
    Magenta = 35,
    Cyan = 36,
}

/// How a piece looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) bold: bool,
    pub(crate) faint: bool,
    pub(crate) italic: bool,
    pub(crate) underlined: bool,
    pub(crate) struck: bool,
    pub(crate) colour: Option<Colour>,
    /// Where it leads, as the terminal is told.
    pub(crate) target: Option<Rc<str>>,
}

impl Style {
    pub(crate) fn faint() -> Self {
        Self {
            faint: true,
            ..Self::default()
        }
    }

    fn codes(&self) -> String {
        let flags = [
            (self.bold, 1),
            (self.faint, 2),
            (self.italic, 3),
            (self.underlined, 4),
            (self.struck, 9),
        ];
        let flags = flags.iter().filter(|(is_set, _)| *is_set);
        let colour = self.colour.map(|colour| colour as u8);
        let codes = flags.map(|(_, code)| *code).chain(colour);
        let codes: Vec<String> = codes.map(|code| code.to_string()).collect();
        codes.join(";")
    }
}

/// A piece of one line. Its text is fit for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Span {
    /// Of text that is somebody else's, without line ends.
    pub(crate) fn new(text: &str, style: &Style) -> Self {
        Self {
            text: openclaw_escape::prose(text).replace('\t', TAB),
            style: style.clone(),
        }
    }
}

/// A line to be written.
pub(crate) type Line = Vec<Span>;

/// The columns that any terminal has room for `text` in: no line that fits by this measure
/// is broken, also by a terminal that draws joined pictures one beside the other.
#[must_use]
pub fn width(text: &str) -> usize {
    openclaw_escape::columns_at_most(text)
}

/// The columns that any terminal has room for the line in.
pub(crate) fn width_of(line: &[Span]) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

/// The columns of the line on most terminals, by which what is below it is aligned.
pub(crate) fn drawn_width_of(line: &[Span]) -> usize {
    line.iter()
        .map(|span| openclaw_escape::columns(&span.text))
        .sum()
}

/// The line with its escape sequences. None is open at its end.
pub(crate) fn write(line: &[Span]) -> String {
    let mut written = String::new();
    let mut target: Option<&Rc<str>> = None;
    for span in line.iter().filter(|span| !span.text.is_empty()) {
        if target != span.style.target.as_ref() {
            target = span.style.target.as_ref();
            // Writing to a text cannot fail.
            let _ = write!(written, "\u{1b}]8;;{}\u{1b}\\", target.map_or("", |it| it));
        }
        let codes = span.style.codes();
        if codes.is_empty() {
            written.push_str(&span.text);
        } else {
            let _ = write!(written, "\u{1b}[{codes}m{}{RESET}", span.text);
        }
    }
    if target.is_some() {
        written.push_str("\u{1b}]8;;\u{1b}\\");
    }
    written
}
