//! What is looked for.

use std::collections::BTreeSet;
use std::ops::Range;

use super::compound::Compounds;
use super::search_word::{Foreign, SearchWord};
use crate::embed::table::Table;
use crate::embed::vector::{DIMENSIONS, Quantised};
use crate::snapshot::Snapshot;
use crate::term::{self, Key};
use openclaw_analysis::{
    self as analysis, Kin, Language, Languages, Sought, Traits, Written, calendar, lexicon,
    lexicon::Origin,
};

/// Looked at of a question; what follows is a pasted document. In bytes.
const TEXT_LIMIT: usize = 8 * 1024;
/// What a word counts that is in questions about anything, of what others do.
const FRAME: f32 = 0.3;
/// The same of one that only says that something is, or is now.
const IDLE: f32 = 0.1;
/// What the day counts that it is about.
const DAY: f32 = 0.5;
/// The same of a word before another noun that is in no text.
const MODIFIER: f32 = 0.5;
/// What the second pair of a run of characters adds to the first: a word of four
/// characters is not three words.
const NEXT_PAIR: f32 = 0.3;

/// A question, analysed.
#[derive(Debug)]
pub(crate) struct Question {
    /// Its words that say something.
    pub(crate) words: Vec<SearchWord>,
    /// In what language it is.
    pub(crate) language: Language,
    /// What a speaker's name would be found by.
    pub(crate) speakers: Vec<Key>,
    /// What kind of fact it asks for.
    pub(crate) asked: Traits,
    /// Of whom, or what, it asks for something.
    pub(crate) owners: Vec<(String, String)>,
    /// What else it wants to be told.
    pub(crate) sought: Sought,
    /// The relatives that it asks about.
    pub(crate) kin: Kin,
    /// The day it is about, said from the day on which it is asked.
    pub(crate) day: Option<Day>,
    /// Of its meaning, by [`Question::table`].
    pub(crate) vector: Option<Quantised>,
    /// The table the vector is of.
    pub(crate) table: u64,
}

impl Question {
    /// The question `text` to the documents of `snapshot`.
    pub(crate) fn new(text: &str, snapshot: &Snapshot, table: Option<&Table>) -> Self {
        let text = start(text);
        let vector = table.map(|table| Quantised::new(&table.sum(text)));
        let sought = analysis::sought(text);
        let (kin, relatives) = analysis::asked_kin(text);
        let words = Words::new(text, snapshot, (relatives, sought));
        let sought = words.sought(sought);
        Self {
            language: words.own,
            words: words.read(text),
            speakers: speakers(text),
            kin,
            owners: analysis::owners(text)
                .into_iter()
                .map(|(owner, thing)| (owner.to_owned(), thing.to_owned()))
                .collect(),
            asked: if sought.has(Sought::REASON) {
                // "¿Por qué le cuesta …?" asks for no price.
                Traits::default()
            } else {
                analysis::asked(text)
            },
            sought,
            day: None,
            vector: vector.filter(|v| v.scale > 0.0 && v.values.len() == DIMENSIONS),
            table: table.map_or(0, Table::identity),
        }
    }
}

/// A day, with the number of the word that stands for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Day {
    /// As names of notes have it: 2026-11-20.
    pub(crate) name: String,
    pub(crate) key: Key,
}

impl Question {
    /// The question, asked at `now_ms`: "yesterday" is a day.
    pub(crate) fn asked_at(mut self, text: &str, now_ms: i64) -> Self {
        let Some(date) = calendar::asked_day(start(text), now_ms) else {
            return self;
        };
        let key = term::date_key(calendar::Mark::Date(date));
        let names_day = |word: &SearchWord| {
            calendar::says_day(&word.plain)
                || (word.plain.is_empty() && DAYS.iter().any(|day| word.keys == [term::key(day)]))
        };
        self.words.retain(|word| !names_day(word));
        self.words.push(SearchWord {
            keys: vec![key],
            factor: DAY,
            ..SearchWord::default()
        });
        self.day = Some(Day {
            name: date.to_string(),
            key,
        });
        self
    }
}

/// Pairs of characters of days that are said from another, in Japanese.
const DAYS: [&str; 7] = ["昨日", "一昨", "明日", "明後", "後日", "今日", "おと"];

/// Reads the words of a question.
struct Words<'a> {
    own: Language,
    languages: Languages,
    compounds: Compounds<'a>,
    written: Written,
    seen: BTreeSet<Key>,
    words: Vec<SearchWord>,
    /// Whether it asks what must not be eaten.
    is_of_intolerance: bool,
    /// The words of the relatives that it asks about.
    kin: Vec<String>,
    /// Whether it asks for somebody,
    is_of_somebody: bool,
    /// and for a day or a time.
    is_of_time: bool,
}

