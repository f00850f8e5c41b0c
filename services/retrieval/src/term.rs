//! Terms as the index knows them: by hashes.
//!
//! Of 64 bits, so that among a million terms two are the same with a
//! probability of one in 30 million, and what would follow is one wrong hit. A
//! dictionary of numbers is a quarter of one of words.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::part::{self, Part, Unit};
use openclaw_analysis::calendar::{self, Mark};
use openclaw_analysis::{self as analysis, Language, Same, Traits};

/// A term of a text.
pub(crate) type Key = u64;

/// Shorter terms are not made of others; in bytes.
const LONG: usize = 8;
/// Keeps those who speak apart from those spoken of.
const SPEAKERS: u64 = 0x5350_4541_4b45_5253;
/// Keeps when something was said apart from what was said.
const DATES: u64 = 0x0044_4154_4553_2121;

/// The key of a term.
pub(crate) fn key(term: &str) -> Key {
    xxh3_64(term.as_bytes())
}

/// The key of a term of a speaker's name.
pub(crate) fn speaker_key(term: &str) -> Key {
    xxh3_64_with_seed(term.as_bytes(), SPEAKERS)
}

/// The key of a part of a date.
pub(crate) fn date_key(mark: Mark) -> Key {
    xxh3_64_with_seed(format!("{mark:?}").as_bytes(), DATES)
}

/// What one unit is found by.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// All that can be searched for, as often as it is there.
    pub(crate) keys: Vec<Key>,
    /// Of the speaker's name.
    pub(crate) speakers: Vec<Key>,
}

/// The terms of `unit`, a unit of `part`. Texts without a time of their own are
/// dated by `day_ms`.
/// Its long words go into `words`.
pub(crate) fn of(
    unit: &Unit,
    part: &Part,
    (day_ms, traits): (Option<i64>, Traits),
    words: &mut LongWords,
) -> Terms {
    let mut terms = Terms::default();
    let language = part.language;
    let mut add = |text: &str| {
        analysis::terms(text, language, |term| {
            let key = key(term);
            if is_long(term) {
                words.insert(key, term);
            }
            terms.keys.push(key);
        });
    };
    add(&unit.context);
    add(&unit.text);
    if part::is_name(&unit.speaker) {
        add(&unit.speaker);
        let sink = |term: &str| terms.speakers.push(speaker_key(term));
        // As the question is read, whatever the language.
        analysis::terms(&unit.speaker, Language::English, sink);
    }
    let marks = unit.timestamp_ms.or(day_ms).and_then(calendar::marks);
    terms.keys.extend(marks.into_iter().flatten().map(date_key));
    if let Some(told_ms) = unit.timestamp_ms.or(day_ms)
        && traits.meets(Traits::RELATIVE)
    {
        // Beside the day it was told on.
        let told = calendar::told(&unit.text, told_ms);
        terms.keys.extend(told.into_iter().map(date_key));
    }
    terms
}

/// Long words, each once.
#[derive(Debug, Default)]
pub(crate) struct LongWords {
    known: HashSet<Key, BuildHasherDefault<Same>>,
    /// One a line: so many small texts would leave holes in memory.
    text: String,
}

impl LongWords {
    /// Adds a word that is found by `key`.
    pub(crate) fn insert(&mut self, key: Key, word: &str) {
        if self.known.insert(key) {
            self.text.push_str(word);
            self.text.push('\n');
        }
    }

    /// All of them, in order, one a line.
    pub(crate) fn sorted(&self) -> String {
        let mut words: Vec<&str> = self.text.lines().collect();
        words.sort_unstable();
        let mut sorted = String::with_capacity(self.text.len());
        for word in words {
            sorted.push_str(word);
            sorted.push('\n');
        }
        sorted
    }
}

/// Whether a term may be made of others, or have many forms.
fn is_long(term: &str) -> bool {
    term.len() >= LONG && term.chars().all(char::is_alphabetic)
}
