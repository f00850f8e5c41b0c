//! Whether a passage answers, and which of its sentences do.
//!
//! A score says which passage is the best there is; evidence says whether that
//! is good enough. It is the share of what the question's words weigh (by their
//! rarity) that is in the passage itself or in what it stands under. A name that
//! is asked for must be there, and so must the kind of fact.

use super::snippet::{Matches, Wanted};
use openclaw_analysis::{self as analysis, Language, Role, Sought, Traits};
use std::borrow::Cow;

/// What a word counts that is in what the passage stands under only, or in its
/// other sentences.
const ABOVE: f32 = 0.9;
/// What a word counts more that is missing with all that means the same.
const MISSING: f32 = 1.1;
/// The same of what follows "which": nothing is told of it.
const KIND: f32 = 1.7;
/// What a verb counts that is missing where the kind of thing is told that is asked
/// for, and where nothing tells.
const DOING: (f32, f32) = (0.3, 0.5);
/// What one of the parts that a word is looked for in counts that is missing beside another of them.
const PARTLY: f32 = 0.5;
/// What is left of the evidence where a name that is asked for is missing,
const NAMELESS: f64 = 0.6;
/// and where the kind of thing is: it does not answer then.
const UNTOLD: f64 = 0.54;
/// What is left of it where nothing says whether something may be done, and that is asked.
const UNSAID: f64 = 0.95;
/// What is left of it where only other sentences have words of the question.
const APART: f64 = 0.6;
/// Shorter passages of one line are shown whole, in characters.
const WHOLE: usize = 240;

/// What a passage tells of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evidence {
    /// 0 to 1.
    pub(crate) share: f64,
    /// Whether it says nothing but the question's own words.
    pub(crate) is_repeat: bool,
    /// Whether it tells the kind of thing that is asked for.
    pub(crate) is_told: bool,
    /// The sentences that answer.
    pub(crate) answer: String,
}

/// A sentence and what it tells.
struct Sentence<'a> {
    text: &'a str,
    matches: Matches,
    traits: Traits,
}

/// What `text`, which is shown and stands under `above`, tells; and whether it is of the day that
/// is asked about.
pub(crate) fn of(
    wanted: &Wanted,
    (text, (above, is_of_day)): (&str, (&str, bool)),
    language: Language,
) -> Evidence {
    let mut others = 0;
    let read = |text| {
        let mut matches = Matches::default();
        wanted.words(text, language, |one| {
            others += usize::from(one == Matches::default());
            matches = matches.with(one);
        });
        matches = wanted.with_intolerance(matches, (text, language));
        matches = wanted.told_kin(matches, text);
        matches = wanted.told_successor(matches, text);
        Sentence {
            text,
            matches: wanted.without_shreds(matches),
            traits: wanted.facts_in(text, language),
        }
    };
    let sentences: Vec<Sentence<'_>> = sentences(text).into_iter().map(read).collect();
    let mut outside = wanted.matches(above, language);
    if is_of_day {
        outside.own |= wanted.day_bit();
    }
    let is_of_others = (wanted.sure_names() != 0 && is_of_others(wanted, &sentences, language))
        || is_of_another(wanted, text, above)
        || is_of_somebody(wanted, &sentences, (outside, language));
    let group = Group::new(wanted, &sentences, outside);
    let mut best = (0, 0.0, false);
    for index in 0..sentences.len() {
        let place = (&*sentences, index, is_of_others, group);
        let (share, is_told) = share(wanted, place, outside, language);
        if share > best.1 {
            best = (index, share, is_told);
        }
    }
    let has_own = sentences.iter().any(|it| it.matches.own != 0);
    let (index, share, is_told) = best;
    Evidence {
        share,
        is_repeat: others == 0 && has_own,
        is_told: is_told && !wanted.wants_nothing(),
        answer: answer(wanted, text, (&sentences, index)),
    }
}

