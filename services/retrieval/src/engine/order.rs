//! What scores do not tell of the order of hits.

use std::collections::HashSet;

use crate::document::Kind;
use crate::query::Hit;
use openclaw_analysis::{self as analysis, Word};

/// How much alike the evidence of two notes is that say the same thing anew.
const ALIKE: f64 = 0.9;
/// Of two notes that are a moment apart none replaces the other; in milliseconds.
const APART_MS: i64 = 60_000;

/// Puts questions, and answers that only repeat, behind what answers, and, where
/// age counts, a newer note before an older one that answers the same. Scores
/// stay in order: what is put before others has the score of the best of them.
pub(super) fn settle(hits: &mut [Hit], ages: bool) {
    if let Some(last) = hits.iter().rposition(Hit::answers) {
        // A stable sort: the order of the others is their scores'.
        hits[..=last].sort_by_key(|hit| !hit.kind.tells());
    }
    // A bubble at a time: hits are few, and what has nothing to do with each
    // other stays as it is.
    for end in (1..hits.len()).rev().filter(|_| ages) {
        for index in 0..end {
            if replaces(&hits[index + 1], &hits[index]) {
                hits.swap(index, index + 1);
            }
        }
    }
    let mut least = f64::MIN;
    for hit in hits.iter_mut().rev() {
        hit.score = hit.score.max(least);
        least = hit.score;
    }
}

/// Whether `newer` says anew what `older` says.
fn replaces(newer: &Hit, older: &Hit) -> bool {
    let notes = newer.kind == Kind::Note && older.kind == Kind::Note;
    let told = newer.kind == Kind::Told && newer.kind == older.kind && newer.speaker == "user";
    let is_later = if newer.path == older.path {
        // What is appended to a day's note comes later.
        newer.start_line > older.start_line && newer.parts.decay < 1.0
    } else {
        newer.timestamp_ms > older.timestamp_ms + APART_MS
    };
    (notes || told)
        && newer.answers()
        && older.answers()
        && is_later
        && newer.parts.evidence >= older.parts.evidence * ALIKE
        && have_common_words(&newer.snippet, &older.snippet)
}

/// Shorter words are in any text, in characters.
const WORD: usize = 4;

/// Whether two texts have a word in common, or a pair of characters where words
/// are written without spaces.
fn have_common_words(a: &str, b: &str) -> bool {
    let of = |text: &str| {
        let mut words = HashSet::new();
        analysis::words(text, |word| {
            let (text, is_long) = match word {
                Word::Exact(word) => (word, true),
                Word::Plain(word) => (word, word.chars().count() >= WORD),
            };
            if is_long {
                words.insert(text.to_owned());
            }
        });
        words
    };
    !of(a).is_disjoint(&of(b))
}

#[cfg(test)]
mod tests;
