//! Orders to keep a note, said in words: "remember that the key is under the pot".

mod phrases;

use super::small_talk::plain;
use phrases::{
    AFTER, BEFORE, COURTESIES, LAST, LAST_COURTESIES, NAMES, NOTE, OF, OF_LAST, ORDERS, QUESTIONS,
    TAGS, THIS,
};

/// What is to be kept, when `message` orders that. A question never does: "do you remember
/// where the key is?", "remember when we went to Paris?".
pub(super) fn kept(message: &str) -> Option<&str> {
    let message = without_tag(message.trim());
    if message.contains('¿') || message.ends_with(['?', '？']) {
        return None;
    }
    let kept = begun(message).or_else(|| ended(message))?;
    Some(kept.trim()).filter(|kept| kept.contains(char::is_alphanumeric))
}

/// The same of a message that begins with the order.
fn begun(message: &str) -> Option<&str> {
    let mut rest = message;
    while let Some(after) = longest(BEFORE, rest) {
        rest = after.trim_start_matches(|c: char| !c.is_alphanumeric());
    }
    let is_no_noun = |rest: &&str| is_colon(rest) || longest(OF, rest).is_none();
    rest = longest(ORDERS, rest)
        .or_else(|| longest(NOTE, rest).filter(is_no_noun))
        .or_else(|| longest(NAMES, rest).filter(|rest| is_colon(rest)))?;
    if rest.trim_start().starts_with(['?', '？']) {
        return None;
    }
    let is_told = is_colon(rest) || has_colon(rest);
    while let Some(after) = longest(COURTESIES, rest) {
        rest = after;
    }
    if !is_told && longest(QUESTIONS, rest).is_some() {
        return None;
    }
    rest = longest(AFTER, rest).unwrap_or(rest);
    rest = longest(THIS, rest)
        .filter(|rest| is_colon(rest))
        .unwrap_or(rest);
    Some(rest.trim_start_matches(|c| is_joint(c) || ".!。．！".contains(c)))
}

/// The same of one that ends with it, as Japanese has it.
fn ended(message: &str) -> Option<&str> {
    let said = message.trim_end_matches(['。', '！', '!', '．', '.']);
    let strip = |text: &'_ str, ends: &[&str]| -> Option<usize> {
        let ends = ends.iter().filter(|end| text.ends_with(*end));
        ends.map(|end| text.len() - end.len()).min()
    };
    let polite = strip(said, LAST_COURTESIES).unwrap_or(said.len());
    let said = &said[..polite];
    let said = &said[..strip(said, LAST)?];
    let said = said.trim_end_matches(['、', ' ', '　']);
    let said = &said[..strip(said, OF_LAST).unwrap_or(said.len())];
    // "… ということを": what is told of is nothing that is asked.
    (!said.ends_with('か')).then_some(said)
}

/// What is left of `text` after the longest of `phrases` that it begins with.
fn longest<'a>(phrases: &[&str], text: &'a str) -> Option<&'a str> {
    let rests = phrases.iter().filter_map(|phrase| after(phrase, text));
    rests.min_by_key(|rest| rest.len())
}

/// What is left of `text` after the words of `phrase`.
fn after<'a>(phrase: &str, text: &'a str) -> Option<&'a str> {
    let mut rest = text;
    for wanted in phrase.split(' ') {
        rest = rest.trim_start_matches(is_joint);
        let end = rest.find(|c: char| !c.is_alphanumeric());
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = (folded(word) == wanted).then_some(after)?;
    }
    Some(rest)
}

/// A word as phrases have it.
fn folded(word: &str) -> String {
    word.chars()
        .flat_map(char::to_lowercase)
        .map(plain)
        .collect()
}

/// What may stand between an order and what is ordered.
fn is_joint(c: char) -> bool {
    c.is_whitespace() || "-–—,;:'’，、：".contains(c)
}

/// Whether a colon comes next.
fn is_colon(text: &str) -> bool {
    text.trim_start().starts_with([':', '：'])
}

/// Whether a colon stands before more: "where I parked: level 3". Not one of a time.
fn has_colon(text: &str) -> bool {
    let mut after = text
        .match_indices([':', '：'])
        .map(|(at, colon)| &text[at + colon.len()..]);
    text.contains('：') || after.any(|after| after.starts_with(char::is_whitespace))
}

/// The message without what only asks for assent: ", ok?".
fn without_tag(message: &str) -> &str {
    let asked = message.strip_suffix(['?', '？']);
    let parts = asked.and_then(|asked| asked.rsplit_once([',', '.', '，', '、', '。']));
    let is_tag = |tag: &str| TAGS.contains(&folded(tag.trim().trim_start_matches('¿')).as_str());
    match parts {
        Some((before, tag)) if is_tag(tag) => before,
        _ => message,
    }
}

#[cfg(test)]
mod tests;
