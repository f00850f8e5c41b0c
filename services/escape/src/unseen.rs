//! Which characters are not seen, or not seen as what they are.

use crate::scripts::{Before, is_written_with};

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// On one line.
    Line,
    /// Over several, each of its ends marked.
    Block,
    /// To be read.
    Prose,
}

/// Whether `c`, after `before`, has to be written out.
pub(crate) fn is_unseen(c: char, before: Before, form: Form) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    if form == Form::Prose {
        return acts(c) || (has_no_width(c) && !is_written_with(c, before));
    }
    acts(c) || (has_no_width(c) && !before.is_coloured_by(c)) || looks_like_a_space(c)
}

/// Whether nothing is seen of `c` by itself, or it acts on what is around it: a name can do
/// without.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    acts(c) || has_no_width(c)
}

/// Acts on a terminal, turns the order around, or carries text that nothing
/// shows: the second block of control characters, embeddings, overrides and
/// isolates, separators of lines, and tags.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e00ff}')
}

/// The rest of what Unicode lets a program ignore (Default_Ignorable_Code_Point).
pub(crate) fn has_no_width(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2065}'
        | '\u{3164}' | '\u{ffa0}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0100}'..='\u{e0fff}')
}

/// A shell takes these for a part of a word.
fn looks_like_a_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{2800}' | '\u{1d159}')
}
