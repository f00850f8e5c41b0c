//! Text with styles: what a reply in Markdown says, before a channel writes it in
//! its own way and cuts it into messages.

mod markdown;
mod split;

pub use markdown::read;

use std::sync::Arc;

/// How a piece of text looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Style {
    /// Strong.
    pub is_bold: bool,
    /// Emphasised.
    pub is_italic: bool,
    /// Struck through.
    pub is_struck: bool,
    /// Somebody else's words.
    pub is_quoted: bool,
    /// Code within a line.
    pub is_code: bool,
    /// A block of code, in this language; empty: not said.
    pub block: Option<Arc<str>>,
    /// Where it leads.
    pub link: Option<Arc<str>>,
}

/// A piece of text that looks the same all through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Never empty.
    pub text: String,
    /// How it looks.
    pub style: Style,
}

/// Text with styles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rich {
    runs: Vec<Run>,
}

impl Rich {
    /// Text without any style.
    pub fn plain(text: &str) -> Self {
        let mut rich = Self::default();
        rich.push(text, &Style::default());
        rich
    }

    /// The pieces, in their order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What is read of it, without styles.
    pub fn text(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }

    /// Whether there is nothing to read.
    pub fn is_blank(&self) -> bool {
        self.runs.iter().all(|run| run.text.trim().is_empty())
    }

    /// Its length as most providers count it.
    pub fn units(&self) -> usize {
        self.runs.iter().map(|run| units(&run.text)).sum()
    }

    /// Adds `text` at the end.
    pub fn push(&mut self, text: &str, style: &Style) {
        if text.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some(last) if last.style == *style => last.text.push_str(text),
            _ => self.runs.push(Run {
                text: text.to_owned(),
                style: style.clone(),
            }),
        }
    }
}

/// The length of `text` in UTF-16 units.
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The beginning of `text`, at most `limit` UTF-16 units long.
pub fn beginning(text: &str, limit: usize) -> &str {
    let mut left = limit;
    for (at, character) in text.char_indices() {
        let Some(rest) = left.checked_sub(character.len_utf16()) else {
            return &text[..at];
        };
        left = rest;
    }
    text
}

#[cfg(test)]
mod tests;
