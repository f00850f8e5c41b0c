//! Verbs that say little of what is asked for: who "borrowed" a ladder is told by
//! a note that it was "given" to somebody. Those that name what is asked for
//! ("live", "cost", "marry") are not among them.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::fold;
use super::language::Language;
use super::terms::stem;

/// A line for each of [`LANGUAGES`].
const VERBS: &str = include_str!("lexicon/verbs.txt");
const LANGUAGES: [Language; 4] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
];

/// Whether `word`, in lower case, is such a verb in `language`.
pub fn is_doing(word: &str, language: Language) -> bool {
    static VERBS_OF: OnceLock<[HashSet<Box<str>>; LANGUAGES.len()]> = OnceLock::new();
    let verbs = VERBS_OF.get_or_init(|| {
        let mut lines = VERBS.lines();
        LANGUAGES.map(|language| {
            let words = lines.next().unwrap_or_default().split_whitespace();
            let stemmed = words.map(|word| {
                let mut folded = String::new();
                fold::lowercase(word, &mut folded);
                stem(&folded, language).into()
            });
            stemmed.collect()
        })
    });
    let number = LANGUAGES.iter().position(|&known| known == language);
    let is_known = |word: &str, number: usize| verbs[number].contains(&*stem(word, language));
    if language == Language::Spanish && is_infinitive(word) {
        return true;
    }
    number.is_some_and(|number| {
        is_known(word, number)
            || language
                .roots(word)
                .iter()
                .any(|root| is_known(root, number))
    })
}

/// The shortest word that is taken for a Spanish verb by its ending, in letters:
/// "hogar", "mujer" and the like are shorter.
const INFINITIVE: usize = 6;

fn is_infinitive(word: &str) -> bool {
    let ends = ["ar", "er", "ir"]
        .iter()
        .any(|ending| word.ends_with(ending));
    ends && word.chars().count() >= INFINITIVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_known_in_any_form() {
        for (word, language) in [
            ("borrowed", Language::English),
            ("taking", Language::English),
            ("exposons", Language::French),
            ("ranger", Language::French),
            ("guardan", Language::Spanish),
            ("cuesta", Language::Spanish),
            ("depositar", Language::Spanish),
        ] {
            assert!(is_doing(word, language), "{word}");
        }
        for (word, language) in [
            ("married", Language::English),
            ("ladder", Language::English),
            ("violon", Language::French),
            ("abuelo", Language::Spanish),
        ] {
            assert!(!is_doing(word, language), "{word}");
        }
    }
}
