//! The best of what the table found, scored anew by a better model.
//!
//! Scoring 50 of them is as good as scoring everything, so that vectors of a
//! model that is far away can be made late.

use std::collections::hash_map::Entry;

use super::*;
use crate::embed::chain;
use crate::embed::vector::Quantised;
use crate::part::Part;
use crate::query::{Choice, Query};
use crate::search::{self, Candidate, Candidates, Range};

/// Candidates that are scored anew.
const BEST: usize = 50;

/// The question as the better model sees it.
struct Second {
    model: String,
    question: Quantised,
}

impl Engine {
    /// Scores the best of `candidates` with the embedder of `query`, and orders
    /// them anew; what is wrong when it cannot.
    pub(super) fn rescore(
        &self,
        snapshot: &Snapshot,
        query: &Query,
        candidates: &mut Candidates,
    ) -> Result<(), String> {
        let Some(second) = self.second(query)? else {
            return Ok(());
        };
        let best = candidates.list.len().min(BEST);
        let best = &mut candidates.list[..best];
        let mut vectors = Vectors::new(self, snapshot, &second);
        let mut cosines = Vec::new();
        for candidate in best.iter() {
            let pair = vectors.cosines(candidate);
            cosines.push(pair.map_err(|error| chain(&error))?);
        }
        apply(best, &cosines, query);
        if cosines.iter().all(Option::is_none) && !cosines.is_empty() {
            Err(format!(
                "{} has made no vectors of what was found yet; going on without it",
                second.model
            ))
        } else {
            Ok(())
        }
    }

    fn second(&self, query: &Query) -> Result<Option<Second>, String> {
        match &query.embedder {
            Choice::None | Choice::Static => Ok(None),
            Choice::Remote { model, vector } => {
                let vector = vector.as_ref().ok_or_else(|| {
                    format!("{model} gave no vector for the question; going on without it")
                })?;
                Ok(Some(Second {
                    model: model.clone(),
                    question: Quantised::new(vector),
                }))
            }
        }
    }
}

/// The vectors of a search's candidates.
struct Vectors<'a> {
    engine: &'a Engine,
    snapshot: &'a Snapshot,
    second: &'a Second,
    parts: HashMap<i64, Option<Part>>,
}

impl<'a> Vectors<'a> {
    fn new(engine: &'a Engine, snapshot: &'a Snapshot, second: &'a Second) -> Self {
        Self {
            engine,
            snapshot,
            second,
            parts: HashMap::new(),
        }
    }

    /// The cosines of a candidate and of it with its neighbours; None when it
    /// has no vector.
    fn cosines(&mut self, candidate: &Candidate) -> Result<Option<(f64, f64)>, Error> {
        let segment = &self.snapshot.live[candidate.live].segment;
        let entry = segment.part(segment.lengths(candidate.unit).part as usize);
        let unit = candidate.unit - entry.first as usize;
        let Some(part) = self.part(entry.id)? else {
            return Ok(None);
        };
        let (own, window) = (part.meaning(unit), part.window_meaning(unit));
        let Some(own) = own.map(|text| self.cosine(text)).transpose()?.flatten() else {
            return Ok(None);
        };
        let window = window.map(|text| self.cosine(text)).transpose()?.flatten();
        Ok(Some((own, window.unwrap_or(own))))
    }

    fn part(&mut self, id: i64) -> Result<Option<&Part>, Error> {
        let part = match self.parts.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let found = self.engine.reader().part(id)?;
                place.insert(found.map(|(part, _)| part))
            }
        };
        Ok(part.as_ref())
    }

    /// The cosine of a text and the question.
    fn cosine(&self, text: String) -> Result<Option<f64>, Error> {
        let found = self
            .engine
            .reader()
            .vector(&self.second.model, Hash::of(&text))?;
        Ok(found.map(|vector| f64::from(self.second.question.cosine(&vector))))
    }
}

/// Puts the new cosines in the place of the table's, brought to 0..1 among those
/// that have some.
fn apply(best: &mut [Candidate], cosines: &[Option<(f64, f64)>], query: &Query) {
    let own = Range::of(cosines.iter().flatten().map(|pair| pair.0));
    let window = Range::of(cosines.iter().flatten().map(|pair| pair.1));
    for (candidate, cosines) in best.iter_mut().zip(cosines) {
        if let Some((cosine, with_neighbours)) = cosines {
            candidate.parts.cosine = *cosine;
            candidate.parts.vector = own.place(*cosine);
            candidate.parts.vector_window = window.place(*with_neighbours);
            search::rescore(candidate, query);
        }
    }
    search::sort(best);
}
