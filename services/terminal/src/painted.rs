//! Text in colours. What is painted is made fit for a terminal first, so that it
//! has no colour but ours.

use crate::failure::Failure;
use crate::output;
use crate::size::size;
use crate::width::{columns, pad, wrap};

/// Less than that beside a name is no room for what is said of it.
const BESIDE: usize = 16;
/// By how much a line goes in that belongs to the one above it.
const INDENT: usize = 2;

/// What a piece of text is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As the terminal shows text.
    Plain,
    /// A heading, or what matters most.
    Strong,
    /// What is there beside that.
    Faint,
    /// As it should be.
    Good,
    /// Something is wrong, and it goes on all the same.
    Warning,
    /// Broken.
    Bad,
    /// A name to be found again.
    Name,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Warning => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
            Self::Name => "\u{1b}[36m",
        }
    }
}

/// Lines that are painted, for standard output.
#[derive(Debug)]
pub struct Painted {
    text: String,
    has_colour: bool,
    /// Columns of the terminal; `None`: lines are as long as they are.
    room: Option<usize>,
    /// Rows of the screen that it stands on alone; `None`: what has no room goes up.
    rows: Option<usize>,
}

/// Rows of a screen below what stands on it: for the cursor, and for a hint.
const BELOW: usize = 2;

impl Painted {
    /// In colours where standard output shows them and its user wants them.
    #[must_use]
    pub fn for_stdout() -> Self {
        let room = output::room();
        let wants = || output::colours_are_wanted(|name| std::env::var_os(name));
        Self {
            text: String::new(),
            has_colour: room.is_some() && wants(),
            room,
            rows: None,
        }
    }

    /// The same, over what the screen showed before: the first lines, as many as it has rows.
    #[must_use]
    pub fn over_screen() -> Self {
        let mut painted = Self::for_stdout();
        if output::stdout_takes_escapes() {
            // To the first place, and nothing behind it.
            painted.text.push_str("\u{1b}[H\u{1b}[J");
            painted.rows = Some(size().1);
        }
        painted
    }

    /// Without colours.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            text: String::new(),
            has_colour: false,
            room: None,
            rows: None,
        }
    }

    /// Without colours, for a terminal of `room` columns.
    #[must_use]
    pub fn within(room: usize) -> Self {
        Self {
            room: Some(room),
            ..Self::plain()
        }
    }

    /// Adds a part of a line.
    pub fn push(&mut self, style: Style, text: &str) -> &mut Self {
        self.add(style, &output::line(text))
    }

    /// The same, of what is fit for a terminal already.
    fn add(&mut self, style: Style, text: &str) -> &mut Self {
        if self.has_colour && style != Style::Plain && !text.is_empty() {
            self.text.push_str(style.code());
            self.text.push_str(text);
            self.text.push_str("\u{1b}[0m");
        } else {
            self.text.push_str(text);
        }
        self
    }

    /// Adds a part of a line with blanks behind it until it is `width` wide.
    pub fn column(&mut self, style: Style, text: &str, width: usize) -> &mut Self {
        self.add_column(style, &output::line(text), width)
    }

    fn add_column(&mut self, style: Style, text: &str, width: usize) -> &mut Self {
        self.add(style, text);
        self.text.push_str(&pad(text, width)[text.len()..]);
        self
    }

    /// Adds a line of a name, which takes `width` columns, and what is said of it. What has
    /// no room in a line of the terminal goes on in the next, beside the name or, where
    /// that leaves little room, below it.
    pub fn entry(
        &mut self,
        (name_style, name): (Style, &str),
        width: usize,
        (style, text): (Style, &str),
    ) -> &mut Self {
        let (name, text) = (output::line(name), output::line(text));
        let room = match self.room {
            Some(room) if width.max(columns(&name)) + columns(&text) > room => room,
            _ => {
                self.add_column(name_style, &name, width);
                return self.add(style, &text).end();
            }
        };
        let is_beside = width <= INDENT || room.saturating_sub(width) >= BESIDE;
        let indent = if is_beside { width } else { INDENT };
        let mut names = Vec::new();
        if !name.trim().is_empty() {
            names = wrap(name.trim_end(), if is_beside { width } else { room });
        }
        let mut lines = Vec::new();
        if !text.is_empty() {
            lines = wrap(&text, room.saturating_sub(indent).max(1));
        }
        if !is_beside {
            for name in names.drain(..) {
                self.add(name_style, &name).end();
            }
        }
        for at in 0..lines.len().max(names.len()) {
            let part = |parts: &[String]| parts.get(at).cloned().unwrap_or_default();
            self.add_column(name_style, &part(&names), indent);
            self.add(style, &part(&lines)).end();
        }
        self
    }

    /// Ends the line.
    pub fn end(&mut self) -> &mut Self {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self
    }

    /// Adds a whole line.
    pub fn line(&mut self, style: Style, text: &str) -> &mut Self {
        self.entry((Style::Plain, ""), 0, (style, text))
    }

    /// What it is so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines that there is room for.
    fn seen(&self) -> &str {
        let Some(rows) = self.rows else {
            return &self.text;
        };
        let room = rows.saturating_sub(BELOW).max(1);
        let lines = self.text.split_inclusive('\n').take(room);
        &self.text[..lines.map(str::len).sum()]
    }

    /// Writes it to standard output.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn print(&self) -> Result<(), Failure> {
        output::write_stdout(self.seen())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn painted_nothing_is_painted_but_by_us() {
        let mut painted = Painted {
            has_colour: true,
            ..Painted::plain()
        };
        painted
            .push(Style::Bad, "a\u{1b}[32mb")
            .push(Style::Plain, " c");
        painted.end();
        assert_eq!(painted.text(), "\u{1b}[31ma\\x1b[32mb\u{1b}[0m c\n");
        let mut plain = Painted::plain();
        plain.column(Style::Good, "a\nb", 5).push(Style::Good, "c");
        plain.column(Style::Plain, "", 3).end();
        assert_eq!(plain.text(), "a⏎b  c\n");
    }

    #[test]
    fn screen_keeps_the_first_lines() {
        let mut painted = Painted {
            rows: Some(4),
            ..Painted::plain()
        };
        for line in ["one", "two", "three", "four"] {
            painted.line(Style::Plain, line);
        }
        assert_eq!(painted.seen(), "one\ntwo\n");
        painted.rows = Some(24);
        assert_eq!(painted.seen(), painted.text());
        painted.rows = None;
        assert_eq!(painted.seen(), painted.text());
    }

    #[test]
    fn entry_goes_on_beside_its_name_or_below_it() {
        let shown = |room: usize| {
            let mut painted = Painted::within(room);
            let text = "what is said of it is long";
            painted.entry((Style::Faint, "name"), 6, (Style::Bad, text));
            painted.text().to_owned()
        };
        assert_eq!(shown(80), "name  what is said of it is long\n");
        assert_eq!(shown(24), "name  what is said of it\n      is long\n");
        assert_eq!(shown(20), "name\n  what is said of it\n  is long\n");
        let mut plain = Painted::plain();
        plain.entry((Style::Plain, "a"), 3, (Style::Plain, ""));
        assert_eq!(plain.text(), "a\n");
        let mut painted = Painted::within(40);
        painted.entry((Style::Plain, "a"), 3, (Style::Plain, ""));
        assert_eq!(painted.text(), "a\n");
    }
}
