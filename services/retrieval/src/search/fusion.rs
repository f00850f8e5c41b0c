//! Lists of scores become one.
//!
//! A weighted sum of what is brought to 0..1 in each list, not ranks (RRF):
//! these cost 11 points of nDCG on conversations and win nothing elsewhere.

use super::{Candidate, Space, age, keywords, meaning, order};
use crate::query::{Parts, Query};
use crate::snapshot::Snapshot;

/// What has no word of the question, neither itself nor its neighbours, must be
/// this near to it: two texts about different things mostly are below.
const NEAR: f32 = 0.2;

/// Brings a list to 0..1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// From 0 to the highest of a list of keyword scores.
    fn from_zero(scores: &[f32]) -> Self {
        let high = scores.iter().copied().fold(0.0, f32::max);
        Self {
            low: 0.0,
            high: f64::from(high),
        }
    }

    /// From the lowest to the highest of `scores`.
    pub(crate) fn of(scores: impl Iterator<Item = f64>) -> Self {
        let all = Self {
            low: f64::MAX,
            high: f64::MIN,
        };
        scores.fold(all, |range, score| Self {
            low: range.low.min(score),
            high: range.high.max(score),
        })
    }

    /// Where `score` is between them; 0 where all are the same.
    pub(crate) fn place(self, score: f64) -> f64 {
        if self.high > self.low {
            ((score - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// The `limit` best units, best first.
pub(super) fn best(
    space: &Space<'_>,
    snapshot: &Snapshot,
    query: &Query,
    keywords: &keywords::Scores,
    meaning: Option<&meaning::Scores>,
    limit: usize,
) -> Vec<Candidate> {
    let ranges = Ranges::new(space, keywords, meaning);
    let mut candidates = Vec::new();
    for (live, &(start, first_part)) in space.live.iter().zip(&space.starts) {
        let index = candidates_index(space, start);
        for unit in 0..live.segment.units() {
            let number = start + unit;
            let part = live.segment.lengths(unit).part as usize;
            if !space.allowed[first_part + part] || !ranges.answers(number, keywords, meaning) {
                continue;
            }
            let Some(owner) = live.owner(part) else {
                continue;
            };
            let Some(document) = snapshot.documents.get(&owner) else {
                continue;
            };
            let own = live.segment.unit(unit).timestamp_ms;
            let timestamp_ms = own.unwrap_or(document.timestamp_ms);
            let ages = own.is_some() || document.ages;
            let mut parts = ranges.parts(number, first_part + part, keywords, meaning);
            let (score, decay) = total(&parts, query, timestamp_ms, ages);
            parts.decay = decay;
            candidates.push(Candidate {
                live: index,
                unit,
                score,
                parts,
                timestamp_ms,
                ages,
            });
        }
    }
    if candidates.len() > limit && limit > 0 {
        candidates.select_nth_unstable_by(limit - 1, order);
    }
    candidates.truncate(limit);
    candidates.sort_unstable_by(order);
    candidates
}

fn candidates_index(space: &Space<'_>, start: usize) -> usize {
    space.place(start).0
}

/// The score that `parts` make, and what age left of it.
pub(super) fn total(parts: &Parts, query: &Query, timestamp_ms: i64, ages: bool) -> (f64, f64) {
    let weights = &query.ranking.weights;
    let pairs = [
        (weights.text, parts.text),
        (weights.window, parts.window),
        (weights.session, parts.session),
        (weights.vector, parts.vector),
        (weights.vector_window, parts.vector_window),
        (weights.speaker, parts.speaker),
    ];
    let all: f64 = pairs.iter().map(|(weight, _)| weight).sum();
    let sum: f64 = pairs.iter().map(|(weight, part)| weight * part).sum();
    let decay = if ages {
        let age_ms = query.now_ms.saturating_sub(timestamp_ms);
        age::factor(
            age_ms,
            query.ranking.half_life_days,
            query.ranking.decay_floor,
        )
    } else {
        1.0
    };
    (sum / all.max(f64::MIN_POSITIVE) * decay, decay)
}

#[derive(Debug)]
struct Ranges {
    text: Range,
    window: Range,
    session: Range,
    vector: Range,
    vector_window: Range,
}

impl Ranges {
    fn new(
        space: &Space<'_>,
        keywords: &keywords::Scores,
        meaning: Option<&meaning::Scores>,
    ) -> Self {
        let of = |list: Option<&Vec<f32>>| {
            let list = list.map_or(&[][..], Vec::as_slice);
            Range::of(
                allowed(space).filter_map(|unit| list.get(unit).map(|&score| f64::from(score))),
            )
        };
        Self {
            text: Range::from_zero(&keywords.unit),
            window: Range::from_zero(&keywords.window),
            session: Range::from_zero(&keywords.part),
            vector: of(meaning.map(|meaning| &meaning.unit)),
            vector_window: of(meaning.map(|meaning| &meaning.window)),
        }
    }

    fn answers(
        &self,
        unit: usize,
        keywords: &keywords::Scores,
        meaning: Option<&meaning::Scores>,
    ) -> bool {
        keywords.window[unit] > 0.0 || meaning.is_some_and(|meaning| meaning.unit[unit] >= NEAR)
    }

    fn parts(
        &self,
        unit: usize,
        part: usize,
        keywords: &keywords::Scores,
        meaning: Option<&meaning::Scores>,
    ) -> Parts {
        let coverage = keywords.covered[unit] / keywords.weight.max(f32::MIN_POSITIVE);
        let mut parts = Parts {
            text: self.text.place(f64::from(keywords.unit[unit])),
            window: self.window.place(f64::from(keywords.window[unit])),
            session: self.session.place(f64::from(keywords.part[part])),
            speaker: f64::from(u8::from(keywords.named[unit])),
            bm25: f64::from(keywords.unit[unit]),
            coverage: f64::from(coverage.clamp(0.0, 1.0)),
            ..Parts::default()
        };
        if let Some(meaning) = meaning {
            parts.vector = self.vector.place(f64::from(meaning.unit[unit]));
            parts.vector_window = self.vector_window.place(f64::from(meaning.window[unit]));
            parts.cosine = f64::from(meaning.unit[unit]);
        }
        parts
    }
}

/// The numbers of the units that are searched.
fn allowed<'a>(space: &'a Space<'_>) -> impl Iterator<Item = usize> + 'a {
    let segments = space.live.iter().zip(&space.starts);
    segments.flat_map(move |(live, &(start, first_part))| {
        let units = 0..live.segment.units();
        units
            .filter(move |&unit| {
                space.allowed[first_part + live.segment.lengths(unit).part as usize]
            })
            .map(move |unit| start + unit)
    })
}
