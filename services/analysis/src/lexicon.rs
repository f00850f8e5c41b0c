//! Words of everyday notes that mean nearly the same, in five languages.
//!
//! A question and a note are short, and people seldom use the same words for
//! both: "how much did I pay" is answered by "price: 12 €". `concepts.txt` has
//! one meaning a line, its words by language, and before them the kind of fact that
//! they name, if they name one; `frames.txt` has words that are
//! in questions about anything, and `kinds.txt` things by the kind they are of.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use pagefind_stem::{Algorithm, Stemmer};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::fold;
use super::language::{Language, Languages};
use super::terms::{self, Word, words};
use super::traits::Traits;

const CONCEPTS: &str = include_str!("lexicon/concepts.txt");
const FRAMES: &str = include_str!("lexicon/frames.txt");
const KINDS: &str = include_str!("lexicon/kinds.txt");
const OPPOSITES: &str = include_str!("lexicon/opposites.txt");
/// The languages of the words of a line, in their order. Japanese is found by
/// its characters, whatever language a text is taken for.
const LANGUAGES: [Language; 4] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
];

/// A term of a language, by its number in [`LANGUAGES`]; Japanese is the last.
#[derive(Debug, Clone)]
struct Member {
    language: usize,
    term: Box<str>,
}

#[derive(Debug, Default)]
struct Lexicon {
    concepts: Vec<Vec<Member>>,
    /// Of each concept the kind of fact that it names: "number".
    facts: Vec<Traits>,
    /// By hash of language and term.
    by_term: HashMap<u64, Vec<u16>>,
    japanese: Vec<(Box<str>, u16)>,
    /// Hashes of language and word as it is written.
    written: HashSet<u64>,
}

fn lexicon() -> &'static Lexicon {
    static LEXICON: OnceLock<Lexicon> = OnceLock::new();
    LEXICON.get_or_init(Lexicon::read)
}

impl Lexicon {
    fn read() -> Self {
        let mut lexicon = Self::default();
        for (line, number) in CONCEPTS.lines().zip(0..) {
            let mut members: Vec<Member> = Vec::new();
            let (fact, line) = match line.split_once(": ") {
                Some((fact, words)) => (Traits::named(fact), words),
                None => (Traits::default(), line),
            };
            lexicon.facts.push(fact);
            for (list, language) in line.split('|').zip(0..) {
                for word in list.split_whitespace() {
                    lexicon.add(word, language, number, &mut members);
                }
            }
            lexicon.concepts.push(members);
        }
        lexicon
    }

    fn add(&mut self, word: &str, language: usize, number: u16, members: &mut Vec<Member>) {
        let Some(&spoken) = LANGUAGES.get(language) else {
            self.japanese.push((word.into(), number));
            // Letters stand in Japanese texts as they are: "Wi-Fi".
            // Of what is written by its sound the beginning tells most, and the end is that of others.
            let is_sounded = super::spaceless::is_sounded(word);
            let mut is_first = true;
            words(word, |part| {
                let (Word::Exact(term) | Word::Plain(term)) = part;
                if std::mem::take(&mut is_first) || !is_sounded {
                    let term = term.into();
                    members.push(Member { language, term });
                }
            });
            return;
        };
        words(word, |part| {
            let term = match part {
                Word::Exact(term) => term.to_owned(),
                Word::Plain(plain) => {
                    self.written.insert(hash(plain, language));
                    stem(plain, spoken).into_owned()
                }
            };
            let known = self.by_term.entry(hash(&term, language)).or_default();
            if known.last() != Some(&number) {
                known.push(number);
                let term = term.into();
                members.push(Member { language, term });
            }
        });
    }
}

fn hash(term: &str, language: usize) -> u64 {
    xxh3_64_with_seed(term.as_bytes(), language as u64)
}

/// The stem of a word in one of [`LANGUAGES`], by names and not by number: a program that asks
/// for nothing else has the tables of four stemmers in it, and not of all, whose addresses are
/// some 300 kB that every process of it would have for itself.
fn stem(word: &str, language: Language) -> Cow<'_, str> {
    let stemmer = match language {
        Language::German => Stemmer::create(Algorithm::German),
        Language::French => Stemmer::create(Algorithm::French),
        Language::Spanish => Stemmer::create(Algorithm::Spanish),
        _ => Stemmer::create(Algorithm::English),
    };
    terms::unaccented_stem(stemmer.stem(word))
}

/// The concepts of `word` in `language`, and that language's number.
fn concepts(word: &str, language: Language) -> (&'static [u16], usize) {
    let number = LANGUAGES.iter().position(|&known| known == language);
    let number = number.unwrap_or_default();
    let term = stem(word, LANGUAGES[number]);
    let found = lexicon().by_term.get(&hash(&term, number));
    (found.map_or(&[], Vec::as_slice), number)
}

