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
use crate::embed::spelling;
use crate::embed::table::Table;
use crate::embed::vector::{DIMENSIONS, Vector, norm, products_of};
use openclaw_analysis::Same;

/// The most words of a question: more is a pasted document.
const WORDS: usize = 16;

/// How near a text is to each word of a question: as near as its nearest word.
pub(crate) type Nearest = [f32; WORDS];

/// The words of a question, as vectors.
pub(crate) struct Nearness<'a> {
    table: &'a Table,
    words: Vec<Vector>,
    /// What each counts; together 1.
    shares: Vec<f32>,
    /// How near words of texts are to each, by the hashes of their pieces: the
    /// same are in all that is found. None of what has no direction.
    known: HashMap<u64, Option<Nearest>, BuildHasherDefault<Same>>,
}

impl<'a> Nearness<'a> {
    /// Of `words`, each with what it weighs; None where there are none that
    /// `table` knows.
    pub(crate) fn new<'b>(
        table: &'a Table,
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
            if let Some(vector) = direction(table.sum(&word.plain)) {
                vectors.push((vector, weight));
            }
        }
        vectors.truncate(WORDS);
        let all: f32 = vectors.iter().map(|(_, weight)| weight).sum();
        (all > 0.0).then(|| Self {
            table,
            shares: vectors.iter().map(|(_, weight)| weight / all).collect(),
            words: vectors.into_iter().map(|(vector, _)| vector).collect(),
            known: HashMap::default(),
        })
    }

    /// The table the texts that are compared are to be spelled by.
    pub(crate) fn table(&self) -> u64 {
        self.table.identity()
    }

    /// How near the words of a text are to each of the question, as
    /// [`spelling::spell`] wrote them; None where it has none.
    pub(crate) fn nearest(&mut self, spelled: &[u8]) -> Option<Nearest> {
        let mut nearest: Option<Nearest> = None;
        for word in spelling::words(spelled) {
            let Some(near) = self.near(word) else {
                continue;
            };
            let all = nearest.get_or_insert(near);
            for (all, near) in all.iter_mut().zip(near) {
                *all = all.max(near);
            }
        }
        nearest
    }

    /// How near a text is, -1 to 1.
    pub(crate) fn weigh(&self, nearest: &Nearest) -> f64 {
        let pairs = nearest.iter().zip(&self.shares);
        f64::from(pairs.map(|(near, share)| near * share).sum::<f32>())
    }

    fn near(&mut self, word: &[[u8; 2]]) -> Option<Nearest> {
        let (table, words) = (self.table, &self.words);
        let near = self.known.entry(xxh3_64(word.as_flattened()));
        *near.or_insert_with(|| {
            let mut sum = [0.0; DIMENSIONS];
            spelling::pieces(word).for_each(|piece| table.add(piece, &mut sum));
            let vector = direction(sum)?;
            let mut near = [0.0; WORDS];
            for (near, product) in near.iter_mut().zip(products_of(words, &vector)) {
                *near = product;
            }
            Some(near)
        })
    }
}

/// `sum` with a length of 1; None where it has none.
fn direction(mut sum: Vector) -> Option<Vector> {
    let norm = norm(&sum);
    sum.iter_mut().for_each(|x| *x /= norm);
    (norm > 0.0).then_some(sum)
}
