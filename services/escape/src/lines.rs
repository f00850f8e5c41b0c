//! Where lines end, to whoever reads a text.

/// What a model or a person may see as the end of a line: all that Unicode counts as one
/// (UAX #14, BK, CR, LF, NL).
#[must_use]
pub fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// `text` with `end` in the place of each of its line ends.
#[must_use]
pub fn with_line_ends(text: &str, end: &str) -> String {
    text.replace("\r\n", "\n").replace(is_line_end, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_all_kinds_are_seen() {
        for end in [
            "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            let text = format!("a{end}{end}b");
            assert_eq!(with_line_ends(&text, "\n> "), "a\n> \n> b", "{end:?}");
        }
        assert_eq!(with_line_ends("a b\tc", "|"), "a b\tc");
    }
}
