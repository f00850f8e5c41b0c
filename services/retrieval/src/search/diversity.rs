//! Hits that say something new each (maximal marginal relevance, Carbonell and
//! Goldstein, 1998).

use xxhash_rust::xxh3::xxh3_64;

use super::Candidate;
use crate::embed::vector::Quantised;
use crate::query::Hit;

/// Above this, two texts say the same, and only the better is a hit (seed 002,
/// property 13).
const SAME: f64 = 0.95;
/// Up to this cosine two texts are about the same thing, which is no fault: all
/// answers to one question are.
const RELATED: f64 = 0.8;

/// Candidates of which the hits are chosen.
#[derive(Debug)]
pub(crate) struct Pool {
    /// In their order, those that are left.
    left: Vec<Left>,
    chosen: Said,
    lambda: f64,
}

/// Texts of which none says the same as another.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// The words of each.
    words: Vec<Vec<u64>>,
}

#[derive(Debug)]
struct Left {
    candidate: Candidate,
    vector: Quantised,
    /// How much like the most similar of what was chosen it is.
    likeness: f64,
}

impl Pool {
    /// Of `candidates`, which are in order; `lambda` is what their scores count,
    /// and what is left of 1 their likeness.
    pub(crate) fn new(
        candidates: impl Iterator<Item = (Candidate, Quantised)>,
        lambda: f64,
    ) -> Self {
        let left = candidates.map(|(candidate, vector)| Left {
            candidate,
            vector,
            likeness: 0.0,
        });
        Self {
            left: left.collect(),
            chosen: Said::default(),
            lambda: lambda.clamp(0.0, 1.0),
        }
    }

    /// Takes out the candidate that is next: the best of what its score and its
    /// likeness to what was chosen leave.
    pub(crate) fn next(&mut self) -> Option<(Candidate, Quantised)> {
        let worth =
            |left: &Left| self.lambda * left.candidate.score - (1.0 - self.lambda) * left.likeness;
        let worths = self.left.iter().map(worth).enumerate();
        // The first of equals: they are in order.
        let (index, _) =
            worths.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
        let left = self.left.remove(index);
        Some((left.candidate, left.vector))
    }

    /// Chooses what [`Pool::next`] gave, unless its text says the same as one
    /// that was chosen.
    pub(crate) fn choose(&mut self, text: &str, vector: &Quantised) -> bool {
        if !self.chosen.add(text) {
            return false;
        }
        for left in &mut self.left {
            let likeness = likeness(vector, &left.vector);
            left.likeness = left.likeness.max(likeness);
        }
        true
    }
}

impl Said {
    /// Takes in `text`, unless it says the same as one that is in.
    pub(crate) fn add(&mut self, text: &str) -> bool {
        let words = words(text);
        let is_new = !self.words.iter().any(|one| jaccard(one, &words) > SAME);
        if is_new {
            self.words.push(words);
        }
        is_new
    }
}

/// Leaves of hits that say the same the first. Needed wherever hits of several
/// searches come together: each of them knows its own alone.
pub(crate) fn without_repeats(hits: &mut Vec<Hit>) {
    let mut said = Said::default();
    hits.retain(|hit| said.add(&hit.snippet));
}

/// From 0 up to a cosine of [`RELATED`] to 1 for the same meaning.
fn likeness(a: &Quantised, b: &Quantised) -> f64 {
    let cosine = f64::from(a.cosine(b));
    ((cosine - RELATED) / (1.0 - RELATED)).clamp(0.0, 1.0)
}

/// The different words of a text, as sorted hashes.
fn words(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut lower = String::new();
    let mut hashes: Vec<u64> = words
        .filter(|word| !word.is_empty())
        .map(|word| {
            lower.clear();
            if word.is_ascii() {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower.push_str(&word.to_lowercase());
            }
            xxh3_64(lower.as_bytes())
        })
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Of all words, the share that is in both; two texts without words are the
/// same.
fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let common = a
        .iter()
        .filter(|word| b.binary_search(word).is_ok())
        .count();
    let all = a.len() + b.len() - common;
    if all == 0 {
        return 1.0;
    }
    common as f64 / all as f64
}

#[cfg(test)]
mod tests;
