//! Lists of scores become one.
//!
//! A weighted sum of what is brought to 0..1 in each list, not ranks (RRF):
//! these cost 11 points of nDCG on conversations and win nothing elsewhere.

use super::{Candidate, Space, age, keywords, meaning, order};
use crate::query::{Parts, Query};

/// What has no word of the question, neither itself nor its neighbours, must be
/// this near to it: two texts about different things mostly are below.
const NEAR: f32 = 0.2;

/// Brings a list to 0..1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    low: f64,
    /// One over what is between them; 0 where that is nothing.
    inverse: f64,
}

impl Range {
    fn new(low: f64, high: f64) -> Self {
        let inverse = if high > low { 1.0 / (high - low) } else { 0.0 };
        Self { low, inverse }
    }

    /// From 0 to the highest of a list of keyword scores.
    fn from_zero(scores: &[f32]) -> Self {
        let high = scores.iter().copied().fold(0.0, f32::max);
        Self::new(0.0, f64::from(high))
    }

    /// From the lowest to the highest of `scores`.
    pub(crate) fn of(scores: impl Iterator<Item = f64>) -> Self {
        let all = (f64::MAX, f64::MIN);
        let (low, high) = scores.fold(all, |(low, high), s| (s.min(low), s.max(high)));
        Self::new(low, high)
    }

    /// Where `score` is between them; 0 where all are the same.
    #[inline]
    pub(crate) fn place(self, score: f64) -> f64 {
        ((score - self.low) * self.inverse).clamp(0.0, 1.0)
    }
}

/// The lowest and the highest score so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    low: f32,
    high: f32,
}

impl Extent {
    pub(super) fn empty() -> Self {
        Self {
            low: f32::MAX,
            high: f32::MIN,
        }
    }

    #[inline]
    pub(super) fn include(&mut self, score: f32) {
        self.low = self.low.min(score);
        self.high = self.high.max(score);
    }

    fn range(self) -> Range {
        Range::new(f64::from(self.low), f64::from(self.high))
    }
}

/// A unit and what it is ordered by: all there are of them are looked at, so
/// they are small.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    score: f64,
    timestamp_ms: i64,
    live: u32,
    unit: u32,
}

/// The `limit` best units, best first.
pub(super) fn best(
    space: &Space<'_>,
    query: &Query,
    keywords: &keywords::Scores,
    meaning: Option<&meaning::Scores>,
    limit: usize,
) -> Vec<Candidate> {
    let lists = Lists::new(keywords, meaning);
    let mut ranked: Vec<Ranked> = Vec::new();
    for live in 0..space.live.len() {
        for unit in 0..space.live[live].segment.units() {
            let Some((parts, timestamp_ms, ages)) = lists.look(space, live, unit) else {
                continue;
            };
            ranked.push(Ranked {
                score: total(&parts, query, timestamp_ms, ages).0,
                timestamp_ms,
                live: live as u32,
                unit: unit as u32,
            });
        }
    }
    if ranked.len() > limit && limit > 0 {
        ranked.select_nth_unstable_by(limit - 1, in_order);
    }
    ranked.truncate(limit);
    let candidates = ranked
        .iter()
        .filter_map(|ranked| lists.candidate(space, query, ranked));
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort_unstable_by(order);
    candidates
}

fn in_order(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    let score = b.score.total_cmp(&a.score);
    let newer = || b.timestamp_ms.cmp(&a.timestamp_ms);
    score
        .then_with(newer)
        .then_with(|| (a.live, a.unit).cmp(&(b.live, b.unit)))
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

/// All lists, and what brings each to 0..1.
#[derive(Debug)]
struct Lists<'a> {
    keywords: &'a keywords::Scores,
    meaning: Option<&'a meaning::Scores>,
    text: Range,
    window: Range,
    session: Range,
    vector: Range,
    vector_window: Range,
}

impl<'a> Lists<'a> {
    fn new(keywords: &'a keywords::Scores, meaning: Option<&'a meaning::Scores>) -> Self {
        let none = || Range::new(0.0, 0.0);
        Self {
            keywords,
            meaning,
            text: Range::from_zero(&keywords.unit),
            window: Range::from_zero(&keywords.window),
            session: Range::from_zero(&keywords.part),
            vector: meaning.map_or_else(none, |meaning| meaning.units.range()),
            vector_window: meaning.map_or_else(none, |meaning| meaning.windows.range()),
        }
    }

    /// The parts of the score of a unit, its time and whether it grows old; None
    /// when it is not searched or has nothing to do with the question.
    fn look(&self, space: &Space<'_>, live: usize, unit: usize) -> Option<(Parts, i64, bool)> {
        let number = space.starts[live].0 + unit;
        let near = |meaning: &meaning::Scores| meaning.unit[number] >= NEAR;
        if self.keywords.window[number] <= 0.0 && !self.meaning.is_some_and(near) {
            return None;
        }
        let part = space.part(live, unit);
        let dated = (*space.dates.get(part)?)?;
        let own = space.live[live].segment.timestamp_ms(unit);
        let timestamp_ms = own.unwrap_or(dated.timestamp_ms);
        Some((
            self.parts(number, part),
            timestamp_ms,
            own.is_some() || dated.ages,
        ))
    }

    fn candidate(&self, space: &Space<'_>, query: &Query, ranked: &Ranked) -> Option<Candidate> {
        let (live, unit) = (ranked.live as usize, ranked.unit as usize);
        let (mut parts, timestamp_ms, ages) = self.look(space, live, unit)?;
        let (score, decay) = total(&parts, query, timestamp_ms, ages);
        parts.decay = decay;
        Some(Candidate {
            live,
            unit,
            score,
            parts,
            timestamp_ms,
            ages,
        })
    }

    fn parts(&self, unit: usize, part: usize) -> Parts {
        let keywords = self.keywords;
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
        if let Some(meaning) = self.meaning {
            parts.vector = self.vector.place(f64::from(meaning.unit[unit]));
            parts.vector_window = self.vector_window.place(f64::from(meaning.window[unit]));
            parts.cosine = f64::from(meaning.unit[unit]);
        }
        parts
    }
}
