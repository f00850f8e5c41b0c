//! In which language a text is.

use super::language::{Language, Languages};
use super::stop_words;

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

/// An ending of one letter, which is anywhere in a word.
fn letter(ending: &str) -> Option<char> {
    let mut letters = ending.chars();
    let letter = letters.next()?;
    letters.next().is_none().then_some(letter)
}

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
            let has = |ending: &&str| match letter(ending) {
                Some(letter) => word.contains(letter),
                None => word.ends_with(*ending),
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