impl<'a> Words<'a> {
    /// Those of `text`, which names relatives by the words `kin` and asks for `sought`.
    fn new(text: &str, snapshot: &'a Snapshot, (kin, sought): (Vec<String>, Sought)) -> Self {
        let languages = snapshot.languages();
        let own = analysis::language_among(text, languages);
        Self {
            own,
            languages,
            compounds: Compounds::new(snapshot, own),
            written: Written::new(text, own),
            seen: BTreeSet::new(),
            words: Vec::new(),
            is_of_intolerance: analysis::asks_of_intolerance(text, own),
            kin,
            is_of_somebody: sought.has(Sought::PERSON),
            is_of_time: analysis::asked(text).meets(Traits::DATE),
        }
    }

    /// Whether `word` asks for who came after somebody: "who replaces Ann", "who is the new head".
    fn is_of_successor(&self, word: &str) -> bool {
        const NEW: [&str; 12] = [
            "new",
            "neue",
            "neuer",
            "neuen",
            "nouveau",
            "nouvelle",
            "nouvel",
            "nuevo",
            "nueva",
            "新",
            "新しい",
            "新し",
        ];
        self.is_of_somebody && (NEW.contains(&word) || analysis::tells_successor(word))
    }

    /// Which surgeon: somebody is asked for.
    fn sought(&self, sought: Sought) -> Sought {
        let mut kinds = self.written.kinds.iter();
        let is_somebody = kinds.any(|kind| lexicon::is_trade(kind, self.own));
        if is_somebody {
            sought.with(Sought::PERSON)
        } else {
            sought
        }
    }

    /// Whether `word` names a relative that is asked about, or is a part of what does.
    fn is_of_kin(&self, word: &str) -> bool {
        let mut parts = self.kin.iter().flat_map(|kin| kin.split('-'));
        parts.any(|part| part == word) || self.kin.iter().any(|kin| kin == word)
    }

    fn read(mut self, text: &str) -> Vec<SearchWord> {
        for (word, mark) in calendar::mentions(text) {
            let mut keys = vec![term::date_key(mark)];
            if self.seen.insert(keys[0]) {
                analysis::words(word, |word| keys.extend(self.stems(word)));
                self.seen.extend(&keys);
                self.words.push(SearchWord {
                    keys,
                    factor: 1.0,
                    ..SearchWord::default()
                });
            }
        }
        for (run, is_spaced) in analysis::runs(text) {
            if is_spaced {
                analysis::words(run, |word| self.add(word));
            } else {
                self.add_run(run);
            }
        }
        self.words
    }

