//! Lists of scores become one.
//!
//! A weighted sum of what is brought to 0..1 in each list, not ranks (RRF):
//! these cost 11 points of nDCG on conversations and win nothing elsewhere.

use super::{Candidate, Space, age, keywords, meaning, order};
use crate::query::{Parts, Query};
use crate::segment::range;

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

/// A unit and what it is ordered by.
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
    keywords: &keywords::Scores<'_>,
    meaning: Option<&meaning::Scores>,
    limit: usize,
) -> Vec<Candidate> {
    let lists = Lists::new(keywords, meaning);
    let bound = Bound::new(&lists, query);
    let mut top = Top::new(limit);
    for (live, (start, first_part)) in space.starts.iter().copied().enumerate() {
        let segment = &space.live[live].segment;
        for index in 0..segment.parts() {
            let number = first_part + index;
            let Some(Some(dated)) = space.dates.get(number).copied() else {
                continue;
            };
            let session = bound.session(number);
            for unit in range(&segment.part(index)) {
                if bound.score(start + unit, session) < top.least {
                    continue;
                }
                let parts = lists.parts(start + unit, number);
                let own = segment.timestamp_ms(unit);
                let timestamp_ms = own.unwrap_or(dated.timestamp_ms);
                let ages = own.is_some() || dated.ages;
                top.push(Ranked {
                    score: total(&parts, query, timestamp_ms, ages).0,
                    timestamp_ms,
                    live: live as u32,
                    unit: unit as u32,
                });
            }
        }
    }
    let ranked = top.finish();
    let candidates = ranked
        .iter()
        .filter_map(|ranked| lists.candidate(space, query, ranked));
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort_unstable_by(order);
    candidates
}

/// What no score can be above, made of few numbers: nearly all units are left
/// out by it.
#[derive(Debug)]
struct Bound<'a> {
    lists: &'a Lists<'a>,
    text: f32,
    window: f32,
    session: f32,
    vector: f32,
    vector_window: f32,
    speaker: f32,
    /// What the lists that do not begin at zero add, and the rounding.
    base: f32,
}

/// More than adding up a few numbers of 32 bits is off.
const ROUNDING: f32 = 1e-4;

impl<'a> Bound<'a> {
    fn new(lists: &'a Lists<'a>, query: &Query) -> Self {
        let weights = &query.ranking.weights;
        let all = all(query).max(f64::MIN_POSITIVE);
        let slope = |weight: f64, range: Range| (weight / all * range.inverse) as f32;
        let lift = |weight: f64, range: Range| weight / all * range.inverse * -range.low;
        let base =
            lift(weights.vector, lists.vector) + lift(weights.vector_window, lists.vector_window);
        Self {
            lists,
            text: slope(weights.text, lists.text),
            window: slope(weights.window, lists.window),
            session: slope(weights.session, lists.session),
            vector: slope(weights.vector, lists.vector),
            vector_window: slope(weights.vector_window, lists.vector_window),
            speaker: (weights.speaker / all) as f32,
            base: base as f32 + ROUNDING,
        }
    }

    fn session(&self, part: usize) -> f32 {
        self.base + self.session * self.lists.keywords.tables.part[part]
    }

    /// Of the unit with this number, of whose part [`Bound::session`] said so
    /// much; below everything where it has nothing to do with the question.
    #[inline]
    fn score(&self, unit: usize, session: f32) -> f32 {
        let keywords = &self.lists.keywords.tables;
        let mut score = session + self.window * keywords.window[unit];
        score += self.text * keywords.unit[unit];
        score += if keywords.named[unit] {
            self.speaker
        } else {
            0.0
        };
        let mut is_near = keywords.window[unit] > 0.0;
        if let Some(meaning) = self.lists.meaning {
            let cosine = meaning.tables.unit[unit];
            is_near |= cosine >= NEAR;
            score += self.vector * cosine + self.vector_window * meaning.tables.window[unit];
        }
        if is_near { score } else { f32::NEG_INFINITY }
    }
}

