//! Who asks, who answers and who goes on with it stand together: a candidate is
//! worth more among others.

use std::collections::HashMap;

use super::{Candidate, Space, sort};

/// What the better of two neighbours adds of its score,
const NEXT: f64 = 0.1;
/// and the better of those behind them.
const SECOND: f64 = 0.08;

/// Adds to the scores of `candidates` what those next to them say, where they
/// are of one part.
pub(super) fn add(space: &Space<'_>, candidates: &mut [Candidate]) {
    let place = |candidate: &Candidate| (candidate.live, candidate.unit);
    let scores: HashMap<(usize, usize), f64> = candidates
        .iter()
        .map(|candidate| (place(candidate), candidate.score))
        .collect();
    for candidate in candidates.iter_mut() {
        let (live, unit) = place(candidate);
        let part = space.part(live, unit);
        let score = |other: Option<usize>| {
            let other = other.filter(|&other| space.is_in(live, other, part));
            let score = other.and_then(|other| scores.get(&(live, other)));
            score.copied().unwrap_or_default()
        };
        let better = |distance: usize| {
            let before = score(unit.checked_sub(distance));
            before.max(score(Some(unit + distance)))
        };
        let added = NEXT * better(1) + SECOND * better(2);
        candidate.score = (candidate.score + added) / (1.0 + NEXT + SECOND);
    }
    sort(candidates);
}
