//! The part of a passage that is shown.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::keywords::{FOREIGN_SHARE, RELATED_SHARE};
use super::question::Day;
use super::search_word::SearchWord;
use crate::term::{self, Key};
use openclaw_analysis::{self as analysis, Kin, Language, Same, Sought, Traits, Word, lexicon};

/// The most characters shown of a passage (as OpenClaw's).
const SIZE: usize = 700;
/// What stands where a line is cut.
const ELLIPSIS: char = '…';
/// Shown before a match in a line that is cut, in characters.
const BEFORE: usize = 100;

/// Of a word that is written by its sound, at least so many of so many parts say that it is there.
const SOUNDED: (usize, usize) = (1, 2);

/// By what is a hash already.
type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Same>>;

/// Which words of a question are in a text, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Matches {
    /// Those that are there themselves.
    pub(super) own: u64,
    /// Those of which something is there that means nearly the same.
    pub(super) related: u64,
    /// The same in another language.
    pub(super) foreign: u64,
    /// Those of which the opposite is there.
    pub(super) opposite: u64,
}

impl Matches {
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            own: self.own | other.own,
            related: self.related | other.related,
            foreign: self.foreign | other.foreign,
            opposite: self.opposite | other.opposite,
        }
    }

    /// Those that are there or of which something near is.
    pub(super) fn near(self) -> u64 {
        self.own | self.related
    }

    /// Those that are there in any way.
    pub(super) fn seen(self) -> u64 {
        self.near() | self.foreign
    }
}

/// The words of a question, by any of their keys, and what they weigh.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    bits: ByHash<Matches>,
    pub(super) weights: Vec<f32>,
    /// Those that name somebody or something.
    pub(super) names: u64,
    /// Of them those that other words may have in them.
    pub(super) bare: u64,
    /// As they are written, without accents, with their bits.
    called: Vec<(u64, String)>,
    /// All as they are written, in the language of the question.
    written: Vec<String>,
    language: Option<Language>,
    /// Those of which it is known what else can be said for them.
    pub(super) known_others: u64,
    /// Of each word the kind of fact that it names.
    pub(super) facts: Vec<Traits>,
    /// Verbs and the like: a note that answers mostly has others.
    pub(super) doing: u64,
    /// Those that what tells of something that is not taken, or not tolerated, has.
    pub(super) of_intolerance: u64,
    /// Those that name relatives, which a note can name otherwise,
    pub(super) of_kin: u64,
    /// and who these are.
    pub(super) kin: Kin,
    /// Those that ask for who came after somebody.
    pub(super) of_successor: u64,
    /// Of each word that is written by its sound its parts.
    sounded: Vec<u64>,
    /// What kinds of things are asked for: "which brand".
    pub(super) kinds: u64,
    /// Verbs without which nothing is told: "where does he live".
    pub(super) needed: u64,
    /// Words that say what is to be told, which can be told without them.
    pub(super) told_without: u64,
    /// Words with the bits of what is said before them.
    pub(super) heads: Vec<(u64, String)>,
    /// Of each word those that are of the same whole.
    pub(super) wholes: Vec<u64>,
    /// Those that are a day or a time themselves: "winter".
    pub(super) times: u64,
    /// Those that are nouns, where that can be seen.
    pub(super) nouns: u64,
    /// Of whom, or what, something is asked for, in Japanese.
    pub(super) owners: Vec<(String, String)>,
    /// The day that is asked about.
    day: Option<Day>,
    /// What kind of fact is asked for,
    pub(super) asked: Traits,
    /// and what else an answer has to tell.
    pub(super) sought: Sought,
    /// What words match that were looked at, by their hashes: stems are dear,
    /// and the same words are in all that is found. None of those that say
    /// nothing.
    known: RefCell<ByHash<Option<Matches>>>,
}

