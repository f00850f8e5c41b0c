//! The terms of a question.

use std::collections::{BTreeMap, HashMap};

use crate::analysis::{self, Language, Languages};
use crate::index::Index;

/// Looked at of a question; what follows is a pasted document. In bytes.
const TEXT_LIMIT: usize = 8 * 1024;
/// Terms searched for, those that say most; as many as a [`Matches`] has bits.
const TERMS: usize = 64;

/// Which terms of a question are in a text.
pub(super) type Matches = u64;

/// What is searched for.
#[derive(Debug)]
pub(super) struct Query {
    /// Each with its bit in [`Matches`].
    terms: BTreeMap<String, usize>,
    /// By bit, heaviest first.
    weights: Vec<f64>,
}

impl Query {
    /// The terms of `text` that are in `index`. Documents are stemmed in their
    /// own language, and a question is too short to tell which one is meant, so
    /// it is stemmed in all of theirs.
    pub(super) fn new(text: &str, index: &Index) -> Self {
        let text = start(text);
        let own = analysis::language_of(text);
        let mut found: HashMap<String, f64> = HashMap::new();
        for language in index.languages().iter() {
            let stop_words = Languages::default().with(own).with(language);
            analysis::terms_without(stop_words, text, language, |term| {
                if !found.contains_key(term) {
                    found.insert(term.to_owned(), index.weight(term));
                }
            });
        }
        let mut found: Vec<(String, f64)> = found.into_iter().filter(|(_, w)| *w > 0.0).collect();
        // Then by name: the same question has the same answer.
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        found.truncate(TERMS);
        let (terms, weights): (Vec<String>, Vec<f64>) = found.into_iter().unzip();
        Self {
            terms: terms.into_iter().zip(0..).collect(),
            weights,
        }
    }

    /// The terms, always in the same order: sums of scores depend on it.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.keys().map(String::as_str)
    }

    /// Which of them are in `text`, which is written in `language`.
    pub(super) fn matches(&self, text: &str, language: Language) -> Matches {
        let mut found = 0;
        analysis::terms(text, language, |term| {
            found |= self.terms.get(term).map_or(0, |bit| 1 << bit);
        });
        found
    }

    /// What those terms weigh together.
    pub(super) fn weight(&self, matches: Matches) -> f64 {
        let found = self.weights.iter().enumerate();
        let found = found.filter(|(bit, _)| matches & 1 << bit != 0);
        found.map(|(_, weight)| weight).sum()
    }
}

fn start(text: &str) -> &str {
    let fits = (0..=TEXT_LIMIT).rev().find_map(|end| text.get(..end));
    fits.filter(|_| text.len() > TEXT_LIMIT).unwrap_or(text)
}
