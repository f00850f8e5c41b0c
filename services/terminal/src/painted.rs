//! Text in colours. What is painted is made fit for a terminal first, so that it
//! has no colour but ours.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::output;

/// Whether what reads standard output shows colours, though it is no terminal.
static READER_SHOWS_COLOURS: AtomicBool = AtomicBool::new(false);

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
    /// Not as it should be, and it goes on.
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
}

impl Painted {
    /// In colours where standard output shows them and its user wants them.
    #[must_use]
    pub fn for_stdout() -> Self {
        let shows = output::stdout_is_terminal() || READER_SHOWS_COLOURS.load(Ordering::Relaxed);
        Self {
            text: String::new(),
            has_colour: shows && output::escapes_are_wanted(|name| std::env::var_os(name)),
        }
    }

    /// The same, over what the screen showed before.
    #[must_use]
    pub fn over_screen() -> Self {
        let mut painted = Self::for_stdout();
        if painted.has_colour {
            // To the first place, and nothing behind it.
            painted.text.push_str("\u{1b}[H\u{1b}[J");
        }
        painted
    }

    /// Without colours.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            text: String::new(),
            has_colour: false,
        }
    }

    /// Adds a part of a line.
    pub fn push(&mut self, style: Style, text: &str) -> &mut Self {
        let text = output::line(text);
        if self.has_colour && style != Style::Plain && !text.is_empty() {
            self.text.push_str(style.code());
            self.text.push_str(&text);
            self.text.push_str("\u{1b}[0m");
        } else {
            self.text.push_str(&text);
        }
        self
    }

    /// Adds a part of a line with blanks behind it until it is `width` wide.
    pub fn column(&mut self, style: Style, text: &str, width: usize) -> &mut Self {
        self.push(style, text);
        let length = output::line(text).chars().count();
        let blanks = width.saturating_sub(length);
        self.text.extend(std::iter::repeat_n(' ', blanks));
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
        self.push(style, text).end()
    }

    /// What it is so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Writes it to standard output.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn print(&self) -> Result<(), Failure> {
        output::write_stdout(&self.text)
    }
}

/// Whoever reads standard output from now on shows colours.
pub(crate) fn reader_shows_colours() {
    READER_SHOWS_COLOURS.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_painted_but_by_us() {
        let mut painted = Painted {
            text: String::new(),
            has_colour: true,
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
}
