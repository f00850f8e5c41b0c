//! What is looked for.

use std::collections::BTreeSet;

use crate::analysis::{self, Language, Languages};
use crate::embed::table::Table;
use crate::embed::vector::{DIMENSIONS, Quantised};
use crate::term::{self, Key};

/// Looked at of a question; what follows is a pasted document. In bytes.
const TEXT_LIMIT: usize = 8 * 1024;

/// A question, analysed.
#[derive(Debug)]
pub(crate) struct Question {
    /// What its words are found by: several keys for one word, as documents are
    /// stemmed in their own languages and a question is too short to tell which
    /// is meant.
    pub(crate) words: Vec<Key>,
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

fn words(text: &str, languages: Languages) -> Vec<Key> {
    let own = analysis::language_of(text);
    let mut words = Vec::new();
    let mut seen = BTreeSet::new();
    for language in languages.iter() {
        let stop_words = Languages::default().with(own).with(language);
        analysis::terms_without(stop_words, text, language, |term| {
            let key = term::key(term);
            if seen.insert(key) {
                words.push(key);
            }
        });
    }
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
    let end = text.floor_char_boundary(TEXT_LIMIT);
    &text[..end]
}
