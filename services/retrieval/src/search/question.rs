//! What is looked for.

use std::collections::BTreeSet;

use crate::analysis::{self, Language, Languages, Word, calendar};
use crate::embed::table::Table;
use crate::embed::vector::{DIMENSIONS, Quantised};
use crate::term::{self, Key};

/// Looked at of a question; what follows is a pasted document. In bytes.
const TEXT_LIMIT: usize = 8 * 1024;

/// A question, analysed.
#[derive(Debug)]
pub(crate) struct Question {
    /// Each word with the keys of any of which it is found.
    pub(crate) words: Vec<Vec<Key>>,
    /// What a speaker's name would be found by.
    pub(crate) speakers: Vec<Key>,
    /// Of its meaning, by [`Question::table`].
    pub(crate) vector: Option<Quantised>,
    /// The table the vector is of.
    pub(crate) table: u64,
}

impl Question {
    /// The question `text` to documents in `languages`.
    pub(crate) fn new(text: &str, languages: Languages, table: Option<&Table>) -> Self {
        let text = start(text);
        let vector = table.map(|table| Quantised::new(&table.sum(text)));
        Self {
            words: words(text, languages),
            speakers: speakers(text),
            vector: vector.filter(|v| v.scale > 0.0 && v.values.len() == DIMENSIONS),
            table: table.map_or(0, Table::identity),
        }
    }
}

fn words(text: &str, languages: Languages) -> Vec<Vec<Key>> {
    let own = analysis::language_of(text);
    let mut seen = BTreeSet::new();
    let mut words: Vec<Vec<Key>> = Vec::new();
    for (word, mark) in calendar::mentions(text) {
        let mut keys = vec![term::date_key(mark)];
        keys.extend(stems(word, own, languages).into_iter().flatten());
        if seen.insert(keys[0]) {
            seen.extend(&keys);
            words.push(keys);
        }
    }
    for mut keys in stems(text, own, languages) {
        keys.retain(|&key| seen.insert(key));
        if !keys.is_empty() {
            words.push(keys);
        }
    }
    words
}

/// For each word of `text` that says something its keys: the stems in every
/// language of `languages`. Documents are stemmed in their own, and a question
/// is too short to tell which is meant.
fn stems(text: &str, own: Language, languages: Languages) -> Vec<Vec<Key>> {
    let mut words = Vec::new();
    analysis::words(text, |word| {
        let mut keys: Vec<Key> = match word {
            Word::Exact(word) => vec![term::key(word)],
            Word::Plain(word) if analysis::is_stop_word(word, own) => Vec::new(),
            Word::Plain(word) => languages
                .iter()
                .filter(|&language| !analysis::is_stop_word(word, language))
                .map(|language| term::key(&analysis::stem(word, language)))
                .collect(),
        };
        keys.sort_unstable();
        keys.dedup();
        words.push(keys);
    });
    words
}

fn speakers(text: &str) -> Vec<Key> {
    let mut keys = BTreeSet::new();
    analysis::terms(text, Language::English, |term| {
        keys.insert(term::speaker_key(term));
    });
    keys.into_iter().collect()
}

fn start(text: &str) -> &str {
    let fits = (0..=TEXT_LIMIT).rev().find_map(|end| text.get(..end));
    fits.filter(|_| text.len() > TEXT_LIMIT).unwrap_or(text)
}