impl Wanted {
    /// As many as there are bits.
    pub(super) fn new(words: &[(&SearchWord, f32)], (asked, sought): (Traits, Sought)) -> Self {
        let words = &words[..words.len().min(u64::BITS as usize)];
        let mut wanted = Self {
            weights: words.iter().map(|(_, weight)| *weight).collect(),
            facts: words.iter().map(|(word, _)| word.fact).collect(),
            names: bits(words, |word| word.is_name),
            bare: bits(words, |word| word.is_bare),
            nouns: bits(words, |word| word.is_noun),
            times: bits(words, |word| is_time(&word.plain)),
            doing: bits(words, |word| word.is_doing),
            of_intolerance: bits(words, |word| word.is_of_intolerance),
            of_kin: bits(words, |word| word.is_of_kin),
            of_successor: bits(words, |word| word.is_of_successor),
            kinds: bits(words, |word| word.is_kind),
            needed: bits(words, |word| word.is_needed),
            told_without: bits(words, |word| word.is_sought),
            known_others: bits(words, SearchWord::has_others),
            written: words.iter().map(|(word, _)| word.plain.clone()).collect(),
            asked,
            sought,
            ..Self::default()
        };
        for ((word, _), bit) in words.iter().zip(0..) {
            let bit = 1 << bit;
            for (key, found) in found_by(word, bit) {
                let known = wanted.bits.entry(key).or_default();
                *known = known.with(found);
            }
            if word.is_name {
                let name = analysis::unaccented(&word.plain).into();
                wanted.called.push((bit, name));
            }
            if let Some(head) = &word.head {
                wanted.heads.push((bit, head.clone()));
            }
            let whole = bits(words, |other| word.whole != 0 && other.whole == word.whole);
            wanted.wholes.push(whole);
            if word.is_sounded && !wanted.sounded.contains(&whole) {
                wanted.sounded.push(whole);
            }
        }
        wanted
    }

    /// Without the parts of words that are written by their sound where too few of a word are
    /// there: those of "スタッドレス" that "フォレスター" has.
    pub(super) fn without_shreds(&self, mut matches: Matches) -> Matches {
        for whole in &self.sounded {
            let there = (matches.own & whole).count_ones() as usize;
            if there * SOUNDED.1 < whole.count_ones() as usize * SOUNDED.0 {
                matches.own &= !whole;
            }
        }
        matches
    }

    /// With the day that is asked about.
    pub(super) fn with_day(self, day: Option<Day>) -> Self {
        Self { day, ..self }
    }

    /// Of a question in `language`.
    pub(super) fn in_language(self, language: Language) -> Self {
        Self {
            language: Some(language),
            ..self
        }
    }

    /// Of a question about these relatives.
    pub(super) fn with_kin(self, kin: Kin) -> Self {
        Self { kin, ..self }
    }

    /// Whether the day that is asked about has the name `day`.
    pub(crate) fn is_about(&self, day: &str) -> bool {
        self.day.as_ref().is_some_and(|asked| asked.name == day)
    }

    /// The word that stands for that day.
    pub(super) fn day_bit(&self) -> u64 {
        self.day.as_ref().map_or(0, |day| self.bit(day.key).own)
    }

    /// With whom, or what, something is asked for of.
    pub(super) fn with_owners(self, owners: Vec<(String, String)>) -> Self {
        Self { owners, ..self }
    }

    /// Calls `sink` for each word of `text` that says something, with what it
    /// matches.
    pub(super) fn words(&self, text: &str, language: Language, mut sink: impl FnMut(Matches)) {
        analysis::words(text, |word| match word {
            Word::Exact(word) => sink(self.bit(term::key(word))),
            Word::Plain(word) => {
                if let Some(matches) = self.stemmed(word, language) {
                    sink(matches);
                }
            }
        });
    }

