//! How near the words of a text are to those of a question, one by one.
//!
//! The mean of all words of a message says what it is about; the one word that
//! answers ("violin", asked for instruments) is lost in it. For each word of the
//! question the nearest of the text counts, as much as it is rare (MaxSim;
//! Khattab and Zaharia, 2020).

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::xxh3_64;

use super::search_word::SearchWord;
use crate::embed::table::Table;
use crate::embed::vector::{Vector, norm, products_of};
use openclaw_analysis::{self as analysis, Language, Same, Word};

/// Looked at of a text, in bytes: a long one has something near everything.
const TEXT: usize = 400;
/// The most words of a question: more is a pasted document.
const WORDS: usize = 16;

/// The words of a question, as vectors.
pub(crate) struct Nearness<'a> {
    table: &'a Table,
    language: Language,
    words: Vec<Vector>,
    /// What each counts; together 1.
    shares: Vec<f32>,
    /// How near words of texts are to each, by their hashes: the same are in all
    /// that is found.
    known: HashMap<u64, Vec<f32>, BuildHasherDefault<Same>>,
}

impl<'a> Nearness<'a> {
    /// Of `words`, each with what it weighs; None where there are none that
    /// `table` knows.
    pub(crate) fn new<'b>(
        table: &'a Table,
        language: Language,
        words: impl Iterator<Item = (&'b SearchWord, f32)>,
    ) -> Option<Self> {
        let mut vectors: Vec<(Vector, f32)> = Vec::new();
        let mut before = "";
        for (word, weight) in words {
            // What a word is made of follows one another.
            if word.plain == before || word.plain.is_empty() {
                continue;
            }
            before = &word.plain;
            if let Some(vector) = vector(table, &word.plain) {
                vectors.push((vector, weight));
            }
        }
        vectors.truncate(WORDS);
        let all: f32 = vectors.iter().map(|(_, weight)| weight).sum();
        (all > 0.0).then(|| Self {
            table,
            language,
            shares: vectors.iter().map(|(_, weight)| weight / all).collect(),
            words: vectors.into_iter().map(|(vector, _)| vector).collect(),
            known: HashMap::default(),
        })
    }

    /// How near `text` is, -1 to 1; None where it has no words.
    pub(crate) fn of(&mut self, text: &str) -> Option<f64> {
        let end = (0..=TEXT.min(text.len())).rev();
        let start = end.into_iter().find_map(|end| text.get(..end));
        let mut best: Vec<f32> = Vec::new();
        analysis::words(start.unwrap_or_default(), |word| {
            if let Word::Plain(word) = word
                && !analysis::is_stop_word(word, self.language)
            {
                let near = self.near(word);
                if best.is_empty() {
                    best.clone_from(near);
                }
                for (best, near) in best.iter_mut().zip(near) {
                    *best = best.max(*near);
                }
            }
        });
        let pairs = best.iter().zip(&self.shares);
        let sum: f32 = pairs.map(|(near, share)| near * share).sum();
        (!best.is_empty()).then(|| f64::from(sum))
    }

    /// How near a word is to each of the question; nothing of one that the table
    /// does not know.
    fn near(&mut self, word: &str) -> &Vec<f32> {
        let (table, words) = (self.table, &self.words);
        let near = self.known.entry(xxh3_64(word.as_bytes()));
        near.or_insert_with(|| match vector(table, word) {
            Some(vector) => products_of(words, &vector),
            None => Vec::new(),
        })
    }
}

/// The vector of a word, 1 long.
fn vector(table: &Table, word: &str) -> Option<Vector> {
    let mut sum = table.sum(word);
    let norm = norm(&sum);
    sum.iter_mut().for_each(|x| *x /= norm);
    (norm > 0.0).then_some(sum)
}