/// The best so far.
#[derive(Debug)]
struct Top {
    limit: usize,
    ranked: Vec<Ranked>,
    /// What is below this is not among the best.
    least: f32,
}

/// So many times the limit are kept before the best of them are chosen.
const KEPT: usize = 4;

impl Top {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            ranked: Vec::new(),
            least: f32::MIN,
        }
    }

    #[inline]
    fn push(&mut self, ranked: Ranked) {
        self.ranked.push(ranked);
        if self.ranked.len() >= self.limit * KEPT {
            self.choose();
        }
    }

    fn choose(&mut self) {
        if self.ranked.len() > self.limit && self.limit > 0 {
            self.ranked.select_nth_unstable_by(self.limit - 1, in_order);
            self.least = self.ranked[self.limit - 1].score as f32 - ROUNDING;
        }
        self.ranked.truncate(self.limit);
    }

    fn finish(mut self) -> Vec<Ranked> {
        self.choose();
        self.ranked
    }
}

fn in_order(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    let score = b.score.total_cmp(&a.score);
    let newer = || b.timestamp_ms.cmp(&a.timestamp_ms);
    score
        .then_with(newer)
        .then_with(|| (a.live, a.unit).cmp(&(b.live, b.unit)))
}

/// What all lists weigh.
fn all(query: &Query) -> f64 {
    let weights = &query.ranking.weights;
    let lists = [weights.text, weights.window, weights.session];
    let others = [weights.vector, weights.vector_window, weights.speaker];
    lists.iter().chain(&others).sum()
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
    (sum / all(query).max(f64::MIN_POSITIVE) * decay, decay)
}

/// All lists, and what brings each to 0..1.
#[derive(Debug)]
struct Lists<'a> {
    keywords: &'a keywords::Scores<'a>,
    meaning: Option<&'a meaning::Scores>,
    text: Range,
    window: Range,
    session: Range,
    vector: Range,
    vector_window: Range,
}

impl<'a> Lists<'a> {
    fn new(keywords: &'a keywords::Scores<'a>, meaning: Option<&'a meaning::Scores>) -> Self {
        let none = || Range::new(0.0, 0.0);
        Self {
            keywords,
            meaning,
            text: Range::from_zero(&keywords.tables.unit),
            window: Range::from_zero(&keywords.tables.window),
            session: Range::from_zero(&keywords.tables.part),
            vector: meaning.map_or_else(none, |meaning| meaning.units.range()),
            vector_window: meaning.map_or_else(none, |meaning| meaning.windows.range()),
        }
    }

    /// All of a unit that is among the best.
    fn candidate(&self, space: &Space<'_>, query: &Query, ranked: &Ranked) -> Option<Candidate> {
        let (live, unit) = (ranked.live as usize, ranked.unit as usize);
        let part = space.part(live, unit);
        let dated = (*space.dates.get(part)?)?;
        let own = space.live[live].segment.timestamp_ms(unit);
        let ages = own.is_some() || dated.ages;
        let mut parts = self.parts(space.starts[live].0 + unit, part);
        let (score, decay) = total(&parts, query, ranked.timestamp_ms, ages);
        parts.decay = decay;
        Some(Candidate {
            live,
            unit,
            score,
            parts,
            timestamp_ms: ranked.timestamp_ms,
            ages,
        })
    }

    fn parts(&self, unit: usize, part: usize) -> Parts {
        let keywords = &self.keywords.tables;
        let coverage = keywords.covered[unit] / self.keywords.weight.max(f32::MIN_POSITIVE);
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
            parts.vector = self.vector.place(f64::from(meaning.tables.unit[unit]));
            parts.vector_window = self
                .vector_window
                .place(f64::from(meaning.tables.window[unit]));
            parts.cosine = f64::from(meaning.tables.unit[unit]);
        }
        parts
    }
}
