//! The words that are looked for.

use std::ops::Range;

/// Fewer letters than this would be everywhere.
const LETTERS_MIN: usize = 3;

/// Longest words, in characters.
pub const LIMIT: usize = 1000;

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

    /// Where they are in `text`, one after the other.
    pub(crate) fn find(&self, text: &[char]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.len() {
            match self.end(text, at) {
                Some(end) if is_whole(text, at, end) => {
                    found.push(at..end);
                    at = end;
                }
                _ => at += 1,
            }
        }
        found
    }

    /// The lines of `text` that have them, counted from 1: the first and the last
    /// of each place, in their order and never one line twice.
    pub fn lines(&self, text: &str) -> Vec<(u32, u32)> {
        let characters: Vec<char> = text.chars().collect();
        let number = |at: usize| {
            let ends = characters[..at].iter().filter(|c| **c == '\n').count();
            u32::try_from(ends + 1).unwrap_or(u32::MAX)
        };
        let mut lines: Vec<(u32, u32)> = Vec::new();
        for range in self.find(&characters) {
            let (from, to) = (number(range.start), number(range.end - 1));
            match lines.last_mut() {
                Some(last) if from <= last.1 => last.1 = to,
                _ => lines.push((from, to)),
            }
        }
        lines
    }

    /// Where they end when they begin at `at`.
    fn end(&self, text: &[char], at: usize) -> Option<usize> {
        let mut at = at;
        for (number, part) in self.parts.iter().enumerate() {
            if number > 0 {
                let spaces = text.get(at..)?.iter().take_while(|c| c.is_whitespace());
                at += Some(spaces.count()).filter(|count| *count > 0)?;
            }
            let here = text.get(at..at + part.len())?;
            let same = here.iter().zip(part).all(|(a, b)| folded(*a) == *b);
            at += same.then_some(part.len())?;
        }
        Some(at)
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

/// Whether it is no part of a longer word.
fn is_whole(text: &[char], from: usize, to: usize) -> bool {
    let goes_on = |left: Option<&char>, right: Option<&char>| {
        let is_part = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() && *c < SPACELESS);
        is_part(left) && is_part(right)
    };
    let before = from.checked_sub(1).and_then(|at| text.get(at));
    !goes_on(before, text.get(from)) && !goes_on(text.get(to - 1), text.get(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &str, text: &str) -> Vec<String> {
        let text: Vec<char> = text.chars().collect();
        let ranges = Words::new(words).unwrap().find(&text);
        ranges
            .into_iter()
            .map(|range| text[range].iter().collect())
            .collect()
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
