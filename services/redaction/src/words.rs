//! The words that are looked for.

use std::ops::Range;

use crate::text::Text;

/// Fewer letters than this would be everywhere.
const LETTERS_MIN: usize = 3;

/// Longest words, in characters.
pub const LIMIT: usize = 1000;

/// Longest character, in bytes.
const CHARACTER: usize = 4;

/// Where scripts begin that put no space between words (Thai and after), so that
/// a word has no end that could be seen.
const SPACELESS: char = '\u{0e00}';

/// Words that follow one another, in any case and with any white space between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    parts: Vec<Vec<char>>,
}

/// Why a text cannot be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotWords {
    /// It would be found everywhere.
    #[error("give at least {LETTERS_MIN} letters or digits of what is to be forgotten")]
    Short,
    /// It is more than anybody would type.
    #[error("give at most {LIMIT} characters of what is to be forgotten")]
    Long,
}

impl Words {
    /// The words of `text`.
    ///
    /// # Errors
    /// It has fewer than three letters or digits, or more than 1000 characters. One
    /// character of Chinese, Japanese or Korean counts as two.
    pub fn new(text: &str) -> Result<Self, NotWords> {
        let weight = |c: char| match c {
            c if !c.is_alphanumeric() => 0,
            c if c >= SPACELESS => 2,
            _ => 1,
        };
        if text.chars().count() > LIMIT {
            return Err(NotWords::Long);
        }
        if text.chars().map(weight).sum::<usize>() < LETTERS_MIN {
            return Err(NotWords::Short);
        }
        let parts = text.split_whitespace();
        Ok(Self {
            parts: parts
                .map(|part| part.chars().map(folded).collect())
                .collect(),
        })
    }

    /// Where they are next in `text`.
    pub(crate) fn next(&self, text: Text<'_>, search: &mut Search) -> Option<Range<usize>> {
        while let Some((first, next)) = text.at(search.at) {
            let from = search.at;
            if let Some((last, to)) = self.end(text, from) {
                let after = text.at(to).map(|(c, _)| c);
                if !goes_on(search.before, Some(first)) && !goes_on(Some(last), after) {
                    (search.at, search.before) = (to, Some(last));
                    return Some(from..to);
                }
            }
            (search.at, search.before) = (next, Some(first));
        }
        None
    }

    /// The lines of `text` that have them, counted from 1: the first and the last
    /// of each place, in their order and never one line twice.
    pub fn lines(&self, text: &str) -> Vec<(u32, u32)> {
        let bytes = text.as_bytes();
        let ends = |range: Range<usize>| bytes[range].iter().filter(|byte| **byte == b'\n').count();
        let number = |line| u32::try_from(line).unwrap_or(u32::MAX);
        let mut lines: Vec<(u32, u32)> = Vec::new();
        let (mut search, mut line, mut counted) = (Search::at(0), 1, 0);
        while let Some(range) = self.next(Text::plain(bytes), &mut search) {
            line += ends(counted..range.start);
            let from = number(line);
            counted = range.end;
            line += ends(range);
            let to = number(line);
            match lines.last_mut() {
                Some(last) if from <= last.1 => last.1 = to,
                _ => lines.push((from, to)),
            }
        }
        lines
    }

    /// Their last character and where they end, when they begin at `at`.
    fn end(&self, text: Text<'_>, at: usize) -> Option<(char, usize)> {
        let mut at = at;
        let mut last = None;
        for (number, part) in self.parts.iter().enumerate() {
            if number > 0 {
                let spaces = at;
                while let Some((_, next)) = text.at(at).filter(|(c, _)| c.is_whitespace()) {
                    at = next;
                }
                if at == spaces {
                    return None;
                }
            }
            for wanted in part {
                let (c, next) = text.at(at).filter(|(c, _)| folded(*c) == *wanted)?;
                (last, at) = (Some(c), next);
            }
        }
        last.map(|last| (last, at))
    }
}

/// How far words have been looked for in a text.
#[derive(Debug)]
pub(crate) struct Search {
    at: usize,
    before: Option<char>,
}

impl Search {
    /// From the beginning of a text, at `at`.
    pub(crate) fn at(at: usize) -> Self {
        Self { at, before: None }
    }

    /// From within a text, at `at`.
    pub(crate) fn from(text: Text<'_>, at: usize) -> Self {
        let before = text.from(at.saturating_sub(CHARACTER));
        let before = before.take_while(|(place, _)| *place < at).last();
        Self {
            at,
            before: before.map(|(_, c)| c),
        }
    }
}

/// One character for one, so that places stay the same.
fn folded(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

/// Whether a word goes on from `left` to `right`.
fn goes_on(left: Option<char>, right: Option<char>) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && c < SPACELESS);
    is_part(left) && is_part(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &str, text: &str) -> Vec<String> {
        let words = Words::new(words).unwrap();
        let mut search = Search::at(0);
        let next = || words.next(Text::plain(text.as_bytes()), &mut search);
        let ranges = std::iter::from_fn(next);
        ranges.map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn words_are_found_in_any_case_and_over_line_ends() {
        let text = "The Blue\n  FLOWERPOT, the blue flowerpot; blueflowerpot";
        assert_eq!(
            found("blue flowerpot", text),
            ["Blue\n  FLOWERPOT", "blue flowerpot"]
        );
        assert_eq!(found("ÄRZTE", "die ärzte"), ["ärzte"]);
        assert_eq!(found("+49 170", "call +49 170!"), ["+49 170"]);
    }

    #[test]
    fn words_are_no_parts_of_others() {
        assert_eq!(
            found("cat", "category, concat, cat's, (Cat)"),
            ["cat", "Cat"]
        );
        assert_eq!(found("123", "1234 0123 123"), ["123"]);
        assert_eq!(found("東京", "私は東京都に住む"), ["東京"]);
    }

    #[test]
    fn words_are_in_lines() {
        let words = Words::new("blue pot").unwrap();
        let text = "a\nblue pot, Blue  Pot\nb\nthe blue\npot and blue pot\n";
        assert_eq!(words.lines(text), [(2, 2), (4, 5)]);
        assert_eq!(words.lines("nothing"), []);
    }

    #[test]
    fn words_are_enough_to_be_looked_for() {
        for short in ["", "  ", "ab", "a b", "!!!"] {
            assert_eq!(Words::new(short), Err(NotWords::Short), "{short:?}");
        }
        assert!(Words::new("東京").is_ok());
        assert_eq!(Words::new(&"a".repeat(1001)), Err(NotWords::Long));
    }
}
