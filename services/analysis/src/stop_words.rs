//! Words that say nothing of what a text is about.
//!
//! They are texts of the program, not lists of strings, which would be memory of
//! its own of every daemon that only waits.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::language::{Language, Languages};

/// For hashes of words the languages in which they say nothing.
type Table = HashMap<u64, Languages, BuildHasherDefault<Same>>;

/// The languages in which `word`, in lower case, says nothing of what a text is
/// about.
pub(super) fn languages_of(word: &str) -> Languages {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let found = TABLE.get_or_init(table).get(&xxh3_64(word.as_bytes()));
    found.copied().unwrap_or_default()
}

fn table() -> Table {
    let mut table = Table::default();
    for language in Language::ALL {
        for word in language.stop_words().split_whitespace() {
            let languages = table.entry(xxh3_64(word.as_bytes())).or_default();
            *languages = languages.with(language);
        }
    }
    table.shrink_to_fit();
    table
}

/// Hashes are their own hashes.
#[derive(Debug, Default)]
pub struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_languages() {
        let list = |word| languages_of(word).iter().collect::<Vec<_>>();
        assert_eq!(list("the"), [Language::English]);
        assert_eq!(list("nicht"), [Language::German]);
        assert!(list("die").contains(&Language::German));
        assert!(list("на").contains(&Language::Russian) && list("на").contains(&Language::Serbian));
        assert_eq!(list("zeppelin"), []);
    }

    #[test]
    fn stop_words_every_language_has_words_as_they_are_looked_up() {
        for language in Language::ALL {
            let words = language.stop_words();
            assert!(words.split_whitespace().count() > 50, "{language:?}");
            for word in words.split_whitespace() {
                let mut folded = String::new();
                super::super::fold::lowercase(word, &mut folded);
                assert_eq!(folded, word, "{language:?}");
                assert!(!word.contains(|c: char| c.is_ascii_punctuation()), "{word}");
            }
        }
    }
}