/// Whether a sentence without the name that is asked for tells of the writer's own: "my
/// passport", beside what is told of somebody else.
fn is_of_others(wanted: &Wanted, sentences: &[Sentence<'_>], language: Language) -> bool {
    let is_asked = |word: &str| wanted.matches(word, language).near() != 0;
    sentences
        .iter()
        .filter(|sentence| wanted.sure_names() & sentence.matches.own == 0)
        .any(|sentence| analysis::is_ours(sentence.text, is_asked))
        || sentences.iter().any(|sentence| {
            let is_name =
                |word: &str| wanted.matches(word, language).own & wanted.sure_names() != 0;
            analysis::is_row_of_another(sentence.text, wanted.asked, is_name)
        })
}

/// The same where names are written as all nouns are: another noun of the question is missing
/// then.
fn is_of_somebody(
    wanted: &Wanted,
    sentences: &[Sentence<'_>],
    (outside, language): (Matches, Language),
) -> bool {
    let found = sentences.iter().map(|sentence| sentence.matches);
    let found = found.fold(outside, Matches::with);
    let is_asked = |word: &str| wanted.matches(word, language).seen() != 0;
    language == Language::German
        && wanted.nouns & !found.seen() != 0
        && sentences
            .iter()
            .any(|sentence| analysis::is_somebodys(sentence.text, is_asked))
}

/// The same in Japanese: the thing that is asked for, of another.
fn is_of_another(wanted: &Wanted, text: &str, above: &str) -> bool {
    let mut owners = wanted.owners.iter();
    owners.any(|(owner, thing)| {
        !above.contains(owner.as_str()) && analysis::is_of_another((owner, thing), text)
    })
}

/// Which sentences of a passage tell of the same: what stands before the first that has the
/// name that is asked for tells of somebody else.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// The number of that sentence.
    first: usize,
}

impl Group {
    fn new(wanted: &Wanted, sentences: &[Sentence<'_>], outside: Matches) -> Self {
        let names = |matches: Matches| matches.own & wanted.sure_names() != 0;
        let first = sentences.iter().position(|it| names(it.matches));
        let first = first.filter(|_| !names(outside)).unwrap_or_default();
        Self { first }
    }

    fn has_both(self, one: usize, other: usize) -> bool {
        (one < self.first) == (other < self.first)
    }
}

/// What the sentence with the number `index` tells among the others, and whether
/// it tells the kind of thing that is asked for.
fn share(
    wanted: &Wanted,
    (sentences, index, is_of_others, group): (&[Sentence<'_>], usize, bool, Group),
    outside: Matches,
    language: Language,
) -> (f64, bool) {
    let own = &sentences[index];
    let others = sentences.iter().enumerate();
    let others = others.filter(|(other, _)| *other != index && group.has_both(*other, index));
    let around = others.fold(outside, |all, (_, other)| all.with(other.matches));
    let traits = traits(sentences, index, group);
    let mut inside = own.matches;
    let facts = wanted.facts.iter().zip(0..);
    // That a booking is told by a day is of no use to who asks for its number.
    let asked = if wanted.asked.meets(Traits::DIGITS) {
        wanted.asked.with(Traits::NUMBER)
    } else {
        wanted.asked
    };
    let is_asked = |fact: Traits| asked.is_empty() || fact.meets(asked);
    let facts = facts.filter(|(fact, _)| fact.meets(traits) && is_asked(**fact));
    let facts: u64 = facts.map(|(_, bit)| 1 << bit).sum();
    let role = |word: &str| {
        let found = wanted.matches(word, language);
        Role {
            is_asked: found.near() != 0,
            is_kind: found.own & wanted.kinds != 0,
            is_one: found.related & wanted.kinds != 0,
        }
    };
    let has_kind = wanted.kinds & own.matches.near() != 0;
    let is_told = wanted.has_fact((own.text, language), traits)
        && (wanted.sought).is_in((&telling(wanted, sentences, index), language), |word| {
            role(word).is_asked
        })
        && (!has_kind || analysis::names_one((own.text, language), role));
    let is_told_so = is_told && !wanted.wants_nothing();
    let met = match (is_told_so, analysis::is_row(own.text)) {
        (false, _) => 0,
        // What a row's columns are for is not known.
        (true, true) => facts,
        (true, false) => facts | wanted.told_without,
    };
    if !is_told_so {
        // A number or a date is in many a line.
        inside.foreign |= facts;
    }
    let there = inside.with(around);
    let is_under = own.matches == Matches::default() && !analysis::refers_back(own.text);
    let all = wanted.all(there, (is_told_so, met), is_under);
    let found = wanted.weight(inside);
    let covered = found + (wanted.weight(there) - found) * ABOVE;
    let mut share = f64::from(covered / all.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    if (wanted.names & !(there.own | wanted.bare & there.related)) != 0 {
        share *= NAMELESS;
    } else if is_of_others {
        share *= UNTOLD;
    }
    // "Opens" and "closes" are both of the hours, and so near to each other.
    let is_other_thing = is_other_thing(wanted, own, (there, language));
    let is_opposite = own.matches.opposite & !(own.matches.own | outside.own) != 0;
    let is_apart = is_under && is_of_own_price(wanted, own.text);
    if !is_told || is_opposite || is_other_thing || is_apart {
        share *= UNTOLD;
    }
    if inside.with(outside) == Matches::default() && !analysis::refers_back(own.text) {
        share *= APART;
    }
    if wanted.sought.has(Sought::PERMISSION) && !analysis::tells_permission(own.text) {
        share *= UNSAID;
    }
    (share, is_told)
}

/// Whether a price or a weight is asked for and `sentence`, which has no word of the question, names
/// something that has its own: "Insured, £11 a month" under the name of a cat.
fn is_of_own_price(wanted: &Wanted, sentence: &str) -> bool {
    let is_price = wanted.asked.meets(Traits::MONEY) || wanted.sought.has(Sought::WEIGHT);
    is_price && analysis::names_thing(sentence)
}

/// Whether a sentence has another word than the one that is asked for, and missing, before what
/// is asked for.
fn is_other_thing(
    wanted: &Wanted,
    own: &Sentence<'_>,
    (there, language): (Matches, Language),
) -> bool {
    let mut missing = wanted.heads.iter();
    let is_asked = |word: &str| wanted.matches(word, language).seen() != 0;
    missing.any(|(bit, head)| {
        let head = analysis::stem(head, language);
        let is_head = |word: &str| analysis::stem(&word.to_lowercase(), language) == head;
        there.seen() & bit == 0 && analysis::is_of_other_thing(own.text, is_head, is_asked)
    })
}

/// What may tell what is sought: a sentence; of a reason also the one after it.
fn telling<'a>(wanted: &Wanted, sentences: &[Sentence<'a>], index: usize) -> Cow<'a, str> {
    let own = sentences[index].text;
    match sentences.get(index + 1) {
        Some(next) if wanted.sought.has(Sought::REASON) => format!("{own} {}", next.text).into(),
        _ => own.into(),
    }
}

impl Wanted {
    /// `matches` of the sentence `text` with what asks for what is not tolerated, where it tells
    /// that, and without it elsewhere: what somebody takes is not what they cannot.
    fn with_intolerance(
        &self,
        mut matches: Matches,
        (text, language): (&str, Language),
    ) -> Matches {
        let asked = self.of_intolerance;
        if asked == 0 {
            return matches;
        }
        if !analysis::tells_intolerance(text, language) {
            matches.own &= !asked;
            matches.related &= !asked;
        } else if self.is_of_other_language(language) {
            matches.foreign |= asked;
        } else {
            matches.related |= asked;
        }
        matches
    }

    /// `matches` of the sentence `text` with what names a relative, where it names the same one.
    fn told_kin(&self, mut matches: Matches, text: &str) -> Matches {
        if self.of_kin != 0 && self.kin.meets(analysis::kin(text)) {
            matches.related |= self.of_kin;
            matches.opposite &= !self.of_kin;
        }
        matches
    }

    /// The same with what asks for who came after somebody, where it tells that.
    fn told_successor(&self, mut matches: Matches, text: &str) -> Matches {
        if self.of_successor != 0 && analysis::tells_successor(text) {
            matches.related |= self.of_successor;
        }
        matches
    }

    /// Names that are written as such.
    fn sure_names(&self) -> u64 {
        self.names & !self.bare
    }

    /// Whether no kind of thing is asked for.
    fn wants_nothing(&self) -> bool {
        self.asked.is_empty() && self.sought.without(Sought::PERMISSION).is_empty()
    }

    /// Whether `text`, with `traits`, has the kind of fact that is asked for. What
    /// counts something is no day.
    fn has_fact(&self, (text, language): (&str, Language), traits: Traits) -> bool {
        let asked = self.asked;
        let is_count = asked.meets(Traits::NUMBER) && !asked.meets(Traits::DATE);
        if is_count && !asked.meets(traits.only(Traits::MONEY)) {
            // What one number of money is, nothing else is.
            let is_price = traits.meets(Traits::MONEY) && analysis::numbers(text) < 2;
            return asked.meets(traits) && analysis::counts(text) && !is_price;
        }
        if asked.meets(Traits::AMOUNT) && !traits.meets(Traits::MONEY) {
            return asked.meets(traits) && self.has_amount(text, language);
        }
        asked.is_empty() || asked.meets(traits)
    }

    /// Whether a number of `text` is not of so many of what is asked for: of 40 bulbs the price
    /// is not 40.
    fn has_amount(&self, text: &str, language: Language) -> bool {
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let is_asked = |word: &str| self.matches(&word.to_lowercase(), language).own != 0;
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_followed = |at: usize| words[at + 1..].iter().take(2).any(|next| is_asked(next));
        let mut numbers = words.iter().enumerate().filter(|(_, word)| is_number(word));
        numbers.any(|(at, _)| !is_followed(at)) || !words.iter().any(|it| is_number(it))
    }

    /// The kinds of facts that `text` tells. A time that the question has itself is told only
    /// with a number beside it: the winter concert is on no day, and the one of 3 December is.
    fn facts_in(&self, text: &str, language: Language) -> Traits {
        if self.times == 0 {
            return analysis::facts(text);
        }
        let is_asked = |word: &str| self.matches(word, language).own & self.times != 0;
        let words: Vec<&str> = text
            .split_inclusive(|c: char| !c.is_alphanumeric())
            .collect();
        let has_digit = |at: Option<usize>| {
            let word = at.and_then(|at| words.get(at));
            word.is_some_and(|word| word.contains(|c: char| c.is_ascii_digit()))
        };
        let told = words.iter().enumerate().filter(|(at, word)| {
            !is_asked(word) || has_digit(at.checked_sub(1)) || has_digit(Some(at + 1))
        });
        let told: String = told.map(|(_, word)| *word).collect();
        analysis::facts(&told)
    }

    /// What all words weigh, where those of `found` are found. Words for the kind
    /// of thing that is told, `met`, need not be there. What has none of the words itself and only
    /// stands under some tells of anything, and not of what was done, where that is known.
    fn all(&self, found: Matches, (is_told, met): (bool, u64), is_under: bool) -> f32 {
        let there = found.seen();
        let doing = if is_under {
            self.doing & !self.known_others
        } else {
            self.doing
        };
        let weights = self.weights.iter().enumerate();
        let weights = weights.map(|(at, weight)| {
            let bit = 1 << at;
            if there & bit != 0 {
                *weight
            } else if self.wholes[at] & there != 0 {
                weight * PARTLY
            } else if met & bit != 0 {
                0.0
            } else if doing & !self.needed & bit != 0 {
                weight * if is_told { DOING.0 } else { DOING.1 }
            } else if (self.kinds & self.known_others | self.needed) & bit != 0 {
                weight * KIND
            } else if self.known_others & bit != 0 {
                weight * MISSING
            } else {
                *weight
            }
        });
        weights.sum()
    }
}

/// The kinds of facts in a sentence, and in those beside it that have to do with
/// the question too.
fn traits(sentences: &[Sentence<'_>], index: usize, group: Group) -> Traits {
    let beside = [index.checked_sub(1), Some(index + 1)];
    let beside = beside
        .into_iter()
        .flatten()
        .filter(|&at| group.has_both(at, index))
        .filter_map(|at| sentences.get(at));
    let next = sentences.get(index + 1).map(|next| next.text);
    beside
        .filter(|it| it.matches != Matches::default() || (next == Some(it.text) && is_bare(it)))
        .fold(sentences[index].traits, |all, it| all.with(it.traits))
}

/// The longest sentence that is nothing but a fact, in words, and in characters where none are
/// parted.
const BARE: (usize, usize) = (5, 12);

/// Whether a sentence is nothing but a day or a number of what was said before: "14 January, 9:30."
fn is_bare(sentence: &Sentence<'_>) -> bool {
    let text = sentence.text.trim();
    let begins =
        text.starts_with(|c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c));
    let is_short = if analysis::is_spaceless(text) {
        text.chars().count() <= BARE.1
    } else {
        text.split_whitespace().count() <= BARE.0
    };
    begins && is_short
}

/// All of a short line; of what is longer the sentence that tells most, and one
/// beside it that has more of what is asked for.
fn answer(wanted: &Wanted, text: &str, (sentences, best): (&[Sentence<'_>], usize)) -> String {
    let text = text.trim();
    let is_short = text.chars().count() <= WHOLE && !text.contains('\n');
    if is_short || sentences.is_empty() {
        return text.to_owned();
    }
    let has_fact = |sentence: &Sentence<'_>| wanted.asked.meets(sentence.traits);
    let own = &sentences[best];
    let has_more = |other: &Sentence<'_>| {
        wanted.weight(own.matches.with(other.matches)) > wanted.weight(own.matches)
    };
    let (mut start, mut end) = (best, best + 1);
    if let Some(next) = sentences.get(end)
        && (has_more(next) || has_fact(next) && !has_fact(own))
    {
        end += 1;
    } else if let Some(before) = best.checked_sub(1)
        && has_more(&sentences[before])
    {
        start = before;
    }
    let shown = sentences[start..end].iter().map(|sentence| sentence.text);
    shown.collect::<Vec<_>>().join(" ")
}

/// The sentences and lines of a text.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let end = at + character.len_utf8();
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            '\n' | '。' | '！' | '？' => true,
            // "3.5." and "Dr. Weber" go on: a sentence begins with a capital after
            // a word of more than two letters.
            '.' | '!' | '?' => {
                next.is_some_and(char::is_whitespace) && is_end(&text[start..at], &text[end..])
            }
            _ => false,
        };
        if ends {
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| sentence.contains(char::is_alphanumeric));
    sentences
}

/// Words with a dot after which a sentence goes on.
const SHORTENED: [&str; 20] = [
    "mag", "prof", "ing", "dipl", "str", "tel", "mrs", "mme", "mlle", "sra", "srta", "dra", "ext",
    "approx", "vol", "fam", "inkl", "bzw", "exkl", "ref",
];

fn is_end(before: &str, after: &str) -> bool {
    let word = before
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let begins = after.trim_start().chars().next();
    let is_word = word.chars().count() > 2 && !word.chars().all(|c| c.is_ascii_digit())
        || word.len() == 4 && word.chars().all(|c| c.is_ascii_digit());
    let is_word = is_word && !SHORTENED.contains(&word.to_lowercase().as_str());
    is_word && begins.is_none_or(|c| !c.is_lowercase())
}

#[cfg(test)]
mod tests;
