//! Whether a passage answers, and which of its sentences do.
//!
//! A score says which passage is the best there is; evidence says whether that
//! is good enough. It is the share of what the question's words weigh (by their
//! rarity) that is in the passage itself or in what it stands under. A name that
//! is asked for must be there, and so must the kind of fact.

use super::snippet::{Matches, Wanted};
use openclaw_analysis::{self as analysis, Language, Traits};

/// What a word counts that is in what the passage stands under only.
const ABOVE: f32 = 0.9;
/// What a word counts more that is missing with all that means the same.
const MISSING: f32 = 1.2;
/// What is left of the evidence where a name that is asked for is missing,
const NAMELESS: f64 = 0.6;
/// and where the kind of fact is.
const FACTLESS: f64 = 0.8;
/// What a sentence with the kind of fact that is asked for is worth more.
const FACT: f32 = 1.2;
/// Shorter passages are shown whole, in characters.
const WHOLE: usize = 240;

/// What a passage tells of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    /// 0 to 1.
    pub(crate) share: f64,
    /// Whether it says nothing but the question's own words.
    pub(crate) is_repeat: bool,
    /// The sentences that answer.
    pub(crate) answer: String,
}

/// A sentence and what it tells.
struct Sentence<'a> {
    text: &'a str,
    matches: Matches,
    traits: Traits,
}

/// What `text`, which is shown and stands under `above`, tells.
pub(crate) fn of(wanted: &Wanted, (text, above): (&str, &str), language: Language) -> Evidence {
    let mut others = 0;
    let read = |text| {
        let mut matches = Matches::default();
        wanted.words(text, language, |one| {
            others += usize::from(one == Matches::default());
            matches = matches.with(one);
        });
        Sentence {
            text,
            matches,
            traits: analysis::facts(text),
        }
    };
    let sentences: Vec<Sentence<'_>> = sentences(text).into_iter().map(read).collect();
    let all = sentences.iter().map(|sentence| sentence.matches);
    let mut inside = all.fold(Matches::default(), Matches::with);
    let own = inside;
    let traits = traits(&sentences);
    let outside = wanted.matches(above, language);
    for (fact, bit) in wanted.facts.iter().zip(0..) {
        // A number or a date is in many a line.
        inside.foreign |= u64::from(fact.meets(traits)) << bit;
    }
    let all = wanted.all(inside.with(outside));
    let found = wanted.weight(inside);
    let with_outside = wanted.weight(inside.with(outside));
    let covered = found + (with_outside - found) * ABOVE;
    let mut share = f64::from(covered / all.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    if wanted.names & !(inside.own | outside.own) != 0 {
        share *= NAMELESS;
    }
    if !wanted.asked.is_empty() && !wanted.asked.meets(traits) {
        share *= FACTLESS;
    }
    Evidence {
        share,
        is_repeat: others == 0 && own.own != 0,
        answer: answer(wanted, text, &sentences),
    }
}

impl Wanted {
    /// What all words weigh, where those of `found` are found.
    fn all(&self, found: Matches) -> f32 {
        let there = found.own | found.related | found.foreign;
        let weights = self.weights.iter().enumerate();
        let weights = weights.map(|(bit, weight)| {
            let is_missing = self.known_others & !there & (1 << bit) != 0;
            if is_missing {
                weight * MISSING
            } else {
                *weight
            }
        });
        weights.sum()
    }
}

/// The kinds of facts in the sentences that have to do with the question; in all
/// of them where none has.
fn traits(sentences: &[Sentence<'_>]) -> Traits {
    let is_about = |sentence: &&Sentence<'_>| sentence.matches != Matches::default();
    let all = |total: Traits, sentence: &Sentence<'_>| total.with(sentence.traits);
    if sentences.iter().any(|sentence| is_about(&sentence)) {
        sentences
            .iter()
            .filter(is_about)
            .fold(Traits::default(), all)
    } else {
        sentences.iter().fold(Traits::default(), all)
    }
}

/// All of a short text; of a long one the sentence that has most of what is asked
/// for, and one beside it that has more.
fn answer(wanted: &Wanted, text: &str, sentences: &[Sentence<'_>]) -> String {
    if text.chars().count() <= WHOLE || sentences.is_empty() {
        return text.trim().to_owned();
    }
    let has_fact = |sentence: &Sentence<'_>| wanted.asked.meets(sentence.traits);
    let worth = |sentence: &Sentence<'_>| {
        let bonus = if has_fact(sentence) { FACT } else { 1.0 };
        wanted.weight(sentence.matches) * bonus
    };
    let mut best = 0;
    for index in 1..sentences.len() {
        if worth(&sentences[index]) > worth(&sentences[best]) {
            best = index;
        }
    }
    let own = &sentences[best];
    let has_more = |other: &Sentence<'_>| {
        wanted.weight(own.matches.with(other.matches)) > wanted.weight(own.matches)
    };
    let (mut start, mut end) = (best, best + 1);
    if let Some(next) = sentences.get(end)
        && (has_more(next) || has_fact(next) && !has_fact(own))
    {
        end += 1;
    } else if let Some(before) = best.checked_sub(1)
        && has_more(&sentences[before])
    {
        start = before;
    }
    let shown = sentences[start..end].iter().map(|sentence| sentence.text);
    shown.collect::<Vec<_>>().join(" ")
}

/// The sentences and lines of a text.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let end = at + character.len_utf8();
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            '\n' | '。' | '！' | '？' => true,
            // "3.5." and "Dr. Weber" go on: a sentence begins with a capital after
            // a word of more than two letters.
            '.' | '!' | '?' => {
                next.is_some_and(char::is_whitespace) && is_end(&text[start..at], &text[end..])
            }
            _ => false,
        };
        if ends {
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| sentence.contains(char::is_alphanumeric));
    sentences
}

fn is_end(before: &str, after: &str) -> bool {
    let word = before
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let begins = after.trim_start().chars().next();
    let is_word = word.chars().count() > 2 && !word.chars().all(|c| c.is_ascii_digit())
        || word.len() == 4 && word.chars().all(|c| c.is_ascii_digit());
    is_word && begins.is_none_or(|c| !c.is_lowercase())
}

#[cfg(test)]
mod tests;
