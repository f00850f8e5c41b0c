//! What stands before the lines of quotes and of list items.

use crate::span::{Line, Span, Style, width_of};

/// Containers within containers that are shown as such: more have no room beside what they hold, and
/// each line would have all of them.
const DEPTH: usize = 24;

/// The containers that are open, the outermost first.
#[derive(Debug, Default)]
pub(crate) struct Prefixes(Vec<Prefix>);

#[derive(Debug)]
struct Prefix {
    /// Before its first line; taken then.
    first: Option<Span>,
    /// Before all others.
    rest: Span,
}

impl Prefixes {
    /// Opens a quote.
    pub(crate) fn open_quote(&mut self) {
        let bar = Span {
            text: "│ ".to_owned(),
            style: Style::faint(),
        };
        self.open(Prefix {
            first: None,
            rest: bar,
        });
    }

    /// One that is too deep is there and takes no room.
    fn open(&mut self, mut prefix: Prefix) {
        if self.0.len() >= DEPTH {
            prefix.first = None;
        }
        self.0.push(prefix);
    }

    /// Those that are shown.
    fn shown(&self) -> &[Prefix] {
        &self.0[..self.0.len().min(DEPTH)]
    }

    /// Opens an item, whose first line begins with `marker`.
    pub(crate) fn open_item(&mut self, marker: &str) {
        let marker = Span {
            text: marker.to_owned(),
            style: Style::faint(),
        };
        let rest = Span {
            text: " ".repeat(crate::span::width(&marker.text)),
            style: Style::default(),
        };
        self.open(Prefix {
            first: Some(marker),
            rest,
        });
    }

    pub(crate) fn close(&mut self) {
        self.0.pop();
    }

    /// The columns that are left of `columns`, at least `least`.
    pub(crate) fn room(&self, columns: usize, least: usize) -> usize {
        let used: usize = self
            .shown()
            .iter()
            .map(|prefix| width_of(std::slice::from_ref(&prefix.rest)))
            .sum();
        columns.saturating_sub(used).max(least)
    }

    /// Whether the next line is the first one of an item.
    pub(crate) fn begins_item(&self) -> bool {
        self.0.last().is_some_and(|prefix| prefix.first.is_some())
    }

    /// The beginning of the next line.
    pub(crate) fn next(&mut self) -> Line {
        let take = |prefix: &mut Prefix| prefix.first.take().unwrap_or(prefix.rest.clone());
        self.0.iter_mut().take(DEPTH).map(take).collect()
    }

    /// The beginning of a line that is empty otherwise.
    pub(crate) fn empty(&self) -> Line {
        let rests = self.shown().iter().map(|prefix| prefix.rest.clone());
        let mut line: Line = rests.collect();
        while line.last().is_some_and(|span| span.text.trim().is_empty()) {
            line.pop();
        }
        if let Some(span) = line.last_mut() {
            span.text.truncate(span.text.trim_end().len());
        }
        line
    }
}
