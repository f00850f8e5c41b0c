//! The best of what the table found, scored anew by a better model.
//!
//! Scoring 50 of them is as good as scoring everything, so that vectors of a
//! model that is far away can be made late.

use std::collections::hash_map::Entry;

use super::*;
use crate::embed::chain;
use crate::embed::vector::Quantised;
use crate::query::{Choice, Query};
use crate::search::{self, Candidate, Candidates, Range};

/// Candidates that are scored anew.
const BEST: usize = 50;

/// The cosines of a candidate and of it with its neighbours; None when it has no
/// vector.
type Cosines = Option<(f64, f64)>;

impl Engine {
    /// Scores the best of `candidates` with the embedder of `query`, and orders
    /// them anew; what is wrong when it cannot.
    pub(super) fn rescore(
        &self,
        snapshot: &Snapshot,
        query: &Query,
        candidates: &mut Candidates<'_>,
    ) -> Result<(), String> {
        let Choice::Remote { model, vector } = &query.embedder else {
            return Ok(());
        };
        let vector = vector.as_ref().ok_or_else(|| {
            format!("{model} gave no vector for the question; going on without it")
        })?;
        let best = candidates.list.len().min(BEST);
        let best = &mut candidates.list[..best];
        let question = Quantised::new(vector);
        let cosines = cosines(&self.reader(), snapshot, (model, &question), best);
        let cosines = cosines.map_err(|error| chain(&error))?;
        apply(best, &cosines, query);
        if cosines.iter().all(Option::is_none) && !cosines.is_empty() {
            Err(format!(
                "{model} has made no vectors of what was found yet; going on without it"
            ))
        } else {
            Ok(())
        }
    }
}

fn cosines(
    reader: &Database,
    snapshot: &Snapshot,
    (model, question): (&str, &Quantised),
    best: &[Candidate],
) -> Result<Vec<Cosines>, Error> {
    let mut parts: HashMap<i64, Option<part::Part>> = HashMap::new();
    let cosine = |text: Option<String>| -> Result<Option<f64>, Error> {
        let Some(text) = text else { return Ok(None) };
        let found = reader.vector(model, Hash::of(&text))?;
        Ok(found.map(|vector| f64::from(question.cosine(&vector))))
    };
    let mut all = Vec::new();
    for candidate in best {
        let (id, unit) = search::place(snapshot, candidate);
        let part = match parts.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(reader.part(id)?.map(|(part, _)| part)),
        };
        let part = part.as_ref();
        let own = cosine(part.and_then(|part| part.meaning(unit)))?;
        let window = cosine(part.and_then(|part| part.window_meaning(unit)))?;
        all.push(own.map(|own| (own, window.unwrap_or(own))));
    }
    Ok(all)
}

/// Puts the new cosines in the place of the table's, brought to 0..1 among those
/// that have some.
fn apply(best: &mut [Candidate], cosines: &[Cosines], query: &Query) {
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
