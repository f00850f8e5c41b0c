//! The languages whose words are stemmed.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use super::stop_words;

/// A language with stop words and a Snowball stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Language {
    /// Also what nothing else is known of.
    English,
    German,
    French,
    Spanish,
}

impl Language {
    pub(super) const ALL: [Self; 4] = [Self::English, Self::German, Self::French, Self::Spanish];

    /// Its ISO 639-1 code.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
        }
    }

    /// The language with a code; English when there is none.
    pub(crate) fn from_code(code: &str) -> Self {
        let known = Self::ALL
            .into_iter()
            .find(|language| language.code() == code);
        known.unwrap_or(Self::English)
    }

    fn stop_words(self) -> &'static [&'static str] {
        match self {
            Self::English => &stop_words::ENGLISH,
            Self::German => &stop_words::GERMAN,
            Self::French => &stop_words::FRENCH,
            Self::Spanish => &stop_words::SPANISH,
        }
    }

    /// Whether `word`, in lower case, says nothing of what a text is about.
    pub(crate) fn is_stop_word(self, word: &str) -> bool {
        self.stop_words().binary_search(&word).is_ok()
    }

    pub(super) fn stem(self, word: &str) -> Cow<'_, str> {
        let algorithm = match self {
            Self::English => Algorithm::English,
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
        };
        Stemmer::create(algorithm).stem(word)
    }
}

/// A set of languages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Languages(u64);

impl Languages {
    /// The set with `language` in it.
    pub(crate) fn with(self, language: Language) -> Self {
        Self(self.0 | 1 << language as u8)
    }

    /// The members of both.
    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// As it is stored.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// What [`Languages::bits`] gave.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Its members.
    pub(crate) fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL
            .into_iter()
            .filter(move |&language| self.0 & 1 << language as u8 != 0)
    }
}

/// Words looked at to tell a text's language: a page has shown it by then.
const WORDS: usize = 500;

/// Stop words seen, by language.
#[derive(Default)]
pub(super) struct Count {
    words: usize,
    stop_words: [usize; Language::ALL.len()],
}

impl Count {
    pub(super) fn add(&mut self, word: &str) {
        self.words += 1;
        for (language, count) in Language::ALL.into_iter().zip(&mut self.stop_words) {
            *count += usize::from(language.is_stop_word(word));
        }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.words >= WORDS
    }

    /// The first of the languages with most stop words.
    pub(super) fn language(&self) -> Language {
        let mut best = (Language::English, self.stop_words[0]);
        for (language, &count) in Language::ALL.into_iter().zip(&self.stop_words) {
            if count > best.1 {
                best = (language, count);
            }
        }
        best.0
    }
}
