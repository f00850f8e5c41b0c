//! The terms of a question.

use crate::analysis::{self, Languages};
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
    /// With their weights, heaviest first. None is there twice.
    terms: Vec<(String, f64)>,
    languages: Languages,
}

impl Query {
    /// The terms of `text` that are in `index`. Documents are stemmed in their
    /// own language, and a question is too short to tell which one is meant, so
    /// it is stemmed in all of theirs.
    pub(super) fn new(text: &str, index: &Index) -> Self {
        let text = start(text);
        let own = analysis::language_of(text);
        let languages = index.languages();
        let mut terms: Vec<(String, f64)> = Vec::new();
        for language in languages.iter() {
            let stop_words = Languages::default().with(own).with(language);
            analysis::terms_without(stop_words, text, language, |term| {
                if terms.iter().all(|(other, _)| other != term) {
                    terms.push((term.to_owned(), index.weight(term)));
                }
            });
        }
        terms.retain(|(_, weight)| *weight > 0.0);
        terms.sort_by(|a, b| b.1.total_cmp(&a.1));
        terms.truncate(TERMS);
        Self { terms, languages }
    }

    /// The terms.
    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|(term, _)| term.as_str())
    }

    /// Which of them are in `text`.
    pub(super) fn matches(&self, text: &str) -> Matches {
        let mut found = 0;
        for language in self.languages.iter() {
            analysis::terms(text, language, |term| {
                let position = self.terms.iter().position(|(other, _)| other == term);
                found |= position.map_or(0, |index| 1 << index);
            });
        }
        found
    }

    /// What those terms weigh together.
    pub(super) fn weight(&self, matches: Matches) -> f64 {
        let weights = self.terms.iter().map(|(_, weight)| weight);
        let found = weights
            .enumerate()
            .filter(|(index, _)| matches & 1 << index != 0);
        found.map(|(_, weight)| weight).sum()
    }
}

fn start(text: &str) -> &str {
    let fits = (0..=TEXT_LIMIT).rev().find_map(|end| text.get(..end));
    fits.filter(|_| text.len() > TEXT_LIMIT).unwrap_or(text)
}