    pub(super) fn matches(&self, text: &str, language: Language) -> Matches {
        let is_mark = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric();
        let word = text.trim_matches(is_mark);
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            // One word, or none: nothing has to be taken apart.
            return self.stemmed(word, language).unwrap_or_default();
        }
        let mut found = Matches::default();
        self.words(text, language, |matches| found = found.with(matches));
        found
    }

    /// None of a word that says nothing.
    fn stemmed(&self, word: &str, language: Language) -> Option<Matches> {
        let hash = xxh3_64_with_seed(word.as_bytes(), language as u64);
        *self.known.borrow_mut().entry(hash).or_insert_with(|| {
            // Whatever language a short text is taken for.
            let written = self.bit(as_written(word));
            if analysis::is_stop_word(word, language) {
                return (written != Matches::default()).then_some(written);
            }
            let stem = term::key(&analysis::stem(word, language));
            let mut found = self.bit(stem);
            found.own &= !self.mistaken((word, language), found.own);
            found.foreign |= self.bit(of_language(stem, language)).foreign;
            found.own |= written.own;
            found.own &= !self.misnamed(word, found.own);
            Some(found)
        })
    }

    /// Of the names among `own`, those that only have a stem in common with `word`: what
    /// is a name's stem in one language can be another word's in another ("Maren",
    /// "marido").
    fn misnamed(&self, word: &str, own: u64) -> u64 {
        let called = self.called.iter().filter(|(bit, _)| own & bit != 0);
        let word = analysis::unaccented(word);
        let others = called.filter(|(_, name)| {
            !word.starts_with(name.as_str()) && !name.starts_with(word.as_ref())
        });
        others.map(|(bit, _)| bit).sum()
    }

    /// Whether a text in `language` is in another than the question.
    pub(super) fn is_of_other_language(&self, language: Language) -> bool {
        self.language.is_some_and(|asked| asked != language)
    }

    /// Of the words among `own`, those that mean something else in the language of `word`.
    fn mistaken(&self, word: (&str, Language), own: u64) -> u64 {
        let Some(language) = self.language.filter(|&asked| own != 0 && asked != word.1) else {
            return 0;
        };
        let asked = self.written.iter().zip(0..);
        let asked = asked.map(|(asked, bit)| (asked, 1 << bit));
        let mistaken = asked.filter(|(asked, bit)| {
            own & bit != 0 && lexicon::is_false_friend(word, (asked, language))
        });
        mistaken.map(|(_, bit)| bit).sum()
    }

    fn bit(&self, key: Key) -> Matches {
        self.bits.get(&key).copied().unwrap_or_default()
    }

    /// What the words weigh that are in a text.
    pub(super) fn weight(&self, matches: Matches) -> f32 {
        let weights = self.weights.iter().enumerate();
        let found = weights.map(|(bit, weight)| match 1 << bit {
            bit if matches.own & bit != 0 => *weight,
            bit if matches.related & bit != 0 => weight * RELATED_SHARE,
            bit if matches.foreign & bit != 0 => weight * FOREIGN_SHARE,
            _ => 0.0,
        });
        found.sum()
    }
}

/// What finds `word`, and as what: with its bit.
fn found_by(word: &SearchWord, bit: u64) -> impl Iterator<Item = (Key, Matches)> {
    let none = Matches::default();
    let own = Matches { own: bit, ..none };
    let related = Matches {
        related: bit,
        ..none
    };
    let foreign = Matches {
        foreign: bit,
        ..none
    };
    let opposite = Matches {
        opposite: bit,
        ..none
    };
    // "What wood" is answered by "oak".
    let thing = if word.is_kind { related } else { foreign };
    let written = Some(&word.plain).filter(|plain| !plain.is_empty());
    let written = written.map(|plain| (as_written(plain), own));
    let of_others = word.foreign.iter().map(move |(key, language)| {
        let key = language.map_or(*key, |language| of_language(*key, language));
        (key, foreign)
    });
    let with = |found: Matches| move |key: &Key| (*key, found);
    let keys = word.keys.iter().map(with(own)).chain(written);
    keys.chain(word.related.iter().map(with(related)))
        .chain(of_others)
        .chain(word.opposites.iter().map(with(opposite)))
        .chain(word.things.iter().map(with(thing)))
}

/// The bits of those words that are such.
fn bits(words: &[(&SearchWord, f32)], is_such: impl Fn(&SearchWord) -> bool) -> u64 {
    let words = words.iter().zip(0..);
    let words = words.filter(|((word, _), _)| is_such(word));
    words.map(|(_, bit)| 1 << bit).sum()
}

