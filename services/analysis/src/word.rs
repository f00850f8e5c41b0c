//! Words, and the parts of identifiers, paths, dates and hyphenated words.

use unicode_normalization::char::is_combining_mark;

/// What a text is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A word, or a part of a [`Part::Whole`].
    Word(&'a str),
    /// Words joined without a space, such as a path; its parts follow.
    Whole(&'a str),
    /// Two neighbouring characters of a script without spaces, or a single one
    /// that stands alone.
    Bigram(&'a str),
}

/// Joiners in a row that still join: `::` and `->` do, `://` does not.
const JOINERS: usize = 2;
/// Shorter numbers within a date, a time or a version are only noise.
const NUMBER_PART: usize = 3;

/// Calls `sink` with the parts of `text` in order.
pub(super) fn split<'a>(text: &'a str, mut sink: impl FnMut(Part<'a>)) {
    let mut rest = text;
    while let Some(start) = rest.find(|c| is_word(c) || is_spaceless(c)) {
        rest = &rest[start..];
        let first = rest.chars().next();
        let length = if first.is_some_and(is_spaceless) {
            let length = rest.find(|c| !is_spaceless(c)).unwrap_or(rest.len());
            bigrams(&rest[..length], &mut sink);
            length
        } else {
            let length = joined_length(rest);
            compound(&rest[..length], &mut sink);
            length
        };
        rest = &rest[length..];
    }
}

/// See [`super::runs`].
pub(super) fn runs(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_spaced = !is_spaceless(rest.chars().next()?);
        let end = rest.find(|c| is_spaceless(c) == is_spaced);
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some((run, is_spaced))
    })
}

fn is_word(character: char) -> bool {
    // Most are: the tables of Unicode are not asked.
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    (character.is_alphanumeric() || is_combining_mark(character)) && !is_spaceless(character)
}

fn is_joiner(character: char) -> bool {
    matches!(
        character,
        '_' | '-' | '.' | '/' | ':' | '@' | '\'' | '’' | '>' | '+' | '#' | '~'
    )
}

/// Han, kana, Hangul: written without spaces, or with words too long to match.
fn is_spaceless(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{1100}'..='\u{11ff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{323af}')
}

/// The length of the words at the start of `text` that joiners hold together.
fn joined_length(text: &str) -> usize {
    let mut end = 0;
    let mut joiners = 0;
    for (index, character) in text.char_indices() {
        if is_word(character) {
            end = index + character.len_utf8();
            joiners = 0;
        } else if is_joiner(character) && joiners < JOINERS {
            joiners += 1;
        } else {
            break;
        }
    }
    end
}

fn bigrams<'a>(run: &'a str, sink: &mut impl FnMut(Part<'a>)) {
    let ends = run.char_indices().map(|(index, c)| index + c.len_utf8());
    let pairs = run.char_indices().zip(ends.skip(1));
    let mut alone = true;
    for ((start, _), end) in pairs {
        alone = false;
        sink(Part::Bigram(&run[start..end]));
    }
    if alone {
        return sink(Part::Bigram(run));
    }
    // A character that is a word by itself, between others' endings.
    let mut before = false;
    let mut characters = run.char_indices().peekable();
    while let Some((start, character)) = characters.next() {
        let next = characters.peek();
        let end = next.map_or(run.len(), |(end, _)| *end);
        let is_alone = !before && !next.is_some_and(|(_, c)| is_han(*c));
        before = is_han(character);
        if before && is_alone {
            sink(Part::Bigram(&run[start..end]));
        }
    }
}

pub(super) fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

fn compound<'a>(text: &'a str, sink: &mut impl FnMut(Part<'a>)) {
    let has_parts = text.contains(is_joiner) || humps(text).nth(1).is_some();
    if !has_parts {
        return sink(Part::Word(text));
    }
    // An apostrophe makes no name: "user's" is only "user".
    if !text.contains(['\'', '’']) {
        sink(Part::Whole(text));
    }
    let numeric = !text.contains(char::is_alphabetic);
    text.split(is_joiner)
        .filter(|part| !part.is_empty())
        .flat_map(humps)
        .filter(|part| !numeric || part.len() >= NUMBER_PART)
        .for_each(|part| sink(Part::Word(part)));
}

/// The parts of a camelCase word: a capital begins one unless capitals are on
/// both sides, so that HTTPServer is HTTP and Server.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (hump, after) = rest.split_at(hump_length(rest));
        rest = after;
        Some(hump)
    })
}

fn hump_length(word: &str) -> usize {
    let mut previous_lower = false;
    let mut characters = word.char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        let upper = character.is_uppercase();
        let next_lower = characters.peek().is_some_and(|(_, c)| c.is_lowercase());
        if index > 0 && upper && (previous_lower || next_lower) {
            return index;
        }
        previous_lower = character.is_lowercase();
    }
    word.len()
}

#[cfg(test)]
mod tests;
