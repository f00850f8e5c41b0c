//! What scores do not tell of the order of hits.

use std::collections::HashSet;

use crate::document::Kind;
use crate::query::{Hit, Parts};
use openclaw_analysis::{self as analysis, Language, Traits, Word, lexicon};

/// How much alike the evidence of two notes is that say the same thing anew.
const ALIKE: f64 = 0.9;
/// Of two notes that are a moment apart none replaces the other; in milliseconds.
const APART_MS: i64 = 60_000;

/// The least evidence, of the older's, of a note that says what has changed.
const CHANGED: f64 = 0.38;

/// Puts questions, and answers that only repeat, behind what answers, and, where
/// age counts, a newer note before an older one that answers the same. Scores
/// stay in order: what is put before others has the score of the best of them.
pub(super) fn settle(hits: &mut [Hit], ages: bool) {
    if ages {
        follow_changes(hits);
    }
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

/// Words of an order to keep something, beside what is to be kept: "please remember".
const ORDER: usize = 3;

/// Leaves of what was told and of the note that was made of it the note, which then answers as
/// well: what was ordered to be kept has the order beside it.
pub(super) fn leave_notes(hits: &mut Vec<Hit>) {
    let words: Vec<HashSet<String>> = hits.iter().map(|hit| words(&noted(hit))).collect();
    let is_note = |at: &usize| hits[*at].kind == Kind::Note && !words[*at].is_empty();
    let notes: Vec<usize> = (0..hits.len()).filter(is_note).collect();
    let told: Vec<usize> = (0..hits.len())
        .filter(|at| hits[*at].kind == Kind::Told)
        .collect();
    let mut left_out = HashSet::new();
    for told in told {
        let is_made_of_it = |note: &&usize| {
            let (note, told) = (&words[**note], &words[told]);
            note.is_subset(told) && told.len() <= note.len() + ORDER
        };
        let made = notes.iter().find(is_made_of_it);
        if let Some(&note) = made {
            let Parts {
                evidence,
                told: tells,
                ..
            } = hits[told].parts;
            let (score, parts) = (hits[told].score, &mut hits[note].parts);
            parts.evidence = parts.evidence.max(evidence);
            parts.told = parts.told.max(tells);
            hits[note].score = hits[note].score.max(score);
            left_out.insert(told);
        }
    }
    let mut at = 0..;
    hits.retain(|_| !at.next().is_some_and(|at| left_out.contains(&at)));
}

/// What a note says, without the time that is put before what is to be remembered.
fn noted(hit: &Hit) -> String {
    let text = hit.snippet.trim_start_matches(['-', '*', '+', ' ']);
    let is_time = |time: &str| {
        let digits = |part: &str| part.len() == 2 && part.bytes().all(|it| it.is_ascii_digit());
        time.split_once(':')
            .is_some_and(|(hour, minute)| digits(hour) && digits(minute))
    };
    match text.split_once(' ') {
        Some((time, rest)) if hit.kind == Kind::Note && is_time(time) => rest.to_owned(),
        _ => text.to_owned(),
    }
}

/// A note that says that something has changed answers what the older one
/// answers, though it has fewer of its words: "moved to Tuesday". Only where it
/// has the kind of fact that is asked for: it may tell of another change.
fn follow_changes(hits: &mut [Hit]) {
    for newer in 0..hits.len() {
        if hits[newer].kind != Kind::Note || !analysis::tells_change(&hits[newer].snippet) {
            continue;
        }
        let own = &hits[newer];
        let older = hits.iter().filter(|older| {
            older.kind == Kind::Note
                && older.answers()
                && own.parts.evidence >= older.parts.evidence * CHANGED
                && is_later(own, older)
                && fewest_common(own, older).is_some_and(|fewest| {
                    let counts = |word: &str| is_alike(own, older) || !is_general(word);
                    common_words(&about(own), &about(older), counts) >= fewest
                })
        });
        let most = older.map(|older| older.parts.evidence).fold(0.0, f64::max);
        let evidence = &mut hits[newer].parts.evidence;
        *evidence = evidence.max(most);
    }
}

/// How many words both have to have; None where they tell too little. Where no kind of fact is
/// asked for, both have to have a number: a code, and a code.
fn fewest_common(newer: &Hit, older: &Hit) -> Option<usize> {
    let facts = |hit: &Hit| analysis::facts(&hit.snippet);
    let is_untold = newer.parts.told == 0.0 && older.parts.told == 0.0;
    if newer.parts.told > 0.0 {
        Some(1)
    } else if is_untold && facts(newer).meets(facts(older).only(Traits::NUMBER)) {
        Some(2)
    } else {
        None
    }
}

/// Whether what `newer` says was said after what `older` says. What a note of a
/// day says of a change comes after what one without a day says, and in one note
/// of a day what stands below.
pub(super) fn is_later(newer: &Hit, older: &Hit) -> bool {
    let changes = |one: &Hit, other: &Hit| {
        is_of_day(one) && !is_of_day(other) && analysis::tells_change(&one.snippet)
    };
    if newer.path == older.path {
        newer.start_line > older.start_line && newer.parts.decay < 1.0
    } else if changes(newer, older) || changes(older, newer) {
        changes(newer, older)
    } else if is_of_day(older) && !is_of_day(newer) {
        // When its file was written last tells nothing of one line.
        false
    } else {
        newer.timestamp_ms > older.timestamp_ms + APART_MS
    }
}

/// Whether a note is about a day, as its name tells: "2026-11-22.md".
fn is_of_day(hit: &Hit) -> bool {
    day_of_note(&hit.path).is_some()
}

/// The day that a note is about, as its name tells.
pub(super) fn day_of_note(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let day = name.get(..10)?;
    let is_day = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    day.bytes().enumerate().all(is_day).then_some(day)
}

/// Whether `newer` says anew what `older` says.
fn replaces(newer: &Hit, older: &Hit) -> bool {
    let notes = newer.kind == Kind::Note && older.kind == Kind::Note;
    let told = newer.kind == Kind::Told && newer.kind == older.kind && newer.speaker == "user";
    (notes || told)
        && newer.answers()
        && older.answers()
        && is_later(newer, older)
        && is_alike(newer, older)
        && common_words(&about(newer), &about(older), |_| true) > 0
}

/// A text with what it stands under.
fn about(hit: &Hit) -> String {
    let lines = hit.context.iter().map(String::as_str);
    let lines: Vec<&str> = lines.chain([hit.snippet.as_str()]).collect();
    lines.join("\n")
}

fn is_alike(newer: &Hit, older: &Hit) -> bool {
    newer.parts.evidence >= older.parts.evidence * ALIKE
}

/// Shorter words, and those that say nothing, are in any text; in characters.
const WORD: usize = 3;

/// How many words that `counts` two texts have in common, or pairs of characters where words
/// are written without spaces.
fn common_words(a: &str, b: &str, counts: impl Fn(&str) -> bool) -> usize {
    let (a, b) = (words(a), words(b));
    let others: HashSet<&str> = b.iter().map(|word| beginning(word)).collect();
    let counted = a.iter().filter(|word| counts(word));
    let common: HashSet<&str> = counted.map(|word| beginning(word)).collect();
    common.intersection(&others).count()
}

/// The words of a text that say something.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    analysis::words(text, |word| {
        let (text, is_long) = match word {
            Word::Exact(word) => (word, true),
            Word::Plain(word) => (word, word.chars().count() >= WORD && says_something(word)),
        };
        if is_long {
            words.insert(text.to_owned());
        }
    });
    words
}

/// A word without what may be its inflection: "Proben" is of "Probe".
fn beginning(word: &str) -> &str {
    const ENDS: [&str; 8] = ["en", "es", "er", "em", "s", "n", "e", "x"];
    let ends = ENDS.iter().filter_map(|end| word.strip_suffix(end));
    let stem = ends
        .filter(|stem| stem.chars().count() > WORD)
        .min_by_key(|stem| stem.len());
    stem.unwrap_or(word)
}

const LANGUAGES: [Language; 4] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
];

fn says_something(word: &str) -> bool {
    let is_empty = |language: &Language| analysis::is_stop_word(word, *language);
    !LANGUAGES.iter().any(is_empty)
}

/// Whether a word is in texts about anything: a number, "number", "new".
fn is_general(word: &str) -> bool {
    let names_fact = |language: Language| !lexicon::fact(word, language).is_empty();
    let has_fact = !analysis::facts(word).is_empty();
    has_fact
        || lexicon::is_frame(word)
        || analysis::tells_change(word)
        || LANGUAGES.into_iter().any(names_fact)
}

#[cfg(test)]
mod tests;
