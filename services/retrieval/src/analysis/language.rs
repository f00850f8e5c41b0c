//! The languages whose words are stemmed.

use std::borrow::Cow;

use pagefind_stem::{Algorithm, Stemmer};

use super::stop_words;

/// Defines the languages: a name, its ISO 639-1 code, and the file of its stop
/// words, which has the code's name. The stemmer has the language's.
macro_rules! languages {
    ($($name:ident $code:literal,)*) => {
        /// A language with stop words and a Snowball stemmer.
        ///
        /// In this order: of languages that a text is equally likely in, the
        /// first. The numbers are those of the bits that segments keep.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Language {
            $($name,)*
        }

        impl Language {
            pub(super) const ALL: [Self; [$($code),*].len()] = [$(Self::$name,)*];

            fn facts(self) -> Facts {
                match self {
                    $(Self::$name => (
                        $code,
                        Algorithm::$name,
                        include_str!(concat!("stop_words/", $code, ".txt")),
                    ),)*
                }
            }
        }
    };
}

// English is also what nothing else is known of; Serbian is with Croatian and
// Bosnian, in both scripts.
#[rustfmt::skip]
languages! {
    English "en", German "de", French "fr", Spanish "es", Italian "it", Portuguese "pt", Dutch "nl",
    Swedish "sv", Danish "da", Norwegian "no", Finnish "fi", Polish "pl", Hungarian "hu",
    Romanian "ro", Russian "ru", Turkish "tr", Arabic "ar", Greek "el", Hindi "hi", Tamil "ta",
    Indonesian "id", Catalan "ca", Serbian "sr", Lithuanian "lt", Estonian "et", Irish "ga",
    Basque "eu", Armenian "hy", Nepali "ne", Yiddish "yi", Esperanto "eo",
}

/// What is known of a language: its code, how its words are stemmed, and the words
/// of it that say nothing.
type Facts = (&'static str, Algorithm, &'static str);

impl Language {
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

    /// The stems of verbs of which `word` may be a form that the stemmer leaves
    /// apart: in German "erntet", "geerntet" and "abgeholt" are of "ernt" and
    /// "abhol".
    pub(crate) fn roots(self, word: &str) -> Vec<String> {
        if self != Self::German {
            return Vec::new();
        }
        let prefixes = PREFIXES.iter();
        let participles = prefixes.filter_map(|prefix| {
            let form = word.strip_prefix(*prefix)?.strip_prefix("ge")?;
            Some(format!("{prefix}{form}"))
        });
        let forms = participles.chain([word.to_owned()]);
        let bare = |form: String| {
            let bare = VERBS.iter().filter_map(|ending| form.strip_suffix(ending));
            let long = bare.filter(|root| root.chars().count() >= ROOT);
            let stems = long.map(|root| super::stem(root, self).into_owned());
            stems.collect::<Vec<_>>()
        };
        forms.flat_map(bare).collect()
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

/// The fewest letters of what a verb is made of.
const ROOT: usize = 3;
/// What verbs end with in German, in forms that are not stemmed.
const VERBS: [&str; 5] = ["t", "et", "st", "te", "ten"];
/// What stands before "ge" in German participles; nothing does too.
const PREFIXES: [&str; 18] = [
    "", "ab", "an", "auf", "aus", "bei", "ein", "fest", "her", "hin", "los", "mit", "nach", "vor",
    "weg", "zu", "zurück", "um",
];

/// A set of languages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Languages(u64);

impl Languages {
    /// The set with `language` in it.
    pub(crate) fn with(self, language: Language) -> Self {
        Self(self.0 | 1 << language as u8)
    }

    /// All there are.
    pub(crate) fn all() -> Self {
        Language::ALL.into_iter().fold(Self::default(), Self::with)
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

/// What words end with in a language, and in no other that notes are often in.
#[rustfmt::skip]
const ENDINGS: [(Language, &[&str]); 3] = [
    (Language::German, &["ung", "ungen", "keit", "heit", "schaft", "lich", "isch", "ß", "ä", "ö", "ü"]),
    (Language::French, &["eur", "euse", "ière", "eux", "ement", "ée", "ées", "ç", "è", "ê"]),
    (Language::Spanish, &["ción", "ciones", "dad", "miento", "ería", "ñ", "ó", "í", "ú"]),
];
/// So many stop words may be words of another language.
const FEW: usize = 1;
/// Shorter endings are letters that are anywhere in a word.
const ENDING: usize = 2;

/// What tells the language of a text: stop words seen, by language, where there
/// are none what words end with, and in what script they are.
///
/// Not the trigrams of letters that language detectors count: between names,
/// paths and code these take a note of a dozen words for any language.
#[derive(Default)]
pub(super) struct Count {
    words: usize,
    stop_words: [usize; Language::ALL.len()],
    endings: [usize; ENDINGS.len()],
    by_script: Option<Language>,
}

impl Count {
    pub(super) fn add(&mut self, word: &str) {
        self.words += 1;
        for language in stop_words::languages_of(word).iter() {
            self.stop_words[language as usize] += 1;
        }
        for (count, (_, endings)) in self.endings.iter_mut().zip(ENDINGS) {
            let has = |ending: &&str| {
                let is_letter = ending.chars().count() < ENDING;
                word.ends_with(*ending) || (is_letter && word.contains(*ending))
            };
            *count += usize::from(endings.iter().any(has));
        }
        if self.by_script.is_none() {
            self.by_script = word.chars().next().and_then(Language::of_script);
        }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.words >= WORDS
    }

    /// Of `languages` the first with most stop words; where there are next to
    /// none, what words end with, or the script.
    pub(super) fn language(&self, languages: Languages) -> Language {
        let counts = Language::ALL.into_iter().zip(self.stop_words);
        let by_words = counts
            .filter(|(language, count)| *count > 0 && languages.contains(*language))
            // The first of equals, which max_by_key is not.
            .rev()
            .max_by_key(|(_, count)| *count);
        let endings = ENDINGS.iter().zip(self.endings);
        let by_endings = endings
            .map(|((language, _), count)| (*language, count))
            .max_by_key(|(_, count)| *count)
            // Beside a stop word one word alone tells nothing.
            .filter(|(_, count)| *count > by_words.map_or(0, |(_, words)| words.max(1)));
        let best = match by_words {
            Some((_, words)) if words > FEW => by_words,
            _ => by_endings.or(by_words),
        };
        let best = best.map(|(language, _)| language);
        best.or(self.by_script).unwrap_or(Language::English)
    }
}
