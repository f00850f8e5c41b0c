//! Lists of scores become one.
//!
//! A weighted sum of what is brought to 0..1 in each list, not ranks (RRF):
//! these cost 11 points of nDCG on conversations and win nothing elsewhere.

use super::extent::Range;
use super::{Candidate, Dated, Question, Space, age, keywords, meaning, order};
use crate::document::Kind;
use crate::query::{Parts, Query};
use crate::ranking::Weights;
use openclaw_analysis::Traits;

/// What has no word of the question, neither itself nor its neighbours, must be
/// this near to it: two texts about different things mostly are below.
const NEAR: f32 = 0.2;

/// Units of which the bounds are made at once.
const BLOCK: usize = 256;

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
    (query, question): (&Query, &Question),
    keywords: &keywords::Scores<'_>,
    meaning: Option<&meaning::Scores>,
    limit: usize,
) -> Vec<Candidate> {
    let lists = Lists::new(keywords, meaning, question.asked);
    let bound = Bound::new(&lists, query);
    let mut top = Top::new(limit);
    let mut bounds = [0.0; BLOCK];
    for (live, (start, first_part)) in space.starts.iter().copied().enumerate() {
        let segment = &space.live[live].segment;
        for block in (0..segment.units()).step_by(BLOCK) {
            let bounds = &mut bounds[..BLOCK.min(segment.units() - block)];
            bound.own(start + block, bounds);
            for (unit, own) in (block..).zip(&*bounds) {
                if own + bound.session_most < top.least {
                    continue;
                }
                let number = first_part + segment.lengths(unit).part as usize;
                let Some(Some(dated)) = space.dates.get(number).copied() else {
                    continue;
                };
                if own + bound.session(number) < top.least || !bound.is_near(start + unit) {
                    continue;
                }
                let entry = segment.unit(unit);
                let parts = lists.parts(start + unit, number, entry.traits);
                let dated = dated.or(entry.timestamp_ms);
                top.push(Ranked {
                    score: first(&parts, query, dated, entry.kind).0,
                    timestamp_ms: dated.timestamp_ms,
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
    /// What the lists that do not begin at zero add, with what the kinds of facts
    /// and things may, and the rounding.
    base: f32,
    /// The most that a part adds.
    session_most: f32,
}

/// More than adding up a few numbers of 32 bits is off.
const ROUNDING: f32 = 1e-4;

impl<'a> Bound<'a> {
    fn new(lists: &'a Lists<'a>, query: &Query) -> Self {
        let weights = &query.ranking.weights;
        let all = all(weights).max(f64::MIN_POSITIVE);
        let slope = |weight: f64, range: Range| (weight / all * range.inverse) as f32;
        let lift = |weight: f64, range: Range| weight / all * range.inverse * -range.low;
        let lifts =
            lift(weights.vector, lists.vector) + lift(weights.vector_window, lists.vector_window);
        // Nothing where no kind of fact is asked for.
        let fact = if lists.asked.is_empty() {
            0.0
        } else {
            weights.fact / all
        };
        Self {
            lists,
            text: slope(weights.text, lists.text),
            window: slope(weights.window, lists.window),
            session: slope(weights.session, lists.session),
            vector: slope(weights.vector, lists.vector),
            vector_window: slope(weights.vector_window, lists.vector_window),
            speaker: (weights.speaker / all) as f32,
            base: (lifts + fact + weights.kind / all) as f32 + ROUNDING,
            session_most: (weights.session / all) as f32,
        }
    }

    fn session(&self, part: usize) -> f32 {
        self.session * self.lists.keywords.tables.part[part]
    }

    /// Writes to `bounds` those of the units from `first` on, without what their
    /// parts add.
    fn own(&self, first: usize, bounds: &mut [f32]) {
        let keywords = &self.lists.keywords.tables;
        let units = first..first + bounds.len();
        let lists = bounds.iter_mut().zip(&keywords.unit[units.clone()]);
        let lists = lists.zip(&keywords.window[units.clone()]);
        for (((bound, text), window), named) in lists.zip(&keywords.named[units.clone()]) {
            let named = f32::from(u8::from(*named));
            *bound = self.base + self.text * text + self.window * window + self.speaker * named;
        }
        if let Some(meaning) = self.lists.meaning {
            let lists = bounds.iter_mut().zip(&meaning.tables.unit[units.clone()]);
            for ((bound, own), window) in lists.zip(&meaning.tables.window[units]) {
                *bound += self.vector * own + self.vector_window * window;
            }
        }
    }

    /// Whether the unit has anything to do with the question.
    fn is_near(&self, unit: usize) -> bool {
        let cosine = self
            .lists
            .meaning
            .map_or(0.0, |meaning| meaning.tables.unit[unit]);
        self.lists.keywords.tables.window[unit] > 0.0 || cosine >= NEAR
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
fn all(weights: &Weights) -> f64 {
    weights.each().iter().map(|(_, weight)| weight).sum()
}

/// The score that `parts` make of a unit before it is among the best, and what
/// age left of it.
pub(super) fn first(parts: &Parts, query: &Query, dated: Dated, kind: Kind) -> (f64, f64) {
    total(parts, &query.ranking.weights, query, (dated, kind))
}

/// The same of one that is among the best.
pub(super) fn second(parts: &Parts, query: &Query, dated: Dated, kind: Kind) -> (f64, f64) {
    let weights = match kind {
        Kind::Note => &query.ranking.noted,
        _ => &query.ranking.said,
    };
    total(parts, weights, query, (dated, kind))
}

fn total(
    parts: &Parts,
    weights: &Weights,
    query: &Query,
    (dated, kind): (Dated, Kind),
) -> (f64, f64) {
    let weights = weights.each().map(|(_, weight)| weight);
    let lists = weights.iter().zip(parts.lists());
    let sum: f64 = lists.map(|(weight, part)| weight * part).sum();
    let decay = if dated.ages {
        let age_ms = query.now_ms.saturating_sub(dated.timestamp_ms);
        age::factor(
            age_ms,
            query.ranking.half_life_days,
            query.ranking.decay_floor,
        )
    } else {
        1.0
    };
    let score = sum / weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    (score * decay * worth(kind), decay)
}

/// What a unit's score counts by what it is: what was kept before what was said
/// in passing, and what does not answer last.
fn worth(kind: Kind) -> f64 {
    match kind {
        Kind::Note => 1.0,
        Kind::Told => 0.97,
        Kind::Answered => 0.9,
        Kind::Asked => 0.75,
        Kind::Echo => 0.5,
    }
}

impl Dated {
    /// What dates a unit that may have a time of its own.
    fn or(self, own: Option<i64>) -> Self {
        own.map_or(self, |timestamp_ms| Self {
            timestamp_ms,
            ages: true,
        })
    }
}

/// All lists, and what brings each to 0..1.
#[derive(Debug)]
struct Lists<'a> {
    keywords: &'a keywords::Scores<'a>,
    meaning: Option<&'a meaning::Scores>,
    /// What kind of fact is asked for.
    asked: Traits,
    text: Range,
    window: Range,
    session: Range,
    vector: Range,
    vector_window: Range,
}

impl<'a> Lists<'a> {
    fn new(
        keywords: &'a keywords::Scores<'a>,
        meaning: Option<&'a meaning::Scores>,
        asked: Traits,
    ) -> Self {
        let none = || Range::new(0.0, 0.0);
        Self {
            keywords,
            meaning,
            asked,
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
        let entry = space.live[live].segment.unit(unit);
        let dated = (*space.dates.get(part)?)?.or(entry.timestamp_ms);
        let number = space.starts[live].0 + unit;
        let mut parts = self.parts(number, part, entry.traits);
        parts.reply = self.reply(space, (live, unit), part);
        let (score, decay) = first(&parts, query, dated, entry.kind);
        parts.decay = decay;
        Some(Candidate {
            live,
            unit,
            score,
            parts,
            dated,
            kind: entry.kind,
            is_close: false,
        })
    }

    /// How much of the question is in the one before a unit, if that asks: who
    /// is asked answers.
    fn reply(&self, space: &Space<'_>, (live, unit): (usize, usize), part: usize) -> f64 {
        let before = unit.checked_sub(1);
        let before = before.filter(|&before| space.part(live, before) == part);
        let Some(before) = before else { return 0.0 };
        if !space.live[live]
            .segment
            .unit(before)
            .traits
            .meets(Traits::ASKS)
        {
            return 0.0;
        }
        let number = space.starts[live].0 + before;
        self.text
            .place(f64::from(self.keywords.tables.unit[number]))
    }

    fn parts(&self, unit: usize, part: usize, traits: Traits) -> Parts {
        let keywords = &self.keywords.tables;
        let coverage = keywords.covered[unit] / self.keywords.weight.max(f32::MIN_POSITIVE);
        let mut parts = Parts {
            text: self.text.place(f64::from(keywords.unit[unit])),
            window: self.window.place(f64::from(keywords.window[unit])),
            session: self.session.place(f64::from(keywords.part[part])),
            speaker: f64::from(u8::from(keywords.named[unit])),
            fact: f64::from(u8::from(self.asked.meets(traits))),
            kind: f64::from(u8::from(keywords.of_kind[unit])),
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

#[cfg(test)]
mod tests {
    use super::super::extent::Extent;
    use super::*;

    #[test]
    fn scores_are_placed_between_the_lowest_and_the_highest() {
        let range = Range::of([2.0, -2.0, 0.0].into_iter());
        let places = [-3.0, -2.0, -1.0, 0.0, 2.0, 9.0].map(|score| range.place(score));
        assert_eq!(places, [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
        let same = Range::of([3.0, 3.0].into_iter());
        assert_eq!([2.0, 3.0, 4.0].map(|score| same.place(score)), [0.0; 3]);
        let none = Range::of(std::iter::empty());
        assert_eq!(none.place(1.0), 0.0);
        let keywords = Range::from_zero(&[1.0, 4.0, 2.0]);
        assert_eq!(
            [0.0, 1.0, 4.0].map(|score| keywords.place(score)),
            [0.0, 0.25, 1.0]
        );
        assert_eq!(Range::from_zero(&[]).place(1.0), 0.0);
        let mut extent = Extent::empty();
        extent.include(&[0.5, -0.5, 0.0]);
        assert_eq!(
            [-0.5, 0.0, 0.5].map(|it| extent.range().place(it)),
            [0.0, 0.5, 1.0]
        );
        let many: Vec<f32> = (0..100).map(|n| ((n * 37) % 100) as f32 - 20.0).collect();
        let mut extent = Extent::empty();
        many.chunks(41).for_each(|some| extent.include(some));
        assert_eq!(
            (extent.range().low, extent.range().place(79.0)),
            (-20.0, 1.0)
        );
        assert_eq!(Range::from_zero(&many).place(79.0 / 2.0), 0.5);
    }

    #[test]
    fn fusion_each_part_has_its_own_weight_in_the_score() {
        let mut query = Query::new("x", 86_400_000);
        let weights = &mut query.ranking.weights;
        let shares = [
            &mut weights.text,
            &mut weights.window,
            &mut weights.session,
            &mut weights.vector,
            &mut weights.vector_window,
            &mut weights.speaker,
            &mut weights.fact,
            &mut weights.reply,
            &mut weights.words,
            &mut weights.kind,
        ];
        let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 1.0, 128.0, 32.0, 256.0];
        for (share, weight) in shares.into_iter().zip(counts) {
            *share = weight;
        }
        assert_eq!(all(&query.ranking.weights), 512.0);
        let dated = Dated {
            timestamp_ms: 0,
            ages: false,
        };
        let parts = |at: usize| {
            let mut parts = Parts::default();
            let all = [
                &mut parts.text,
                &mut parts.window,
                &mut parts.session,
                &mut parts.vector,
                &mut parts.vector_window,
                &mut parts.speaker,
                &mut parts.fact,
                &mut parts.reply,
                &mut parts.words,
                &mut parts.kind,
            ];
            *all.into_iter().nth(at).unwrap() = 0.5;
            parts
        };
        for (at, share) in counts.into_iter().enumerate() {
            let expected = (share * 0.5 / 512.0, 1.0);
            assert_eq!(
                first(&parts(at), &query, dated, Kind::Note),
                expected,
                "{at}"
            );
        }
        // What ages is worth less by what age takes, and by what it is.
        query.ranking.noted = query.ranking.weights;
        query.ranking.half_life_days = 1.0;
        query.ranking.decay_floor = 0.0;
        let old = Dated {
            ages: true,
            ..dated
        };
        let score = second(&parts(5), &query, old, Kind::Note);
        assert_eq!(score, (0.03125, 0.5));
        let score = first(&parts(5), &query, dated, Kind::Echo);
        assert_eq!(score, (0.03125, 1.0));
        // Of what was said, other lists count.
        query.ranking.said = Weights {
            text: 0.0,
            ..query.ranking.weights
        };
        let score = second(&parts(8), &query, dated, Kind::Told);
        assert_eq!(score, (16.0 / 511.0 * worth(Kind::Told), 1.0));
        let own = dated.or(Some(7));
        assert_eq!((own.timestamp_ms, own.ages), (7, true));
        assert_eq!(dated.or(None), dated);
    }

    #[test]
    fn kinds_are_worth_less_the_less_they_tell() {
        let kinds = [
            Kind::Note,
            Kind::Told,
            Kind::Answered,
            Kind::Asked,
            Kind::Echo,
        ];
        assert_eq!(kinds.map(worth), [1.0, 0.97, 0.9, 0.75, 0.5]);
    }

    #[test]
    fn best_are_kept_whatever_their_order() {
        let ranked = |number: u32| Ranked {
            score: f64::from(number * 7 % 101),
            timestamp_ms: 0,
            live: 0,
            unit: number,
        };
        for limit in [1, 3, 10, 200] {
            let mut top = Top::new(limit);
            for number in 0..101 {
                let one = ranked(number);
                if one.score as f32 >= top.least {
                    top.push(one);
                }
            }
            let mut scores: Vec<f64> = top.finish().iter().map(|it| it.score).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            let expected: Vec<f64> = (0..101).rev().take(limit).map(f64::from).collect();
            assert_eq!(scores, expected, "{limit}");
        }
        let one = |score: f64, timestamp_ms: i64, unit: u32| Ranked {
            score,
            timestamp_ms,
            live: 0,
            unit,
        };
        let mut all = [
            one(1.0, 5, 0),
            one(2.0, 0, 1),
            one(1.0, 9, 3),
            one(1.0, 9, 2),
        ];
        all.sort_by(in_order);
        assert_eq!(all.map(|it| it.unit), [1, 2, 3, 0]);
    }

    #[test]
    fn best_so_far_are_kept_and_what_is_below_them_is_known() {
        let ranked = |unit: u32, score: f64| Ranked {
            score,
            timestamp_ms: 0,
            live: 0,
            unit,
        };
        let mut top = Top::new(3);
        for unit in 0..11 {
            top.push(ranked(unit, f64::from(unit * 7 % 11) / 11.0));
            assert_eq!(top.least, f32::MIN, "nothing was chosen yet");
        }
        // Four times the limit is chosen among.
        top.push(ranked(11, 0.5));
        assert_eq!(top.ranked.len(), 3);
        // The third best is 8/11; what rounding takes is granted.
        let least = (8.0_f64 / 11.0) as f32 - ROUNDING;
        assert_eq!(top.least, least);
        top.push(ranked(12, 0.9));
        let best: Vec<f64> = top.finish().iter().map(|one| one.score).collect();
        let mut sorted = best.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        assert_eq!(sorted, [10.0 / 11.0, 0.9, 9.0 / 11.0]);
        let mut none = Top::new(0);
        none.push(ranked(0, 1.0));
        assert!(none.finish().is_empty());
        let mut few = Top::new(3);
        few.push(ranked(0, 0.1));
        few.push(ranked(1, 0.9));
        assert_eq!(few.finish().len(), 2);
    }

    #[test]
    fn fusion_of_equal_scores_the_newer_comes_first_and_then_the_first() {
        let ranked = |timestamp_ms: i64, live: u32, unit: u32| Ranked {
            score: 0.5,
            timestamp_ms,
            live,
            unit,
        };
        let mut all = [
            ranked(1, 1, 0),
            ranked(2, 0, 9),
            ranked(1, 0, 7),
            ranked(1, 0, 6),
        ];
        all.sort_by(in_order);
        let order = all.map(|one| (one.timestamp_ms, one.live, one.unit));
        assert_eq!(order, [(2, 0, 9), (1, 0, 6), (1, 0, 7), (1, 1, 0)]);
    }
}