/// Whether notes of everyday life have other words for `word`.
pub fn is_known(word: &str, language: Language) -> bool {
    LANGUAGES.contains(&language) && !concepts(word, language).0.is_empty()
}

/// Whether `word`, in lower case, is itself among the words of notes in `language`, and not only
/// one of its stem: "pila", and not "Pilar".
pub fn has_word(word: &str, language: Language) -> bool {
    let number = LANGUAGES.iter().position(|&known| known == language);
    number.is_some_and(|number| lexicon().written.contains(&hash(word, number)))
}

/// Whether `word` of a text means something else than a word of another language with the same
/// stem: "turnos" are no "turn". Only of words that notes have in both.
pub fn is_false_friend((word, language): (&str, Language), (other, of): (&str, Language)) -> bool {
    let are_known = LANGUAGES.contains(&language) && LANGUAGES.contains(&of) && language != of;
    let (own, others) = (concepts(word, language).0, concepts(other, of).0);
    are_known
        && !own.is_empty()
        && !others.is_empty()
        && own.iter().all(|concept| !others.contains(concept))
}

/// Whose a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Of the language of the word that was looked up.
    Own,
    /// Of another; None where every text has it, as Japanese.
    Other(Option<Language>),
}

/// Calls `sink` with terms that mean nearly what `word` means in `language`, as
/// texts in any of `languages` have them, and whose they are.
pub fn related(
    word: &str,
    language: Language,
    languages: Languages,
    mut sink: impl FnMut(&str, Origin),
) {
    let (found, number) = concepts(word, language);
    for &concept in found {
        members(lexicon(), concept, languages, &mut |term, own| {
            sink(term, origin(own, number))
        });
    }
}

fn origin(of: usize, own: usize) -> Origin {
    if of == own {
        Origin::Own
    } else {
        Origin::Other(LANGUAGES.get(of).copied())
    }
}

/// The languages that have `word`, in lower case, among the words of notes.
pub(super) fn words_of(word: &str) -> Languages {
    let having = LANGUAGES.into_iter();
    let having = having.filter(|&language| !concepts(word, language).0.is_empty());
    having.collect()
}

/// What kind of fact `word` names in `language`: "number", "price".
pub fn fact(word: &str, language: Language) -> Traits {
    let (found, _) = concepts(word, language);
    found.iter().fold(Traits::default(), |all, &concept| {
        all.with(lexicon().facts[usize::from(concept)])
    })
}

/// The same for what is written without spaces: calls `sink` for each concept
/// whose word is in `text`, with where that begins and ends, and its terms.
pub fn related_in(
    text: &str,
    languages: Languages,
    mut sink: impl FnMut(std::ops::Range<usize>, Traits, (&str, Origin)),
) {
    let lexicon = lexicon();
    for (word, concept) in &lexicon.japanese {
        let found = text.match_indices(&**word);
        for (start, found) in found.filter(|(start, _)| is_word_at(word, &text[..*start])) {
            let range = start..start + found.len();
            let fact = lexicon.facts[usize::from(*concept)];
            members(lexicon, *concept, languages, &mut |term, own| {
                sink(range.clone(), fact, (term, origin(own, LANGUAGES.len())));
            });
        }
    }
}

/// Whether a word of Japanese may begin after `before`: two characters of katakana are the
/// beginning of a longer word, and in the middle of another they say nothing.
fn is_word_at(word: &str, before: &str) -> bool {
    let is_katakana = |c: char| matches!(c, '\u{30a0}'..='\u{30ff}');
    let is_beginning = word.chars().count() == 2 && word.chars().all(is_katakana);
    !is_beginning || !before.ends_with(is_katakana)
}

fn members(
    lexicon: &Lexicon,
    concept: u16,
    languages: Languages,
    sink: &mut impl FnMut(&str, usize),
) {
    for member in &lexicon.concepts[usize::from(concept)] {
        let language = LANGUAGES.get(member.language);
        if language.is_none_or(|&language| languages.contains(language)) {
            sink(&member.term, member.language);
        }
    }
}

/// What lines of Japanese follow, at the end.
const JAPANESE: &str = "# ja";

/// For a language, and the hash of a term, the lists of words that go with it.
type Lists = HashMap<(Language, u64), Vec<&'static str>>;

/// Words of kinds and things of these kinds in Japanese.
fn japanese_kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = KINDS.lines().skip_while(|line| *line != JAPANESE).skip(1);
    lines.filter_map(|line| line.split_once('|'))
}

