//! From a question to the passages that answer it best.
//!
//! Three levels of keyword scores (the unit, it with its neighbours, its part),
//! two of vectors, and whether the speaker is named: each list is brought to
//! 0..1, and the weighted sum orders. Any word of the question may match: joined
//! by AND, next to nothing is found.

use std::time::Instant;

use crate::document::Kind;
use crate::query::{Hit, LIMIT, Parts, Query};
use crate::snapshot::{Live, Size, Snapshot, path_hash};

mod age;
mod compound;
mod diversity;
pub(crate) mod evidence;
mod extent;
mod fusion;
mod keywords;
mod meaning;
pub(crate) mod nearness;
mod question;
#[cfg(test)]
mod sample;
mod search_word;
pub(crate) mod snippet;

pub(crate) use diversity::{Pool, Said, without_repeats};
pub(crate) use extent::Range;
pub(crate) use question::Question;
pub(crate) use search_word::SearchWord;
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
    pub(crate) dated: Dated,
    pub(crate) kind: Kind,
    /// Whether it was looked at more closely.
    pub(crate) is_close: bool,
}

/// The candidates of a search, best first.
#[derive(Debug, Default)]
pub(crate) struct Candidates<'a> {
    pub(crate) list: Vec<Candidate>,
    /// The words of the question, and what each weighs.
    pub(crate) weights: Vec<(&'a SearchWord, f32)>,
    /// The fields shown of each.
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
    /// For each part that is searched what dates its units.
    dates: Vec<Option<Dated>>,
    deadline: Option<Instant>,
}

/// What dates a unit, or those of a part that have no time of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dated {
    pub(crate) timestamp_ms: i64,
    /// Whether they grow old.
    pub(crate) ages: bool,
}

impl<'a> Space<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, query: &Query) -> Self {
        let without: Vec<u64> = query.without.iter().map(|path| path_hash(path)).collect();
        let date = |owner: u32| {
            let document = snapshot.documents.get(&owner)?;
            let is_wanted = (query.sources.is_empty() || query.sources.contains(&document.source))
                && !without.contains(&document.path);
            is_wanted.then_some(Dated {
                timestamp_ms: document.timestamp_ms,
                ages: document.ages,
            })
        };
        let mut space = Self {
            live: &snapshot.live,
            starts: Vec::new(),
            size: snapshot.size(),
            units: 0,
            parts: 0,
            dates: Vec::new(),
            deadline: query.deadline,
        };
        for live in space.live {
            space.starts.push((space.units, space.parts));
            space.units += live.segment.units();
            space.parts += live.segment.parts();
            let parts = 0..live.segment.parts();
            space
                .dates
                .extend(parts.map(|part| live.owner(part).and_then(date)));
        }
        space
    }

    fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether the part with the number `part` is searched.
    fn is_allowed(&self, part: usize) -> bool {
        self.dates.get(part).is_some_and(Option::is_some)
    }

    /// The number of the part of the unit `unit` of the segment `live`.
    fn part(&self, live: usize, unit: usize) -> usize {
        self.starts[live].1 + self.live[live].segment.lengths(unit).part as usize
    }
}

/// What a search needs much memory for, to be used by the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    keywords: keywords::Tables,
    meaning: meaning::Tables,
}

/// The best units for `question`, best first.
pub(crate) fn candidates<'a>(
    snapshot: &Snapshot,
    question: &'a Question,
    query: &Query,
    scratch: &mut Scratch,
) -> Candidates<'a> {
    let space = Space::new(snapshot, query);
    let tables = std::mem::take(&mut scratch.keywords);
    let keywords = keywords::Scores::new(&space, question, tables);
    let meaning = question.vector.as_ref().map(|vector| {
        let tables = std::mem::take(&mut scratch.meaning);
        meaning::Scores::new(&space, vector, question.table, tables)
    });
    let limit = (query.limit.min(LIMIT) * SPARE).max(POOL);
    let list = fusion::best(
        &space,
        (query, question),
        &keywords,
        meaning.as_ref(),
        limit,
    );
    let candidates = Candidates {
        list,
        wanted: Wanted::new(&keywords.weights, (question.asked, question.sought))
            .in_language(question.language)
            .with_owners(question.owners.clone())
            .with_kin(question.kin)
            .with_day(question.day.clone()),
        weights: keywords.weights,
        cut_short: keywords.cut_short || meaning.as_ref().is_some_and(|m| m.cut_short),
    };
    scratch.keywords = keywords.tables;
    if let Some(meaning) = meaning {
        scratch.meaning = meaning.tables;
    }
    candidates
}

/// The `limit` best units, before they are looked at more closely.
#[cfg(test)]
pub(crate) fn best(
    snapshot: &Snapshot,
    question: &Question,
    query: &Query,
    limit: usize,
) -> Vec<Candidate> {
    let space = Space::new(snapshot, query);
    let keywords = keywords::Scores::new(&space, question, Default::default());
    let meaning = question.vector.as_ref();
    let meaning =
        meaning.map(|it| meaning::Scores::new(&space, it, question.table, Default::default()));
    fusion::best(
        &space,
        (query, question),
        &keywords,
        meaning.as_ref(),
        limit,
    )
}

/// Orders by score, of equals the newer first, then as they are indexed: the
/// same question has the same answer.
pub(crate) fn sort(candidates: &mut [Candidate]) {
    candidates.sort_unstable_by(order);
}

fn order(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    let score = b.score.total_cmp(&a.score);
    let newer = || b.dated.timestamp_ms.cmp(&a.dated.timestamp_ms);
    let place = || (a.live, a.unit).cmp(&(b.live, b.unit));
    score.then_with(newer).then_with(place)
}

/// The part that a candidate is in, and which of its units it is.
pub(crate) fn place(snapshot: &Snapshot, candidate: &Candidate) -> (i64, usize) {
    let segment = &snapshot.live[candidate.live].segment;
    let part = segment.part(segment.lengths(candidate.unit).part as usize);
    (part.id, candidate.unit - part.first as usize)
}

/// Brings the scores of hits that were chosen into their order.
pub(crate) fn sort_hits(hits: &mut [Hit]) {
    hits.sort_by(|a, b| {
        let score = b.score.total_cmp(&a.score);
        score.then_with(|| b.timestamp_ms.cmp(&a.timestamp_ms))
    });
}

/// Gives a hit the score that `parts` make.
pub(crate) fn score(hit: &mut Hit, parts: Parts, query: &Query, ages: bool) {
    let dated = Dated {
        timestamp_ms: hit.timestamp_ms,
        ages,
    };
    let (score, decay) = fusion::first(&parts, query, dated, hit.kind);
    hit.score = score;
    hit.parts = Parts { decay, ..parts };
}

/// Makes the score anew from parts that have changed.
pub(crate) fn rescore(candidate: &mut Candidate, query: &Query) {
    let total = if candidate.is_close {
        fusion::second
    } else {
        fusion::first
    };
    let (score, decay) = total(&candidate.parts, query, candidate.dated, candidate.kind);
    candidate.score = score;
    candidate.parts.decay = decay;
}
