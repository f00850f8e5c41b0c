//! Words that are made of others ("Zahnarzttermin"), taken apart by what words
//! there are: a part is one when it is a word of the index itself, or of the lexicon
//! beside one of the index.

use memchr::memmem;

use super::search_word::SearchWord;
use crate::segment::line_at;
use crate::snapshot::Snapshot;
use crate::term::{self, Key};
use openclaw_analysis::{self as analysis, Language, lexicon::Origin};

/// The shortest word that is looked for in others, and the shortest rest of
/// them; in bytes.
const PART: usize = 4;
const REST: usize = 3;
/// The shortest word that is taken apart; in bytes.
const WHOLE: usize = 8;
/// Words that have one in them and are looked for with it.
const LIMIT: usize = 48;
/// What stands between the parts.
const JOINTS: [&str; 7] = ["", "s", "es", "n", "en", "er", "e"];
/// Letters that words of one family have in common at least, and by how many more
/// they differ at most.
const AKIN: usize = 5;
/// What each of two parts counts, of a word: together somewhat more than one.
const SHARE: f32 = 0.6;

/// The words of an index that are made of others.
pub(super) struct Compounds<'a> {
    snapshot: &'a Snapshot,
    /// Of the question.
    own: Language,
    languages: Vec<Language>,
}

impl<'a> Compounds<'a> {
    /// For a question in the language `own`: Spanish "encender" is not made of "Ende".
    pub(super) fn new(snapshot: &'a Snapshot, own: Language) -> Self {
        let languages = snapshot.languages().iter();
        let languages = languages.filter(|language| language.joins_words());
        Self {
            snapshot,
            own,
            languages: if own.joins_words() {
                languages.collect()
            } else {
                Vec::new()
            },
        }
    }

    /// `word`, which is `plain`, found also in words that have it, or one of
    /// `roots`, in them; or what it is made of.
    pub(super) fn expand(
        &self,
        plain: &str,
        mut word: SearchWord,
        roots: &[String],
    ) -> Vec<SearchWord> {
        if !word.keys.iter().any(|&key| self.is_there(key)) {
            self.add_akin(plain, &mut word.related);
            let short = self.own.short_forms(plain).into_iter();
            let short = short.map(|short| term::key(&short));
            word.related.extend(short.filter(|&key| self.is_there(key)));
        }
        for &language in &self.languages {
            let stem = analysis::stem(plain, language);
            self.add_longer(&stem, &mut word.related);
            for root in roots {
                self.add_longer(root, &mut word.related);
            }
            let Some((first, second)) = self.parts(plain, language) else {
                continue;
            };
            let part = |stem: &str| {
                let mut part = SearchWord {
                    plain: word.plain.clone(),
                    keys: word.keys.clone(),
                    related: word.related.clone(),
                    foreign: word.foreign.clone(),
                    things: word.things.clone(),
                    factor: word.factor * SHARE,
                    is_doing: word.is_doing,
                    is_needed: word.is_needed,
                    is_sought: word.is_sought,
                    is_kind: word.is_kind,
                    is_noun: word.is_noun,
                    whole: word.whole,
                    is_of_intolerance: word.is_of_intolerance,
                    is_of_kin: word.is_of_kin,
                    is_sounded: false,
                    is_short: false,
                    fact: word.fact.with(analysis::lexicon::fact(stem, language)),
                    // A part of a name is none, and what is said of the whole is not said of it.
                    ..SearchWord::default()
                };
                part.keys.push(term::key(stem));
                self.add_longer(stem, &mut part.related);
                let languages = self.snapshot.languages();
                analysis::lexicon::related(stem, language, languages, |term, of| match of {
                    Origin::Own => part.related.push(term::key(term)),
                    Origin::Other(language) => part.foreign.push((term::key(term), language)),
                });
                part
            };
            return vec![part(&first), part(&second)];
        }
        vec![word]
    }

    /// Adds the words that begin or end with `stem`.
    fn add_longer(&self, stem: &str, keys: &mut Vec<Key>) {
        if stem.len() < PART || self.languages.is_empty() {
            return;
        }
        let finder = memmem::Finder::new(stem);
        let mut room = LIMIT;
        for live in &self.snapshot.live {
            let words = live.segment.words();
            for at in finder.find_iter(words) {
                let line = line_at(words, at);
                let longer = words[line.clone()].trim_ascii_end();
                let is_edge = at == line.start || at + stem.len() == line.start + longer.len();
                if room > 0
                    && is_edge
                    && longer.len() >= stem.len() + REST
                    && let Ok(longer) = std::str::from_utf8(longer)
                {
                    keys.push(term::key(longer));
                    room -= 1;
                }
            }
        }
    }

    /// Adds the words that begin as one does that no text has: "physiotherapy"
    /// and "physiotherapist" have stems of their own.
    fn add_akin(&self, word: &str, keys: &mut Vec<Key>) {
        let letters = word.chars().count();
        let shared = (letters * 2).div_ceil(3).max(AKIN);
        let Some((end, _)) = word.char_indices().nth(shared) else {
            return;
        };
        let beginning = analysis::unaccented(&word[..end]);
        for live in &self.snapshot.live {
            let akin = live.segment.words_from(&beginning);
            let akin = akin.take_while(|other| other.starts_with(&*beginning));
            let near = akin.filter(|other| other.chars().count() <= letters + AKIN);
            keys.extend(near.take(LIMIT).map(term::key));
        }
    }

    /// Whether any text has the word.
    pub(super) fn is_there(&self, key: Key) -> bool {
        let mut live = self.snapshot.live.iter();
        live.any(|live| live.segment.postings(key).size() > 0)
    }

    /// The stems of the two words that `word` is made of, if both are there.
    fn parts(&self, word: &str, language: Language) -> Option<(String, String)> {
        if word.len() < WHOLE {
            return None;
        }
        let cuts = word.char_indices().map(|(at, _)| at);
        let cuts = cuts.filter(|&at| word.len() - at >= REST);
        cuts.filter_map(|at| {
            let (first, second) = word.split_at(at);
            let (second, is_second_there) = self.known(second, language)?;
            let (first, is_first_there) = JOINTS.iter().find_map(|joint| {
                let bare = first.strip_suffix(joint)?;
                (bare.len() >= REST)
                    .then(|| self.known(bare, language))
                    .flatten()
            })?;
            (is_first_there || is_second_there).then_some((first, second))
        })
        // The most even: "Haus-tür", not "Hau-stür".
        .max_by_key(|(first, second)| first.len().min(second.len()))
    }

    /// The stem of a word that texts have, or that is known to have others for it, and
    /// whether texts have it.
    fn known(&self, word: &str, language: Language) -> Option<(String, bool)> {
        let stem = analysis::stem(word, language);
        let is_there = self.is_there(term::key(&stem));
        let is_known = is_there || analysis::lexicon::is_known(word, language);
        is_known.then(|| (stem.into_owned(), is_there))
    }
}

#[cfg(test)]
mod tests;
