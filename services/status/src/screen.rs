//! Rows on a screen.

use openclaw_terminal::painted::{Painted, Style};
use openclaw_terminal::width::columns;

/// A line: what it is about, and what is the case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Empty: it goes on with the one before.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Row {
    pub(crate) fn plain(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, text, Style::Plain)
    }

    pub(crate) fn warning(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, text, Style::Warning)
    }

    pub(crate) fn bad(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, text, Style::Bad)
    }

    fn new(name: &str, text: impl Into<String>, style: Style) -> Self {
        Self {
            name: name.to_owned(),
            text: text.into(),
            style,
        }
    }
}

/// One line in one word, then the rows in two columns.
pub(crate) fn paint(rows: &[Row], screen: &mut Painted) {
    let has = |style| rows.iter().any(|row| row.style == style);
    let (style, word) = match () {
        () if has(Style::Bad) => (Style::Bad, "something is wrong"),
        () if has(Style::Warning) => (Style::Warning, "it runs, with something to look at"),
        () => (Style::Good, "all is well"),
    };
    screen.line(style, &format!("● openclaw: {word}"));
    let width = rows.iter().map(|row| columns(&row.name)).max();
    let width = width.unwrap_or_default() + 2;
    for row in rows {
        screen.entry((Style::Faint, &row.name), width, (row.style, &row.text));
    }
}
