//! The best of the messages that were found, looked at more closely.

use super::*;
use crate::query::Query;
use crate::search::nearness::Nearness;
use crate::search::{self, Candidate, Candidates, Range};

/// Candidates that are looked at.
const BEST: usize = 100;

/// Scores the best of `candidates` by how near their words are, and orders
/// them anew. Without `nearness` they stay as they are: weights that count on
/// it say nothing.
pub(super) fn look_closer(
    snapshot: &Snapshot,
    query: &Query,
    nearness: Option<Nearness<'_>>,
    candidates: &mut Candidates<'_>,
) {
    let Some(nearness) = nearness else {
        return;
    };
    let best = candidates.list.len().min(BEST);
    let (best, others) = candidates.list.split_at_mut(best);
    compare(snapshot, nearness, best);
    for candidate in best.iter_mut() {
        candidate.is_close = true;
        search::rescore(candidate, query);
    }
    search::sort(best);
    // Scores of the two kinds cannot be compared: the others stay behind.
    let least = best.last().map_or(0.0, |last| last.score);
    for other in others {
        other.score = other.score.min(least);
    }
}

fn compare(snapshot: &Snapshot, mut nearness: Nearness<'_>, best: &mut [Candidate]) {
    let mut near = Vec::new();
    for candidate in best.iter() {
        let segment = &snapshot.live[candidate.live].segment;
        let is_alike = segment.table() == nearness.table();
        let nearest = is_alike.then(|| nearness.nearest(segment.spelled(candidate.unit)));
        near.push(nearest.flatten().map(|nearest| nearness.weigh(&nearest)));
    }
    let range = Range::of(near.iter().flatten().copied());
    for (candidate, near) in best.iter_mut().zip(near) {
        candidate.parts.words = near.map_or(0.0, |near| range.place(near));
    }
}
