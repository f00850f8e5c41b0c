//! The languages whose words are stemmed.

use std::borrow::Cow;

use pagefind_stem::{Algorithm, Stemmer};

use super::stop_words;

/// A language with stop words and a Snowball stemmer.
///
/// In this order: of languages that a text is equally likely in, the first. The
/// numbers are those of the bits that segments keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Language {
    /// Also what nothing else is known of.
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Polish,
    Hungarian,
    Romanian,
    Russian,
    Turkish,
    Arabic,
    Greek,
    Hindi,
    Tamil,
    Indonesian,
    Catalan,
    /// With Croatian and Bosnian, in both scripts.
    Serbian,
    Lithuanian,
    Estonian,
    Irish,
    Basque,
    Armenian,
    Nepali,
    Yiddish,
    Esperanto,
}

/// What is known of a language: its ISO 639-1 code, how its words are stemmed,
/// and the words of it that say nothing.
type Facts = (&'static str, Algorithm, &'static str);

impl Language {
    pub(super) const ALL: [Self; 31] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Italian,
        Self::Portuguese,
        Self::Dutch,
        Self::Swedish,
        Self::Danish,
        Self::Norwegian,
        Self::Finnish,
        Self::Polish,
        Self::Hungarian,
        Self::Romanian,
        Self::Russian,
        Self::Turkish,
        Self::Arabic,
        Self::Greek,
        Self::Hindi,
        Self::Tamil,
        Self::Indonesian,
        Self::Catalan,
        Self::Serbian,
        Self::Lithuanian,
        Self::Estonian,
        Self::Irish,
        Self::Basque,
        Self::Armenian,
        Self::Nepali,
        Self::Yiddish,
        Self::Esperanto,
    ];

    fn facts(self) -> Facts {
        use Algorithm as A;
        match self {
            Self::English => ("en", A::English, include_str!("stop_words/en.txt")),
            Self::German => ("de", A::German, include_str!("stop_words/de.txt")),
            Self::French => ("fr", A::French, include_str!("stop_words/fr.txt")),
            Self::Spanish => ("es", A::Spanish, include_str!("stop_words/es.txt")),
            Self::Italian => ("it", A::Italian, include_str!("stop_words/it.txt")),
            Self::Portuguese => ("pt", A::Portuguese, include_str!("stop_words/pt.txt")),
            Self::Dutch => ("nl", A::Dutch, include_str!("stop_words/nl.txt")),
            Self::Swedish => ("sv", A::Swedish, include_str!("stop_words/sv.txt")),
            Self::Danish => ("da", A::Danish, include_str!("stop_words/da.txt")),
            Self::Norwegian => ("no", A::Norwegian, include_str!("stop_words/no.txt")),
            Self::Finnish => ("fi", A::Finnish, include_str!("stop_words/fi.txt")),
            Self::Polish => ("pl", A::Polish, include_str!("stop_words/pl.txt")),
            Self::Hungarian => ("hu", A::Hungarian, include_str!("stop_words/hu.txt")),
            Self::Romanian => ("ro", A::Romanian, include_str!("stop_words/ro.txt")),
            Self::Russian => ("ru", A::Russian, include_str!("stop_words/ru.txt")),
            Self::Turkish => ("tr", A::Turkish, include_str!("stop_words/tr.txt")),
            Self::Arabic => ("ar", A::Arabic, include_str!("stop_words/ar.txt")),
            Self::Greek => ("el", A::Greek, include_str!("stop_words/el.txt")),
            Self::Hindi => ("hi", A::Hindi, include_str!("stop_words/hi.txt")),
            Self::Tamil => ("ta", A::Tamil, include_str!("stop_words/ta.txt")),
            Self::Indonesian => ("id", A::Indonesian, include_str!("stop_words/id.txt")),
            Self::Catalan => ("ca", A::Catalan, include_str!("stop_words/ca.txt")),
            Self::Serbian => ("sr", A::Serbian, include_str!("stop_words/sr.txt")),
            Self::Lithuanian => ("lt", A::Lithuanian, include_str!("stop_words/lt.txt")),
            Self::Estonian => ("et", A::Estonian, include_str!("stop_words/et.txt")),
            Self::Irish => ("ga", A::Irish, include_str!("stop_words/ga.txt")),
            Self::Basque => ("eu", A::Basque, include_str!("stop_words/eu.txt")),
            Self::Armenian => ("hy", A::Armenian, include_str!("stop_words/hy.txt")),
            Self::Nepali => ("ne", A::Nepali, include_str!("stop_words/ne.txt")),
            Self::Yiddish => ("yi", A::Yiddish, include_str!("stop_words/yi.txt")),
            Self::Esperanto => ("eo", A::Esperanto, include_str!("stop_words/eo.txt")),
        }
    }

    /// Whether words are joined to new ones without a sign.
    pub(crate) fn joins_words(self) -> bool {
        matches!(
            self,
            Self::German
                | Self::Dutch
                | Self::Swedish
                | Self::Danish
                | Self::Norwegian
                | Self::Finnish
                | Self::Estonian
                | Self::Hungarian
        )
    }

    /// Its ISO 639-1 code.
    pub(crate) fn code(self) -> &'static str {
        self.facts().0
    }

    /// The language with a code; English when there is none.
    pub(crate) fn from_code(code: &str) -> Self {
        let known = Self::ALL
            .into_iter()
            .find(|language| language.code() == code);
        known.unwrap_or(Self::English)
    }

    /// The words that say nothing, between white space.
    pub(super) fn stop_words(self) -> &'static str {
        self.facts().2
    }

    /// The stem of `word`, which is in lower case.
    pub(super) fn stem(self, word: &str) -> Cow<'_, str> {
        Stemmer::create(self.facts().1).stem(word)
    }

    /// The language most likely written in the script of `character`, where a
    /// script tells.
    fn of_script(character: char) -> Option<Self> {
        match character {
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Self::Greek),
            '\u{400}'..='\u{52f}' => Some(Self::Russian),
            '\u{530}'..='\u{58f}' => Some(Self::Armenian),
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Some(Self::Arabic),
            '\u{900}'..='\u{97f}' => Some(Self::Hindi),
            '\u{b80}'..='\u{bff}' => Some(Self::Tamil),
            _ => None,
        }
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

    /// Whether `language` is in it.
    pub(crate) fn contains(self, language: Language) -> bool {
        self.0 & 1 << language as u8 != 0
    }

    /// Its members.
    pub(crate) fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL
            .into_iter()
            .filter(move |&language| self.contains(language))
    }
}

/// Words looked at to tell a text's language: a page has shown it by then.
const WORDS: usize = 500;

/// What tells the language of a text: stop words seen, by language, and in what
/// script words are.
///
/// Not the trigrams of letters that language detectors count: between names,
/// paths and code these take a note of a dozen words for any language.
#[derive(Default)]
pub(super) struct Count {
    words: usize,
    stop_words: [usize; Language::ALL.len()],
    by_script: Option<Language>,
}

impl Count {
    pub(super) fn add(&mut self, word: &str) {
        self.words += 1;
        for language in stop_words::languages_of(word).iter() {
            self.stop_words[language as usize] += 1;
        }
        if self.by_script.is_none() {
            self.by_script = word.chars().next().and_then(Language::of_script);
        }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.words >= WORDS
    }

    /// The first of the languages with most stop words; where there are none,
    /// the one that is most often in the script.
    pub(super) fn language(&self) -> Language {
        let most = self.stop_words.iter().max().copied().unwrap_or_default();
        let counts = Language::ALL.into_iter().zip(self.stop_words);
        let first = counts
            .filter(|(_, count)| *count == most && most > 0)
            .map(|(language, _)| language)
            .next();
        first.or(self.by_script).unwrap_or(Language::English)
    }
}
