//! The best of what the table found, scored anew by a better model.
//!
//! Scoring 50 of them is as good as scoring everything, so that vectors of a
//! model that is slow or far away can be made late.

use super::*;
use crate::embed::vector::{Quantised, norm};
use crate::query::{Choice, Query};
use crate::search::{self, Candidate};

/// Candidates that are scored anew.
const BEST: usize = 50;

/// A candidate's own vector and that of it with its neighbours.
type Pair = (Quantised, Quantised);

impl Engine {
    /// Scores the best of `list` with the embedder of `query`, and orders them
    /// anew; what is wrong when it cannot.
    pub(super) fn rescore(
        &self,
        snapshot: &Snapshot,
        query: &Query,
        list: &mut [Candidate],
    ) -> Result<(), String> {
        let (model, question) = match &query.embedder {
            Choice::None | Choice::Static => return Ok(()),
            Choice::MiniLm => return Ok(()),
            Choice::Remote { model, vector } => {
                let vector = vector.as_ref().ok_or_else(|| {
                    format!("{model} gave no vector for the question; going on without it")
                })?;
                (model.as_str(), Quantised::new(vector))
            }
        };
        let best = list.len().min(BEST);
        let (best, _) = list.split_at_mut(best);
        let pairs: Result<Vec<Option<Pair>>, Error> = best
            .iter()
            .map(|candidate| self.pair(snapshot, candidate, model))
            .collect();
        let pairs = pairs.map_err(|error| crate::embed::chain(&error))?;
        apply(best, &pairs, &question, query);
        Ok(())
    }

    fn pair(
        &self,
        snapshot: &Snapshot,
        candidate: &Candidate,
        model: &str,
    ) -> Result<Option<Pair>, Error> {
        let segment = &snapshot.live[candidate.live].segment;
        let part = segment.part(segment.lengths(candidate.unit).part as usize);
        let own = candidate.unit - part.first as usize;
        let reach = usize::from(part.flows);
        let reader = self.reader();
        let mut sum: Vec<f32> = Vec::new();
        let mut vector = None;
        for ordinal in own.saturating_sub(reach)..=(own + reach).min(part.units as usize - 1) {
            let Some(stored) = reader.unit(part.id, ordinal)? else {
                continue;
            };
            let found = reader.vector(model, Hash::of(&stored.unit.text))?;
            let Some(found) = found else { continue };
            sum.resize(found.values.len().max(sum.len()), 0.0);
            sum.iter_mut()
                .zip(found.floats())
                .for_each(|(total, x)| *total += x);
            if ordinal == own {
                vector = Some(found);
            }
        }
        debug_assert!(norm(&sum).is_finite());
        Ok(vector.map(|vector| (vector, Quantised::new(&sum))))
    }
}

/// Puts the new cosines in the place of the table's.
fn apply(best: &mut [Candidate], pairs: &[Option<Pair>], question: &Quantised, query: &Query) {
    let cosines: Vec<Option<(f64, f64)>> = pairs
        .iter()
        .map(|pair| {
            let (own, window) = pair.as_ref()?;
            Some((
                f64::from(question.cosine(own)),
                f64::from(question.cosine(window)),
            ))
        })
        .collect();
    let highest = |of: fn(&(f64, f64)) -> f64| {
        cosines
            .iter()
            .flatten()
            .map(of)
            .fold(0.0, f64::max)
            .max(f64::MIN_POSITIVE)
    };
    let (own, window) = (highest(|pair| pair.0), highest(|pair| pair.1));
    for (candidate, cosines) in best.iter_mut().zip(&cosines) {
        if let Some((cosine, with_neighbours)) = cosines {
            candidate.parts.cosine = *cosine;
            candidate.parts.vector = (cosine / own).clamp(0.0, 1.0);
            candidate.parts.vector_window = (with_neighbours / window).clamp(0.0, 1.0);
            search::rescore(candidate, query);
        }
    }
    search::sort(best);
}
