//! BM25 (Robertson and Zaragoza, 2009) at three levels from one list of
//! postings: the unit, it with its neighbours, its part.

use std::collections::{BTreeSet, HashSet};

use super::Space;
use super::question::Question;
use super::search_word::SearchWord;
use crate::segment::{Posting, Postings, Segment};
use crate::term::Key;

/// How soon further occurrences of a term stop counting. With [`B`] the values
/// that did best on conversations and notes: 2 points of nDCG over 1.2 and .75.
const K1: f32 = 0.9;
/// How much long texts are held against their length.
const B: f32 = 0.4;
/// What a word of nearly the same meaning counts, of what the word itself would,
const RELATED: f32 = 0.5;
/// and how much of the question it covers.
pub(super) const RELATED_SHARE: f32 = 0.8;
/// The same of a word in another language.
pub(super) const FOREIGN_SHARE: f32 = 0.5;
/// Words searched for, the rarest; more is a pasted document.
const WORDS: usize = 64;

/// Scores of every unit and every part, by their numbers in the [`Space`].
#[derive(Debug)]
pub(super) struct Scores<'a> {
    pub(super) tables: Tables,
    /// What all words weigh.
    pub(super) weight: f32,
    /// What each word of the question weighs.
    pub(super) weights: Vec<(&'a SearchWord, f32)>,
    pub(super) cut_short: bool,
}

/// What there is a number of for every unit or part: kept from one search for
/// the next, which would have to ask the kernel for all of it.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) unit: Vec<f32>,
    pub(super) window: Vec<f32>,
    pub(super) part: Vec<f32>,
    /// What the words weigh that are in a unit and its neighbours.
    pub(super) covered: Vec<f32>,
    /// Whether somebody who is named speaks.
    pub(super) named: Vec<bool>,
    /// Whether a unit has something of the kind that is asked for.
    pub(super) of_kind: Vec<bool>,
    /// Zero, but while a word is looked up.
    counts: Vec<u32>,
    /// Of each unit the number of the last word that it or a neighbour has.
    last: Vec<u32>,
}

impl Tables {
    fn clear(&mut self, units: usize, parts: usize) {
        zero(&mut self.unit, units);
        zero(&mut self.window, units);
        zero(&mut self.part, parts);
        zero(&mut self.covered, units);
        zero(&mut self.named, units);
        zero(&mut self.of_kind, units);
        // All zero already.
        self.counts.resize(units, 0);
        zero(&mut self.last, units);
    }
}

/// Makes `numbers` as many zeros.
fn zero<T: Copy + Default>(numbers: &mut Vec<T>, count: usize) {
    numbers.clear();
    numbers.resize(count, T::default());
}

/// Where a word is.
#[derive(Debug, Default)]
struct Occurrences {
    units: Vec<Occurrence>,
    windows: Vec<Occurrence>,
    parts: Vec<Occurrence>,
}

/// A unit, a unit with its neighbours, or a part that a word is in.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    /// Its number in the [`Space`].
    number: usize,
    /// How often the word is there.
    count: u32,
    /// Of how many terms.
    length: u32,
}

impl Occurrences {
    fn clear(&mut self) {
        self.units.clear();
        self.windows.clear();
        self.parts.clear();
    }
}

impl<'a> Scores<'a> {
    pub(super) fn new(space: &Space<'_>, question: &'a Question, mut tables: Tables) -> Self {
        tables.clear(space.units, space.parts);
        let mut scores = Self {
            tables,
            weight: 0.0,
            weights: Vec::new(),
            cut_short: false,
        };
        let mut found = Occurrences::default();
        let mut related = Occurrences::default();
        let mut foreign = Occurrences::default();
        for (word, number) in rarest(space, question).into_iter().zip(1..) {
            if space.is_late() {
                scores.cut_short = true;
                break;
            }
            let counts = &mut scores.tables.counts;
            found.clear();
            collect(space, &word.keys, &mut found, counts);
            related.clear();
            collect(space, &word.related, &mut related, counts);
            foreign.clear();
            let mut others: Vec<Key> = word.foreign.iter().map(|(key, _)| *key).collect();
            if word.is_kind && found.units.is_empty() {
                // Which painkiller: notes that have no such word name one.
                others.extend(&word.things);
            }
            collect(space, &others, &mut foreign, counts);
            scores.add(space, (word, number), &found, [&related, &foreign]);
        }
        scores.speakers(space, &question.speakers);
        scores.things(space, &question.words);
        scores
    }