/// The same as [`things`] for what is written without spaces: calls `sink` with where in `text` a
/// kind is named, and with what things of it are found by: pairs of characters.
pub fn things_in(text: &str, mut sink: impl FnMut(std::ops::Range<usize>, &str)) {
    for (kinds, list) in japanese_kinds() {
        for kind in kinds.split_whitespace() {
            for (start, found) in text.match_indices(kind) {
                let range = start..start + found.len();
                for thing in list.split_whitespace() {
                    // One pair is enough, and tells most at the beginning.
                    let mut first = true;
                    words(thing, |part| {
                        if std::mem::take(&mut first)
                            && let Word::Exact(term) | Word::Plain(term) = part
                        {
                            sink(range.clone(), term);
                        }
                    });
                }
            }
        }
    }
}

/// The lists of a file of lines `words | words`, after lines `# LANGUAGE`: for each word on the
/// left those on the right, and for each on the right those on the left where `is_mutual`.
fn lists(text: &'static str, is_mutual: bool) -> Lists {
    let mut all = Lists::new();
    let mut language = Language::English;
    let mut add = |words: &'static str, language, others: &'static str| {
        for word in words.split_whitespace() {
            let term = stem(word, language);
            let key = (language, xxh3_64(term.as_bytes()));
            all.entry(key).or_default().push(others);
        }
    };
    for line in text.lines() {
        if line == JAPANESE {
            break;
        }
        if let Some(code) = line.strip_prefix("# ") {
            let of_code = LANGUAGES.into_iter().find(|it| it.code() == code);
            language = of_code.unwrap_or(language);
            continue;
        }
        let (left, right) = line.split_once('|').unwrap_or_default();
        add(left, language, right);
        if is_mutual {
            add(right, language, left);
        }
    }
    all
}

fn listed(all: &Lists, (word, language): (&str, Language), mut sink: impl FnMut(&str)) {
    let term = stem(word, language);
    let found = all.get(&(language, xxh3_64(term.as_bytes())));
    for others in found.map_or(&[][..], Vec::as_slice) {
        terms::terms(others, language, &mut sink);
    }
}

/// Calls `sink` with terms for things of the kind `word`, as texts in `language`
/// have them: "violin" is an instrument. In English, German, French and Spanish.
pub fn things(word: &str, language: Language, sink: impl FnMut(&str)) {
    static ALL: OnceLock<Lists> = OnceLock::new();
    let all = ALL.get_or_init(|| lists(KINDS, false));
    listed(all, (word, language), sink);
}

/// Kinds of somebody.
const SOMEBODY: [(&str, Language); 4] = [
    ("profession", Language::English),
    ("beruf", Language::German),
    ("métier", Language::French),
    ("profesión", Language::Spanish),
];

/// Whether `word`, in lower case, is what somebody is by trade: "which surgeon" asks for
/// somebody. In the same languages.
pub fn is_trade(word: &str, language: Language) -> bool {
    let Some((kind, _)) = SOMEBODY.iter().find(|(_, of)| *of == language) else {
        return false;
    };
    let term = stem(word, language);
    let mut is_trade = false;
    things(kind, language, |trade| is_trade |= trade == term);
    is_trade
}

/// Calls `sink` with terms for the opposite of `word`, as texts in `language` have them:
/// what tells when it closes does not tell when it opens. In the same languages.
pub fn opposites(word: &str, language: Language, sink: impl FnMut(&str)) {
    static ALL: OnceLock<Lists> = OnceLock::new();
    let all = ALL.get_or_init(|| lists(OPPOSITES, true));
    listed(all, (word, language), sink);
}

/// Whether `word`, in lower case, is in questions about anything.
pub fn is_frame(word: &str) -> bool {
    frames_of(word) != Languages::default()
}

