//! From a question to the passages that answer it best.
//!
//! Three levels of keyword scores (the unit, it with its neighbours, its part),
//! two of vectors, and whether the speaker is named: each list is brought to
//! 0..1, and the weighted sum orders. Any word of the question may match: joined
//! by AND, next to nothing is found.

use std::time::Instant;

use crate::query::{Hit, Parts, Query};
use crate::snapshot::{Live, Size, Snapshot, path_hash};

mod age;
mod diversity;
mod fusion;
mod keywords;
mod meaning;
mod question;
pub(crate) mod snippet;

pub(crate) use diversity::Pool;
pub(crate) use fusion::Range;
pub(crate) use question::Question;
pub(crate) use snippet::Wanted;

/// Candidates that are looked at for each hit that is wanted: some repeat
/// others.
const SPARE: usize = 5;
/// As many are looked at in any case.
const POOL: usize = 100;

/// A unit that answers, before its text is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    /// Which segment of the snapshot.
    pub(crate) live: usize,
    /// The unit in it.
    pub(crate) unit: usize,
    pub(crate) score: f64,
    pub(crate) parts: Parts,
    pub(crate) timestamp_ms: i64,
    /// Whether it grows old.
    ages: bool,
}

/// The candidates of a search, best first.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) list: Vec<Candidate>,
    /// What is to be shown of them.
    pub(crate) wanted: Wanted,
    /// Whether the deadline passed before all was looked at.
    pub(crate) cut_short: bool,
}

/// What a search looks at: the units of all segments, numbered through.
pub(crate) struct Space<'a> {
    live: &'a [Live],
    /// The number of each segment's first unit, and of its first part.
    starts: Vec<(usize, usize)>,
    size: Size,
    units: usize,
    parts: usize,
    /// For each part whether it is searched.
    allowed: Vec<bool>,
    deadline: Option<Instant>,
}

impl<'a> Space<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, query: &Query) -> Self {
        let without: Vec<u64> = query.without.iter().map(|path| path_hash(path)).collect();
        let is_wanted = |owner: u32| {
            snapshot.documents.get(&owner).is_some_and(|document| {
                (query.sources.is_empty() || query.sources.contains(&document.source))
                    && !without.contains(&document.path)
            })
        };
        let mut space = Self {
            live: &snapshot.live,
            starts: Vec::new(),
            size: snapshot.size(),
            units: 0,
            parts: 0,
            allowed: Vec::new(),
            deadline: query.deadline,
        };
        for live in space.live {
            space.starts.push((space.units, space.parts));
            space.units += live.segment.units();
            space.parts += live.segment.parts();
            let parts = 0..live.segment.parts();
            let allowed = parts.map(|part| live.owner(part).is_some_and(is_wanted));
            space.allowed.extend(allowed);
        }
        space
    }

    fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The segment that has the unit with the number `unit`, and its number
    /// there.
    fn place(&self, unit: usize) -> (usize, usize) {
        let after = self.starts.partition_point(|(start, _)| *start <= unit);
        let live = after.saturating_sub(1);
        (
            live,
            unit - self.starts.get(live).map_or(0, |(start, _)| *start),
        )
    }

    /// The number of the part of the unit `unit` of the segment `live`.
    fn part(&self, live: usize, unit: usize) -> usize {
        self.starts[live].1 + self.live[live].segment.lengths(unit).part as usize
    }
}

/// The best units for `question`, best first.
pub(crate) fn candidates(snapshot: &Snapshot, question: &Question, query: &Query) -> Candidates {
    let space = Space::new(snapshot, query);
    let keywords = keywords::Scores::new(&space, question);
    let meaning = question
        .vector
        .as_ref()
        .map(|vector| meaning::Scores::new(&space, vector, question.table));
    let limit = (query.limit * SPARE).max(POOL);
    let list = fusion::best(&space, snapshot, query, &keywords, meaning.as_ref(), limit);
    Candidates {
        list,
        wanted: Wanted::new(&keywords.weights),
        cut_short: keywords.cut_short || meaning.is_some_and(|meaning| meaning.cut_short),
    }
}

/// Orders by score, of equals the newer first, then as they are indexed: the
/// same question has the same answer.
pub(crate) fn sort(candidates: &mut [Candidate]) {
    candidates.sort_unstable_by(order);
}

fn order(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    let score = b.score.total_cmp(&a.score);
    let newer = || b.timestamp_ms.cmp(&a.timestamp_ms);
    let place = || (a.live, a.unit).cmp(&(b.live, b.unit));
    score.then_with(newer).then_with(place)
}

/// Brings the scores of hits that were chosen into their order.
pub(crate) fn sort_hits(hits: &mut [Hit]) {
    hits.sort_by(|a, b| {
        let score = b.score.total_cmp(&a.score);
        score.then_with(|| b.timestamp_ms.cmp(&a.timestamp_ms))
    });
}

/// Makes the score anew from parts that have changed.
pub(crate) fn rescore(candidate: &mut Candidate, query: &Query) {
    let (score, decay) = fusion::total(
        &candidate.parts,
        query,
        candidate.timestamp_ms,
        candidate.ages,
    );
    candidate.score = score;
    candidate.parts.decay = decay;
}
