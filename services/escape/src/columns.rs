//! The columns of a terminal that text takes. Terminals differ about pictures: some draw a
//! family as one picture, others its people beside each other; some widen a sign that is
//! asked to be a picture, others do not.

use std::ops::RangeInclusive;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Asks for the sign before it as a picture.
const AS_PICTURE: char = '\u{fe0f}';
/// A place for a hyphen, which some terminals draw and others do not.
const SOFT_HYPHEN: char = '\u{ad}';
/// Two of these are a flag, and letters in boxes where there is no such picture.
const FLAG_LETTERS: RangeInclusive<char> = '\u{1f1e6}'..='\u{1f1ff}';
const FLAG_LETTER_COLUMNS: usize = 2;

/// What most terminals take: a picture of several characters is one.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// What no terminal takes more than. It is that of the parts together.
#[must_use]
pub fn columns_at_most(text: &str) -> usize {
    let most = |c: char| match c {
        AS_PICTURE | SOFT_HYPHEN => 1,
        c if FLAG_LETTERS.contains(&c) => FLAG_LETTER_COLUMNS,
        c => c.width().unwrap_or(0),
    };
    text.chars().map(most).sum()
}

/// What no terminal takes less than.
#[must_use]
pub fn columns_at_least(text: &str) -> usize {
    let perhaps = |c: char| match c {
        AS_PICTURE => 1,
        SOFT_HYPHEN => SOFT_HYPHEN.width().unwrap_or(0),
        _ => 0,
    };
    let widened: usize = text.chars().map(perhaps).sum();
    text.width().saturating_sub(widened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_bounds_where_terminals_differ() {
        for (text, least, usual, most) in [
            ("", 0, 0, 0),
            ("abc", 3, 3, 3),
            ("日本", 4, 4, 4),
            ("e\u{301}", 1, 1, 1),
            ("👍", 2, 2, 2),
            ("👍🏽", 2, 2, 4),
            ("👩‍👩‍👧‍👦", 2, 2, 8),
            ("❤\u{fe0f}", 1, 2, 2),
            ("🇩🇪", 2, 2, 4),
            ("a\u{ad}b", 2, 2, 3),
            (
                "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
                2,
                2,
                2,
            ),
        ] {
            let taken = (columns_at_least(text), columns(text), columns_at_most(text));
            assert_eq!(taken, (least, usual, most), "{text:?}");
        }
    }
}