/// The languages in which `word`, in lower case, is in questions about anything.
pub(super) fn frames_of(word: &str) -> Languages {
    static WORDS: OnceLock<HashMap<u64, Languages>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let mut words: HashMap<u64, Languages> = HashMap::new();
        for (line, language) in FRAMES.lines().zip(LANGUAGES) {
            for word in line.split_whitespace() {
                let mut folded = String::new();
                fold::lowercase(word, &mut folded);
                let of = words.entry(xxh3_64(folded.as_bytes())).or_default();
                *of = of.with(language);
            }
        }
        words
    });
    let found = words.get(&xxh3_64(word.as_bytes()));
    found.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(word: &str, language: Language) -> Vec<String> {
        let languages = LANGUAGES
            .iter()
            .fold(Languages::default(), |all, &l| all.with(l));
        let mut terms = Vec::new();
        related(word, language, languages, |term, _| {
            terms.push(term.to_owned())
        });
        terms
    }

    #[test]
    fn related_words_are_of_every_language() {
        let terms = all("dentists", Language::English);
        for term in ["dentist", "zahnarzt", "muel", "歯医"] {
            assert!(terms.iter().any(|other| other == term), "{term}: {terms:?}");
        }
        assert!(all("zeppelin", Language::English).is_empty());
        assert!(is_frame("called") && !is_frame("dentist"));
        // Not by its stem alone.
        assert!(has_word("pila", Language::Spanish) && !has_word("pilar", Language::Spanish));
    }

    #[test]
    fn related_words_are_told_by_whose_they_are() {
        let languages = Languages::default()
            .with(Language::English)
            .with(Language::French);
        let mut found = Vec::new();
        related("dentist", Language::English, languages, |term, of| {
            found.push((term.to_owned(), of))
        });
        let has = |term: &str, of| found.iter().any(|(other, its)| other == term && *its == of);
        assert!(has("dentist", Origin::Own), "{found:?}");
        assert!(has("歯医", Origin::Other(None)), "{found:?}");
        let is_french = |of: &Origin| *of == Origin::Other(Some(Language::French));
        assert!(found.iter().any(|(_, of)| is_french(of)), "{found:?}");
    }

    #[test]
    fn words_that_only_have_a_stem_in_common_are_false_friends() {
        let english = ("turn", Language::English);
        assert!(is_false_friend(("turnos", Language::Spanish), english));
        assert!(!is_false_friend(("turns", Language::English), english));
        // Of one meaning, and of none that is known.
        assert!(!is_false_friend(
            ("dentista", Language::Spanish),
            ("dentist", Language::English)
        ));
        assert!(!is_false_friend(("turquesa", Language::Spanish), english));
    }

    #[test]
    fn japanese_words_are_found_in_what_is_written_without_spaces() {
        let languages = Languages::default().with(Language::English);
        let related = |text: &str| {
            let mut terms = Vec::new();
            related_in(text, languages, |_, _, (term, _)| {
                terms.push(term.to_owned())
            });
            terms
        };
        let has = |text: &str, term: &str| related(text).iter().any(|other| other == term);
        assert!(has("無線の名前", "wi-fi") && has("パスワードは", "暗号"));
        // "レス" is the beginning of a restaurant, and in the middle of another word nothing.
        assert!(has("駅のレストラン", "食堂") && !has("フォレスター", "食堂"));
        let mut things = Vec::new();
        things_in("犬種は何", |at, term| {
            things.push((at, term.to_owned()))
        });
        assert!(things.contains(&(0..6, "柴犬".to_owned())), "{things:?}");
    }

    #[test]
    fn things_are_of_the_kind_that_a_word_names() {
        let all = |word, language| {
            let mut terms = Vec::new();
            things(word, language, |term| terms.push(term.to_owned()));
            terms
        };
        let instruments = all("instruments", Language::English);
        assert!(
            instruments.iter().any(|term| term == "violin"),
            "{instruments:?}"
        );
        // A kind in two lines.
        let recipes = all("recipes", Language::English);
        for term in ["lasagna", "cupcak"] {
            assert!(
                recipes.iter().any(|other| other == term),
                "{term}: {recipes:?}"
            );
        }
        assert!(all("zeppelin", Language::English).is_empty());
        let fruit = all("fruta", Language::Spanish);
        assert!(fruit.iter().any(|term| term == "pomel"), "{fruit:?}");
    }

    #[test]
    fn lists_have_words_on_both_sides() {
        for line in [KINDS, OPPOSITES].iter().flat_map(|text| text.lines()) {
            if let Some(code) = line.strip_prefix("# ") {
                let is_known = LANGUAGES.iter().any(|it| it.code() == code);
                assert!(is_known || line == JAPANESE, "{line}");
                continue;
            }
            let (left, right) = line.split_once('|').unwrap();
            assert!(
                !left.trim().is_empty() && !right.trim().is_empty(),
                "{line}"
            );
        }
    }

    #[test]
    fn opposites_are_known_from_either_side() {
        for (word, opposite, language) in [
            ("opens", "close", Language::English),
            ("ferme", "ouvr", Language::French),
        ] {
            let mut terms = Vec::new();
            opposites(word, language, |term| terms.push(term.to_owned()));
            assert!(terms.iter().any(|term| term == opposite), "{terms:?}");
        }
    }

    #[test]
    fn related_words_are_found_without_spaces() {
        let mut found = Vec::new();
        related_in(
            "歯医者の予約",
            Languages::default().with(Language::German),
            |range, _, (term, _)| {
                found.push((range, term.to_owned()));
            },
        );
        assert!(
            found
                .iter()
                .any(|(range, term)| *range == (0..6) && term == "zahnarzt")
        );
        assert!(!found.iter().any(|(_, term)| term == "dentist"));
    }

    #[test]
    fn lexicon_every_line_has_words_of_five_languages() {
        for line in CONCEPTS.lines() {
            assert_eq!(line.split('|').count(), 5, "{line}");
            let fact = line.split_once(": ").map(|(fact, _)| Traits::named(fact));
            assert!(fact.is_none_or(|fact| !fact.is_empty()), "{line}");
            assert!(
                line.split('|').all(|list| !list.trim().is_empty()),
                "{line}"
            );
        }
    }
}
