//! What forms of verbs are made of.

use super::language::Language;
use super::terms::stem;

/// The fewest letters of what a verb is made of.
const ROOT: usize = 3;
/// What verbs end with in German, in forms that are not stemmed.
const VERBS: [&str; 5] = ["t", "et", "st", "te", "ten"];
/// What stands before "ge" in German participles; nothing does too.
const PREFIXES: [&str; 18] = [
    "", "ab", "an", "auf", "aus", "bei", "ein", "fest", "her", "hin", "los", "mit", "nach", "vor",
    "weg", "zu", "zurück", "um",
];

impl Language {
    /// The stems of verbs of which `word` may be a form that the stemmer leaves
    /// apart: in German "erntet", "geerntet" and "abgeholt" are of "ernt" and
    /// "abhol", in French "exposons" is of "expos", and in English who "tunes" is a
    /// "tuner".
    pub fn roots(self, word: &str) -> Vec<String> {
        match self {
            Self::German => german(word),
            Self::French => french(word),
            Self::English => english(word),
            _ => Vec::new(),
        }
    }
}

/// What English verbs end with, and what stands in its place where somebody does it.
const ENGLISH: [(&str, &str); 6] = [
    ("es", "er"),
    ("s", "er"),
    ("s", "r"),
    ("ed", "er"),
    ("ing", "er"),
    ("ed", "or"),
];

fn english(word: &str) -> Vec<String> {
    let doers = ENGLISH.iter().filter_map(|(ending, doer)| {
        let bare = word.strip_suffix(ending)?;
        (bare.len() >= ROOT).then(|| format!("{bare}{doer}"))
    });
    let stems = doers.map(|doer| stem(&doer, Language::English).into_owned());
    stems.collect()
}

/// What French verbs end with where the stemmer leaves it.
const FRENCH: [&str; 6] = ["erons", "erez", "eront", "ons", "ez", "ent"];

fn french(word: &str) -> Vec<String> {
    let bare = FRENCH.iter().find_map(|ending| word.strip_suffix(ending));
    let long = bare.filter(|root| root.chars().count() >= ROOT);
    long.map(|root| stem(root, Language::French).into_owned())
        .into_iter()
        .collect()
}

fn german(word: &str) -> Vec<String> {
    let prefixes = PREFIXES.iter();
    let participles = prefixes.filter_map(|prefix| {
        let form = word.strip_prefix(*prefix)?.strip_prefix("ge")?;
        Some(format!("{prefix}{form}"))
    });
    let forms = participles.chain([word.to_owned()]);
    let bare = |form: String| {
        let bare = VERBS.iter().filter_map(|ending| form.strip_suffix(ending));
        let long = bare.filter(|root| root.chars().count() >= ROOT);
        let stems = long.map(|root| stem(root, Language::German).into_owned());
        stems.collect::<Vec<_>>()
    };
    forms.flat_map(bare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_it_is_found_by_what_is_done() {
        let is_root = |word: &str, doer: &str| {
            let doer = stem(doer, Language::English).into_owned();
            Language::English.roots(word).contains(&doer)
        };
        for (word, doer) in [
            ("tunes", "tuner"),
            ("teaches", "teacher"),
            ("painting", "painter"),
            ("baked", "baker"),
        ] {
            assert!(is_root(word, doer), "{word}");
        }
        assert!(!is_root("tea", "tear") && !is_root("his", "hier"));
    }
}