    /// Marks the units that have something of a kind that is asked for; the words
    /// of the question itself are none.
    fn things(&mut self, space: &Space<'_>, words: &[SearchWord]) {
        let own: HashSet<Key> = words.iter().flat_map(|word| &word.keys).copied().collect();
        let things = words.iter().flat_map(|word| &word.things).copied();
        let things: BTreeSet<Key> = things.filter(|thing| !own.contains(thing)).collect();
        for &thing in &things {
            mark(space, thing, &mut self.tables.of_kind);
        }
    }

    /// Adds what a word counts where it is, and what it counts where something
    /// is that means nearly the same.
    fn add(
        &mut self,
        space: &Space<'_>,
        (word, number): (&'a SearchWord, u32),
        found: &Occurrences,
        others: [&Occurrences; 2],
    ) {
        // A word that no text has asks for something that is not there, unless
        // texts have another word for it.
        let known = match found.units.len() {
            0 => usize::from(others.iter().any(|other| !other.units.is_empty())),
            count => count,
        };
        let rarity = idf(space.size.units, known) * word.factor;
        self.weight += rarity;
        self.weights.push((word, rarity));
        self.score(space, found, word.factor, (rarity, number));
        for (other, share) in others.into_iter().zip([RELATED_SHARE, FOREIGN_SHARE]) {
            if !other.units.is_empty() {
                let factor = word.factor * share * RELATED;
                self.score(space, other, factor, (rarity * share, number));
            }
        }
    }

    /// Adds what occurrences count, and notes once for each unit what the word
    /// with the number `number` weighs there.
    fn score(
        &mut self,
        space: &Space<'_>,
        found: &Occurrences,
        factor: f32,
        (weight, number): (f32, u32),
    ) {
        let size = space.size;
        let units = size.units.max(1) as f32;
        let rarity = idf(size.units, found.units.len()) * factor;
        let own = Bm25::new(rarity, size.length as f32 / units);
        let rare_window = idf(size.units, found.windows.len()) * factor;
        let near = Bm25::new(rare_window, size.window_length as f32 / units);
        let rare_part = idf(size.parts, found.parts.len()) * factor;
        let whole = Bm25::new(rare_part, size.length as f32 / size.parts.max(1) as f32);
        let tables = &mut self.tables;
        for one in &found.units {
            tables.unit[one.number] += own.score(one.count, one.length);
        }
        for one in &found.windows {
            tables.window[one.number] += near.score(one.count, one.length);
            if tables.last[one.number] != number {
                tables.last[one.number] = number;
                tables.covered[one.number] += weight;
            }
        }
        for one in &found.parts {
            tables.part[one.number] += whole.score(one.count, one.length);
        }
    }

    fn speakers(&mut self, space: &Space<'_>, keys: &[Key]) {
        for &key in keys {
            mark(space, key, &mut self.tables.named);
        }
    }
}

/// Marks the units that are found by `key`.
fn mark(space: &Space<'_>, key: Key, units: &mut [bool]) {
    for (index, live) in space.live.iter().enumerate() {
        for posting in live.segment.postings(key) {
            let unit = posting.unit as usize;
            if unit < live.segment.units() && space.is_allowed(space.part(index, unit)) {
                units[space.starts[index].0 + unit] = true;
            }
        }
    }
}

/// The question's words; of very many those that are in the fewest units, as
/// far as the lengths of their lists tell.
fn rarest<'a>(space: &Space<'_>, question: &'a Question) -> Vec<&'a SearchWord> {
    let mut words: Vec<&SearchWord> = question.words.iter().collect();
    if words.len() > WORDS {
        let size = |word: &&SearchWord| -> usize {
            let lists = space.live.iter().flat_map(|live| {
                let sizes = word
                    .keys
                    .iter()
                    .map(|&key| live.segment.postings(key).size());
                sizes.collect::<Vec<_>>()
            });
            lists.sum()
        };
        words.sort_by_cached_key(size);
        words.truncate(WORDS);
    }
    words
}

/// Lucene's form, which is never negative.
fn idf(all: usize, with: usize) -> f32 {
    let (all, with) = (all as f32, with as f32);
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// BM25 of one term.
#[derive(Debug, Clone, Copy)]
struct Bm25 {
    rarity: f32,
    /// What is added to a count, and for each term of a text.
    base: f32,
    per_term: f32,
}

impl Bm25 {
    fn new(rarity: f32, average_length: f32) -> Self {
        Self {
            rarity,
            base: K1 * (1.0 - B),
            per_term: K1 * B / average_length.max(1.0),
        }
    }

    #[inline]
    fn score(self, count: u32, length: u32) -> f32 {
        let count = count as f32;
        self.rarity * count / (count + self.base + self.per_term * length as f32)
    }
}

/// Where a word is, in all segments. `counts` is all zero, before and after.
fn collect(space: &Space<'_>, word: &[Key], found: &mut Occurrences, counts: &mut [u32]) {
    for (live, &(first, first_part)) in space.live.iter().zip(&space.starts) {
        let counts = &mut counts[first..first + live.segment.units()];
        for posting in postings(&live.segment, word) {
            let unit = posting.unit as usize;
            if unit >= counts.len() {
                break;
            }
            let lengths = live.segment.lengths(unit);
            let part = first_part + lengths.part as usize;
            if !space.is_allowed(part) {
                continue;
            }
            let one = Occurrence {
                number: first + unit,
                count: posting.count,
                length: lengths.unit,
            };
            found.units.push(one);
            match found.parts.last_mut() {
                Some(last) if last.number == part => last.count += posting.count,
                _ => found.parts.push(Occurrence {
                    number: part,
                    length: live.segment.part(lengths.part as usize).length,
                    ..one
                }),
            }
            spread(&live.segment, (unit, one), counts, &mut found.windows);
        }
    }
    for window in &mut found.windows {
        window.count = std::mem::take(&mut counts[window.number]);
    }
}

/// Where any of a word's keys is, in order.
fn postings<'a>(segment: &'a Segment, word: &[Key]) -> Box<dyn Iterator<Item = Posting> + 'a> {
    let lists = word.iter().map(|&key| segment.postings(key));
    // Of the stems in all languages mostly one is a word.
    let mut lists: Vec<Postings<'_>> = lists.filter(|list| list.size() > 0).collect();
    let Some(last) = lists.pop() else {
        return Box::new(std::iter::empty());
    };
    if lists.is_empty() {
        return Box::new(last);
    }
    let mut all: Vec<Posting> = lists.into_iter().flatten().chain(last).collect();
    all.sort_unstable_by_key(|posting| posting.unit);
    all.dedup_by(|next, first| {
        let same = next.unit == first.unit;
        if same {
            first.count += next.count;
        }
        same
    });
    Box::new(all.into_iter())
}

/// Counts a term for the unit it is in and for its neighbours.
#[inline]
fn spread(
    segment: &Segment,
    (unit, one): (usize, Occurrence),
    counts: &mut [u32],
    windows: &mut Vec<Occurrence>,
) {
    let own = segment.lengths(unit);
    // A window that is no longer than its unit has no neighbours.
    let reach = usize::from(own.window > own.unit);
    for near in unit.saturating_sub(reach)..=(unit + reach).min(counts.len() - 1) {
        let lengths = segment.lengths(near);
        if lengths.part != own.part {
            continue;
        }
        if counts[near] == 0 {
            windows.push(Occurrence {
                number: one.number + near - unit,
                count: 0,
                length: lengths.window,
            });
        }
        counts[near] += one.count;
    }
}

#[cfg(test)]
mod tests;