    /// The stems of a word in every language there is. Documents are stemmed in
    /// their own, and a question is too short to tell which is meant.
    fn stems(&self, word: analysis::Word<'_>) -> Vec<Key> {
        let mut keys: Vec<Key> = match word {
            analysis::Word::Exact(word) => vec![term::key(word)],
            analysis::Word::Plain(word) if analysis::is_stop_word(word, self.own) => Vec::new(),
            analysis::Word::Plain(word) => self
                .languages
                .iter()
                .filter(|&language| !analysis::is_stop_word(word, language))
                .map(|language| term::key(&analysis::stem(word, language)))
                .collect(),
        };
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    fn add(&mut self, word: analysis::Word<'_>) {
        let mut keys = self.stems(word);
        keys.retain(|&key| self.seen.insert(key));
        if keys.is_empty() {
            return;
        }
        match word {
            analysis::Word::Exact(whole) => self.add_exact(whole, keys),
            analysis::Word::Plain(plain) => self.add_plain(plain, keys),
        }
    }

    /// Of words that are joined in no text, the parts are looked for.
    fn add_exact(&mut self, whole: &str, keys: Vec<Key>) {
        if whole.contains(char::is_alphabetic) && !self.compounds.is_there(keys[0]) {
            return;
        }
        self.words.push(SearchWord {
            keys,
            factor: 1.0,
            fact: lexicon::fact(whole, self.own),
            ..SearchWord::default()
        });
    }

    fn add_plain(&mut self, plain: &str, keys: Vec<Key>) {
        let known = self.known(plain);
        let written = &self.written;
        let is_idle = written.idle.contains(plain);
        let is_frame = lexicon::is_frame(plain) || is_idle;
        // A note says "from January" of next year, and 2019 of a year.
        let is_relative = analysis::facts(plain) == Traits::RELATIVE;
        // "Which evening" is told by any day.
        let is_time = written.kinds.contains(plain)
            && analysis::facts(plain).meets(Traits::DATE)
            && self.is_of_time;
        let is_general = is_frame || known.has_others;
        let is_bare = !is_general
            && written.bare.contains(plain)
            && !written.names.contains(plain)
            && known.things.is_empty()
            && !analysis::is_doing(plain, self.own)
            && analysis::facts(plain).is_empty();
        let is_name = is_bare
            || (!is_general && written.names.contains(plain))
            || written.numbers.contains(plain);
        let is_there = || keys.iter().any(|&key| self.compounds.is_there(key));
        let factor = if is_idle {
            IDLE
        } else if is_frame {
            FRAME
        } else if !known.has_others && written.modifiers.contains(plain) && !is_there() {
            // "Estate agent": of an agent that is told of, the kind may not be.
            MODIFIER
        } else {
            1.0
        };
        let word = SearchWord {
            plain: plain.to_owned(),
            keys,
            factor: factor * written.factor(plain),
            is_name,
            is_bare,
            // Not of "what says …".
            is_kind: !is_frame
                && !is_time
                && !written.is_verb(plain, self.own)
                && written.kinds.contains(plain),
            is_sought: written.sought.contains(plain),
            is_doing: is_relative
                || (!known.is_called && written.is_doing(plain, self.own, known.has_others)),
            is_needed: written.is_needed(plain),
            is_of_intolerance: known.is_of_intolerance,
            is_of_kin: self.is_of_kin(plain),
            is_of_successor: self.is_of_successor(plain),
            is_sounded: false,
            is_short: false,
            head: written.heads.get(plain).cloned(),
            is_noun: written.nouns.contains(plain),
            whole: self.seen.len() as u32,
            fact: if is_time {
                lexicon::fact(plain, self.own).with(Traits::DATE)
            } else {
                lexicon::fact(plain, self.own)
            },
            related: known.related,
            foreign: known.foreign,
            things: known.things,
            opposites: known.opposites,
        };
        let mut words = self.compounds.expand(plain, word, &known.roots);
        words.iter_mut().for_each(SearchWord::look_once);
        self.words.extend(words);
    }

    /// What is known of a word beside its stems.
    fn known(&self, plain: &str) -> Known {
        let mut known = Known::default();
        let is_proper = self.written.nouns.contains(plain) || self.written.names.contains(plain);
        if !is_proper {
            known.roots = self.own.roots(plain);
        }
        let roots = known.roots.iter().map(|root| term::key(root));
        // "Guppies" is not known by other words because of "guppier".
        let is_sure = !matches!(self.own, Language::English | Language::Spanish);
        let roots = roots.filter(|&key| is_sure || self.compounds.is_there(key));
        known.related.extend(roots);
        let others = self.own.other_gender(plain).into_iter();
        let others = others.map(|other| term::key(&other));
        let others = others.filter(|&key| self.compounds.is_there(key));
        known.related.extend(others);
        // "Pilar" has the stem of a battery, and is none.
        known.is_called = self.written.names.contains(plain) && !lexicon::has_word(plain, self.own);
        if known.is_called {
            return known;
        }
        lexicon::related(plain, self.own, self.languages, |term, of| {
            match of {
                Origin::Own => known.related.push(term::key(term)),
                Origin::Other(language) => known.foreign.push((term::key(term), language)),
            }
            known.has_others = true;
        });
        known.is_of_intolerance = self.is_of_intolerance
            && (analysis::is_eating(plain, self.own)
                || analysis::is_beside_eating(plain, self.own));
        if known.is_of_intolerance {
            known.has_others = true;
            self.add_intolerance((&mut known.related, &mut known.foreign));
        }
        lexicon::things(plain, self.own, |term| known.things.push(term::key(term)));
        lexicon::opposites(plain, self.own, |term| {
            known.opposites.push(term::key(term))
        });
        known
    }

    /// Adds what says something in a run of characters without spaces.
    fn add_run(&mut self, run: &str) {
        let mut found = self.pairs_of(run);
        lexicon::related_in(run, self.languages, |range, fact, known| {
            relate(&mut found, &range, fact, known);
        });
        lexicon::things_in(run, |range, thing| {
            let mut named = found.iter_mut();
            let named = named.find(|(own, _)| own.start < range.end && range.start < own.end);
            if let Some((_, word)) = named {
                word.things.push(term::key(thing));
            }
        });
        if self.is_of_intolerance {
            let eats = |range: &Range<usize>| {
                ["食", "飲", "アレ", "避"]
                    .iter()
                    .any(|verb| run[range.clone()].starts_with(verb))
            };
            for (_, word) in found.iter_mut().filter(|(range, _)| eats(range)) {
                word.is_of_intolerance = true;
                self.add_intolerance((&mut word.related, &mut word.foreign));
            }
        }
        for (_, mut word) in found {
            word.look_once();
            self.words.push(word);
        }
    }

    /// The pairs of characters of a run that were not seen before, with where they are in it.
    fn pairs_of(&mut self, run: &str) -> Vec<(Range<usize>, SearchWord)> {
        let told = analysis::sought_words(run);
        let is_told = |pair: &str| told.iter().any(|word| word.contains(pair));
        let mut found = Vec::new();
        for piece in analysis::pieces(run) {
            let text = &run[piece.clone()];
            let pairs: Vec<Range<usize>> = analysis::pairs(text).collect();
            let all = 1.0 + NEXT_PAIR * (pairs.len() - 1) as f32;
            let of_piece = SearchWord {
                is_of_kin: self.kin.iter().any(|kin| kin.contains(text)),
                is_of_successor: self.is_of_successor(text),
                factor: if text == "新" {
                    IDLE
                } else {
                    all / pairs.len() as f32
                },
                is_doing: analysis::is_inflected(run, &piece),
                is_needed: analysis::is_staying(text) && self.written.is_who_or_where,
                is_sounded: analysis::is_sounded(text),
                is_short: pairs.len() <= 2,
                whole: self.seen.len() as u32 + 1,
                ..SearchWord::default()
            };
            for pair in &pairs {
                let key = term::key(&text[pair.clone()]);
                if !self.seen.insert(key) {
                    continue;
                }
                let with_kana = analysis::with_kana(&text[pair.clone()]);
                let foreign = with_kana.iter().map(|pair| (term::key(pair), None));
                let word = SearchWord {
                    keys: vec![key],
                    foreign: foreign.collect(),
                    is_sought: is_told(&text[pair.clone()]),
                    ..of_piece.clone()
                };
                found.push((piece.start + pair.start..piece.start + pair.end, word));
            }
        }
        found
    }

    /// What must not be eaten is told by what is not tolerated.
    fn add_intolerance(&self, (related, foreign): (&mut Vec<Key>, &mut Vec<Foreign>)) {
        analysis::intolerance(self.own, self.languages, |term, of| match of {
            Origin::Other(Some(language)) => foreign.push((term::key(term), Some(language))),
            // What every text has, for a question in any language.
            _ => related.push(term::key(term)),
        });
    }
}

/// What is known of a word beside its stems.
#[derive(Default)]
struct Known {
    /// The verbs and adjectives that it may be a form of.
    roots: Vec<String>,
    related: Vec<Key>,
    foreign: Vec<Foreign>,
    things: Vec<Key>,
    opposites: Vec<Key>,
    /// Others have its meaning.
    has_others: bool,
    /// It is a name, and no word.
    is_called: bool,
    is_of_intolerance: bool,
}

/// Notes at the pairs in `range` of a run what is known of the word there.
fn relate(
    found: &mut [(Range<usize>, SearchWord)],
    range: &Range<usize>,
    fact: Traits,
    (term, of): (&str, Origin),
) {
    let first = found
        .iter()
        .position(|(own, _)| own.start < range.end && range.start < own.end);
    // What is known by its beginning is known as a whole.
    let whole = first.map(|at| (&found[at].0, &found[at].1));
    // "パスワード", and not "タイトル" by "タイ"; "分電盤" by "分電".
    let whole = whole.filter(|(own, word)| {
        let is_all = word.is_sounded && range.len() > own.len();
        own.start == range.start && (is_all || (word.is_short && !word.is_sounded))
    });
    let whole = whole.map(|(_, word)| word.whole);
    let named = found.iter_mut().enumerate();
    let named = named.filter(|(at, (_, word))| Some(*at) == first || Some(word.whole) == whole);
    for (_, (_, word)) in named {
        word.fact = word.fact.with(fact);
        word.is_doing = false;
        let key = term::key(term);
        match of {
            Origin::Own => word.related.push(key),
            Origin::Other(language) => word.foreign.push((key, language)),
        }
    }
}

fn speakers(text: &str) -> Vec<Key> {
    let mut keys = BTreeSet::new();
    analysis::terms(text, Language::English, |term| {
        keys.insert(term::speaker_key(term));
    });
    keys.into_iter().collect()
}

fn start(text: &str) -> &str {
    let mut ends = (0..=text.len().min(TEXT_LIMIT)).rev();
    let start = ends.find_map(|end| text.get(..end));
    start.unwrap_or_default()
}

#[cfg(test)]
mod tests;