fn is_time(word: &str) -> bool {
    analysis::facts(word).meets(Traits::DATE.with(Traits::RELATIVE))
}

/// What finds a word as it is written.
fn as_written(word: &str) -> Key {
    const WRITTEN: u64 = 0x5752_4954_5445_4e21;
    xxh3_64_with_seed(word.as_bytes(), WRITTEN)
}

/// What finds a term in texts of one language alone: "four" is an oven in French.
fn of_language(key: Key, language: Language) -> Key {
    xxh3_64_with_seed(&key.to_le_bytes(), language as u64)
}

/// What is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    /// Of the lines of the passage, the first that is shown, counted from 0.
    pub(crate) line: u32,
    /// Whole lines; a single line that is too long is cut.
    pub(crate) text: String,
}

/// The whole passage, or the lines of it in which most of what is searched for
/// comes together.
pub(crate) fn best(passage: &str, language: Language, query: &Wanted) -> Snippet {
    if fits(passage.chars().count()) {
        return Snippet {
            line: 0,
            text: passage.to_owned(),
        };
    }
    if !passage.contains('\n') {
        return Snippet {
            line: 0,
            text: around_match(passage, language, query),
        };
    }
    let lines: Vec<Line<'_>> = passage
        .split('\n')
        .map(|text| Line {
            text,
            size: text.chars().count() + 1,
            matches: query.matches(text, language),
        })
        .collect();
    let (first, end) = best_window(&lines, query);
    let text = match &lines[first..end] {
        [line] if !fits(line.size - 1) => around_match(line.text, language, query),
        window => window.iter().map(|l| l.text).collect::<Vec<_>>().join("\n"),
    };
    Snippet {
        line: u32::try_from(first).unwrap_or(u32::MAX),
        text,
    }
}

struct Line<'a> {
    text: &'a str,
    /// In characters, with the line break.
    size: usize,
    matches: Matches,
}

fn fits(size: usize) -> bool {
    size <= SIZE
}

/// The window with the most matches. Of windows with the same, the last, which
/// begins with a match; room that is left at the end of the passage is filled
/// with the lines before.
fn best_window(lines: &[Line<'_>], query: &Wanted) -> (usize, usize) {
    let mut best = (0, 1, f32::MIN);
    for first in 0..lines.len() {
        let end = end_of_window(lines, first);
        let found = lines[first..end].iter().map(|line| line.matches);
        let found = found.fold(Matches::default(), Matches::with);
        let weight = query.weight(found);
        if weight >= best.2 && (weight > best.2 || lines[first].matches.seen() != 0) {
            best = (first, end, weight);
        }
    }
    let (first, end, _) = best;
    let before = (0..first).rev();
    let fitting = before.take_while(|&at| end == lines.len() && end_of_window(lines, at) == end);
    (fitting.last().unwrap_or(first), end)
}

/// The end of the lines from `first` that fit, at least one line.
fn end_of_window(lines: &[Line<'_>], first: usize) -> usize {
    let mut size = 0;
    let fitting = lines[first..].iter().take_while(|line| {
        size += line.size;
        fits(size - 1)
    });
    first + fitting.count().max(1)
}

fn around_match(line: &str, language: Language, query: &Wanted) -> String {
    let words = line.split_inclusive(' ');
    let mut position = 0;
    let mut best = (0, 0.0);
    for word in words {
        let weight = query.weight(query.matches(word, language));
        if weight > best.1 {
            best = (position, weight);
        }
        position += word.chars().count();
    }
    let room = SIZE - 2;
    let last_start = line.chars().count().saturating_sub(room);
    let start = best.0.saturating_sub(BEFORE).min(last_start);
    let mut text = String::new();
    if start > 0 {
        text.push(ELLIPSIS);
    }
    text.extend(line.chars().skip(start).take(room));
    if start < last_start {
        text.push(ELLIPSIS);
    }
    text
}

#[cfg(test)]
mod tests;
