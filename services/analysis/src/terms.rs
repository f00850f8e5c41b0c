//! The words of a text, and the terms that they become.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use super::detect::Count;
use super::language::{Language, Languages};
use super::{fold, stop_words, word};

/// Longer terms are encoded data that nobody searches for; in bytes.
const TERM_LIMIT: usize = 64;

/// A word of a text as it is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'a> {
    /// In lower case, to be stemmed.
    Plain(&'a str),
    /// As it is searched for, whatever the language.
    Exact(&'a str),
}

/// Calls `sink` with every term of `text`, in order, stemmed as `language` and
/// without the words that say nothing in it.
pub fn terms(text: &str, language: Language, mut sink: impl FnMut(&str)) {
    words(text, |word| match word {
        Word::Exact(word) => sink(word),
        Word::Plain(word) if stop_words::languages_of(word).contains(language) => {}
        Word::Plain(word) => sink(&stem(word, language)),
    });
}

/// The stem of a [`Word::Plain`] in `language`.
pub fn stem(word: &str, language: Language) -> Cow<'_, str> {
    unaccented_stem(language.stem(word))
}

/// A stem as terms have it.
pub(super) fn unaccented_stem(stem: Cow<'_, str>) -> Cow<'_, str> {
    match stem {
        Cow::Borrowed(stem) => fold::without_accents(stem),
        Cow::Owned(stem) => Cow::Owned(fold::without_accents(&stem).into_owned()),
    }
}

/// A word without the accents that terms have not.
pub fn unaccented(word: &str) -> Cow<'_, str> {
    fold::without_accents(word)
}

/// Whether a [`Word::Plain`] says nothing in `language`.
pub fn is_stop_word(word: &str, language: Language) -> bool {
    stop_words::languages_of(word).contains(language)
}

/// Calls `sink` with every word of `text`, in order.
pub fn words(text: &str, mut sink: impl FnMut(Word<'_>)) {
    let text = composed(text);
    let mut folded = String::new();
    word::split(&text, |part| {
        folded.clear();
        match part {
            word::Part::Whole(word) | word::Part::Word(word) => fold::lowercase(word, &mut folded),
            word::Part::Bigram(pair) => folded.push_str(pair),
        }
        if folded.is_empty() || folded.len() > TERM_LIMIT {
            return;
        }
        match part {
            word::Part::Word(_) => sink(Word::Plain(&folded)),
            word::Part::Whole(_) => sink(Word::Exact(&fold::without_accents(&folded))),
            word::Part::Bigram(_) => sink(Word::Exact(&folded)),
        }
    });
}

/// The runs of `text` of characters that are written with spaces between words,
/// and of those that are not; whether they are.
pub fn runs(text: &str) -> impl Iterator<Item = (&str, bool)> {
    word::runs(text)
}

/// The language most of the stop words in `text` belong to; when there are none,
/// what its script tells, and at last English.
pub fn language_of(text: &str) -> Language {
    count(text).language(Languages::all())
}

/// The same of a text that is one of `languages` if any of them has its words:
/// of a short one, languages that are akin tell too little.
pub fn language_among(text: &str, languages: Languages) -> Language {
    if let Some(asked) = language_of_question(text).filter(|&asked| languages.contains(asked)) {
        return asked;
    }
    let count = count(text);
    let near = count.language(languages);
    if languages.contains(near) {
        near
    } else {
        count.language(Languages::all())
    }
}

/// Words that questions begin with, and no others do in the languages that share their words.
const QUESTIONS: [(Language, &str); 4] = [
    (
        Language::English,
        "who whose what when where which why how does did is are has have can",
    ),
    (
        Language::German,
        "wer wem wen wessen wann wo wohin woher welche welcher welches welchen welchem warum wieso weshalb wie wieviel \
         womit wofür wogegen worauf woran",
    ),
    (
        Language::French,
        "qui quand où quel quelle quels quelles pourquoi comment combien est-ce",
    ),
    (
        Language::Spanish,
        "quién quiénes qué cuándo dónde adónde cuál cuáles cómo cuánto cuánta cuántos cuántas",
    ),
];
/// Among so many first words: "à quelle heure", "de qué color".
const FIRST: usize = 2;

/// The language that the first words of a question are of: of a question of few words, others
/// tell less.
fn language_of_question(text: &str) -> Option<Language> {
    if text.contains('¿') {
        return Some(Language::Spanish);
    }
    if is_german_what(text) {
        return Some(Language::German);
    }
    let lower = text.trim().to_lowercase();
    let mut first = lower.split_whitespace().take(FIRST);
    first.find_map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let of = |words: &str| words.split_whitespace().any(|it| it == bare);
        let found = QUESTIONS.iter().find(|(_, words)| of(words));
        found.map(|(language, _)| *language)
    })
}

/// Whether `text` begins with "was" as German does: before a verb. What it is in English is before
/// an article, a name and the like.
fn is_german_what(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_what = words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("was"));
    let next = words.next().unwrap_or_default();
    let is_english = stop_words::languages_of(next).contains(Language::English);
    is_what && next.starts_with(char::is_lowercase) && !is_english
}

fn count(text: &str) -> Count {
    let text = composed(text);
    let mut count = Count::default();
    let mut folded = String::new();
    word::split(&text, |part| {
        if let word::Part::Word(plain) = part
            && !count.is_enough()
        {
            folded.clear();
            fold::lowercase(plain, &mut folded);
            count.add(&folded);
        }
    });
    count
}

pub(super) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}
