//! Whether two passages say the same.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::analysis::{self, Language};

/// Above this, the second of two passages is not shown (seed 002, property 13).
const THRESHOLD: f64 = 0.95;

/// The different terms of a text, as sorted hashes.
pub(super) type Terms = Vec<u64>;

/// The terms of `text`.
pub(super) fn terms(text: &str) -> Terms {
    let mut terms = Terms::new();
    analysis::terms(text, Language::English, |term| {
        let mut hasher = DefaultHasher::new();
        term.hash(&mut hasher);
        terms.push(hasher.finish());
    });
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Whether both are worth showing.
pub(super) fn differ(a: &Terms, b: &Terms) -> bool {
    jaccard(a, b) <= THRESHOLD
}

/// Of all terms, the share that is in both; two texts without terms are the
/// same.
fn jaccard(a: &Terms, b: &Terms) -> f64 {
    let common = a
        .iter()
        .filter(|term| b.binary_search(term).is_ok())
        .count();
    let all = a.len() + b.len() - common;
    if all == 0 {
        return 1.0;
    }
    common as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_the_share_of_common_terms() {
        let of = |a: &str, b: &str| jaccard(&terms(a), &terms(b));
        assert_eq!(of("red fox", "the red foxes"), 1.0);
        assert_eq!(of("red fox", "red hen"), 1.0 / 3.0);
        assert_eq!(of("red", "blue"), 0.0);
        assert_eq!(of("…", "!"), 1.0);
    }
}
