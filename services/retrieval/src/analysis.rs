//! From text to terms: what is written in a document and what is asked for
//! become the same term when they mean the same word.
//!
//! NFKC, words and their parts, case folding, stop words, Snowball stems,
//! diacritics, and bigrams where a script has no spaces. Stop words and stems
//! are worth 11 points of nDCG over plain words on conversations.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

pub(crate) mod calendar;
mod fold;
mod language;
mod stop_words;
mod word;

pub(crate) use language::{Language, Languages};

/// Longer terms are encoded data that nobody searches for; in bytes.
const TERM_LIMIT: usize = 64;

/// Calls `sink` with every term of `text`, in order, stemmed as `language` and
/// without the words that say nothing in it.
pub(crate) fn terms(text: &str, language: Language, sink: impl FnMut(&str)) {
    terms_without(Languages::default().with(language), text, language, sink);
}

/// As [`terms`], without the stop words of all `stop_words`.
pub(crate) fn terms_without(
    stop_words: Languages,
    text: &str,
    language: Language,
    mut sink: impl FnMut(&str),
) {
    let text = composed(text);
    let mut folded = String::new();
    word::split(&text, |part| {
        folded.clear();
        match part {
            word::Part::Whole(whole) => fold::lowercase(whole, &mut folded),
            word::Part::Word(plain) => {
                fold::lowercase(plain, &mut folded);
                if stop_words.iter().any(|words| words.is_stop_word(&folded)) {
                    return;
                }
            }
            word::Part::Bigram(pair) => folded.push_str(pair),
        }
        if folded.is_empty() || folded.len() > TERM_LIMIT {
            return;
        }
        match part {
            word::Part::Word(_) => sink(&fold::without_accents(&language.stem(&folded))),
            word::Part::Whole(_) => sink(&fold::without_accents(&folded)),
            word::Part::Bigram(_) => sink(&folded),
        }
    });
}

/// The language most of the stop words in `text` belong to; English when there
/// are none.
pub(crate) fn language_of(text: &str) -> Language {
    let text = composed(text);
    let mut count = language::Count::default();
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
    count.language()
}

fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, language: Language) -> Vec<String> {
        let mut found = Vec::new();
        terms(text, language, |term| found.push(term.to_owned()));
        found
    }

    fn english(text: &str) -> Vec<String> {
        list(text, Language::English)
    }

    #[test]
    fn words_of_one_stem_are_one_term_and_stop_words_none() {
        assert_eq!(english("The runners were running"), ["runner", "run"]);
        assert_eq!(english("Running the run"), ["run", "run"]);
        assert!(english("Who am I, and what is it?").is_empty());
        assert_eq!(
            english("don't touch the user's cat"),
            ["touch", "user", "cat"]
        );
    }

    #[test]
    fn compatibility_forms_and_case_are_folded() {
        assert_eq!(english("ＦＵＬＬ ﬁle"), english("full file"));
        assert_eq!(english("Zürich"), english("Zurich"));
        assert_eq!(english("Zu\u{308}rich"), english("Zürich"));
        assert_eq!(
            list("Straße", Language::German),
            list("STRASSE", Language::German)
        );
    }

    #[test]
    fn identifiers_and_paths_keep_the_whole_beside_the_parts() {
        assert_eq!(
            english("services/memory/main.rs"),
            ["services/memory/main.rs", "servic", "memori", "main", "rs"]
        );
        assert_eq!(
            english("loadBootstrap"),
            ["loadbootstrap", "load", "bootstrap"]
        );
        assert_eq!(english("HTTPServer"), ["httpserver", "http", "server"]);
        assert_eq!(
            english("max_open_files"),
            ["max_open_files", "max", "open", "file"]
        );
        assert_eq!(english("std::fs"), ["std::fs", "std", "fs"]);
        assert_eq!(
            english("https://example.org"),
            ["https", "example.org", "exampl", "org"]
        );
        assert_eq!(english("2026-03-04 14:32"), ["2026-03-04", "2026", "14:32"]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_in_bigrams() {
        assert_eq!(english("東京都 at 1"), ["東京", "京都", "1"]);
        assert_eq!(english("猫"), ["猫"]);
        assert_eq!(english("GPUメモリ"), ["gpu", "メモ", "モリ"]);
    }

    #[test]
    fn the_language_is_known_by_its_stop_words() {
        assert_eq!(
            language_of("Ich habe die Wohnung nicht gemietet"),
            Language::German
        );
        assert_eq!(
            language_of("La clé est dans la boîte avec les autres"),
            Language::French
        );
        assert_eq!(
            language_of("El coche está en el taller desde ayer"),
            Language::Spanish
        );
        assert_eq!(language_of("The key is under the mat"), Language::English);
        assert_eq!(language_of("kernel 6.1"), Language::English);
        assert_eq!(
            list("Wohnungen", Language::German),
            list("der Wohnung", Language::German)
        );
    }

    #[test]
    fn encoded_data_is_no_term() {
        assert!(english(&"A1b2".repeat(40)).is_empty());
    }
}
