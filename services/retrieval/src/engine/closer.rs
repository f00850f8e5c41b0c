//! The best of the messages that were found, looked at more closely.

use super::*;
use crate::document::Kind;
use crate::query::Query;
use crate::search::nearness::Nearness;
use crate::search::{self, Candidate, Candidates, Range};

/// Candidates that are looked at.
const BEST: usize = 100;

impl Engine {
    /// Scores the best of `candidates` by how near their words are, and orders
    /// them anew. Without `nearness` they stay as they are: weights that count on
    /// it say nothing.
    pub(super) fn look_closer(
        &self,
        snapshot: &Snapshot,
        query: &Query,
        nearness: Option<Nearness<'_>>,
        candidates: &mut Candidates<'_>,
    ) -> Result<(), Error> {
        let Some(nearness) = nearness else {
            return Ok(());
        };
        let best = candidates.list.len().min(BEST);
        let (best, others) = candidates.list.split_at_mut(best);
        self.reader()
            .together(|reader| compare(reader, snapshot, nearness, best))?;
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
        Ok(())
    }
}

fn compare(
    reader: &Database,
    snapshot: &Snapshot,
    mut nearness: Nearness<'_>,
    best: &mut [Candidate],
) -> Result<(), Error> {
    let mut near = Vec::new();
    for candidate in best.iter() {
        let text = match candidate.kind {
            Kind::Note => None,
            _ => {
                let (part, ordinal) = search::place(snapshot, candidate);
                reader.text(part, ordinal)?
            }
        };
        near.push(text.and_then(|text| nearness.of(&text)));
    }
    let range = Range::of(near.iter().flatten().copied());
    for (candidate, near) in best.iter_mut().zip(near) {
        candidate.parts.words = near.map_or(0.0, |near| range.place(near));
    }
    Ok(())
}
