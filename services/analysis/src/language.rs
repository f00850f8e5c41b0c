//! The languages whose words are stemmed.

use std::borrow::Cow;

use pagefind_stem::{Algorithm, Stemmer};

/// Defines the languages: a name, its ISO 639-1 code, and the file of its stop
/// words, which has the code's name. The stemmer has the language's.
macro_rules! languages {
    ($($name:ident $code:literal,)*) => {
        /// A language with stop words and a Snowball stemmer.
        ///
        /// In this order: of languages that a text is equally likely in, the
        /// first. The numbers are those of the bits that segments keep.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Language {
            $(
                #[doc = concat!("ISO 639-1: ", $code, ".")]
                $name,
            )*
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
    pub fn joins_words(self) -> bool {
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
    pub fn code(self) -> &'static str {
        self.facts().0
    }

    /// The language with a code; English when there is none.
    pub fn from_code(code: &str) -> Self {
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
    pub(super) fn of_script(character: char) -> Option<Self> {
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
pub struct Languages(u64);

impl Languages {
    /// The set with `language` in it.
    pub fn with(self, language: Language) -> Self {
        Self(self.0 | 1 << language as u8)
    }

    /// All there are.
    pub fn all() -> Self {
        Language::ALL.into_iter().collect()
    }

    /// The members of either.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of them that `others` has too.
    pub(super) fn among(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// As it is stored.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// What [`Languages::bits`] gave.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Whether `language` is in it.
    pub fn contains(self, language: Language) -> bool {
        self.0 & 1 << language as u8 != 0
    }

    /// Its members.
    pub fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL
            .into_iter()
            .filter(move |&language| self.contains(language))
    }
}

impl FromIterator<Language> for Languages {
    fn from_iter<I: IntoIterator<Item = Language>>(languages: I) -> Self {
        languages.into_iter().fold(Self::default(), Self::with)
    }
}
