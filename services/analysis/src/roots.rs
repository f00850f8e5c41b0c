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
    /// "abhol", in French "exposons" is of "expos", in Spanish "siembran" of "sembr", and in English
    /// who "tunes" is a "tuner".
    pub fn roots(self, word: &str) -> Vec<String> {
        match self {
            Self::German => german(word),
            Self::French => french(word),
            Self::English => english(word),
            Self::Spanish => spanish(word),
            _ => Vec::new(),
        }
    }
}

/// What French words for somebody end with, of a man and of a woman, where the stemmer leaves it.
const FRENCH_GENDERS: [(&str, &str); 3] = [("teur", "trice"), ("teur", "teuse"), ("eur", "euse")];
/// What German words for somebody end with, of a man.
const GERMAN_DOERS: [&str; 7] = ["er", "or", "ist", "ent", "ant", "arzt", "wirt"];
/// Shorter words are no words for somebody, in letters.
const SOMEBODY: usize = 5;

impl Language {
    /// The stems of the words for a woman or a man who is what `word` says of the other:
    /// "institutrice" of "instituteur", "Lehrerin" of "Lehrer".
    pub fn other_gender(self, word: &str) -> Vec<String> {
        if word.chars().count() < SOMEBODY {
            return Vec::new();
        }
        let with = |from: &str, to: &str| {
            let bare = word.strip_suffix(from)?;
            Some(format!("{bare}{to}"))
        };
        let words: Vec<String> = match self {
            Self::French => FRENCH_GENDERS
                .iter()
                .flat_map(|(his, her)| [with(his, her), with(her, his)])
                .flatten()
                .collect(),
            Self::German => {
                let is_his = GERMAN_DOERS.iter().any(|end| word.ends_with(end));
                let hers = is_his.then(|| format!("{}in", word.replace("arzt", "ärzt")));
                let his = with("in", "").map(|bare| bare.replace("ärzt", "arzt"));
                let his = his.filter(|bare| GERMAN_DOERS.iter().any(|end| bare.ends_with(end)));
                hers.into_iter().chain(his).collect()
            }
            _ => Vec::new(),
        };
        let stems = words.iter().map(|word| stem(word, self).into_owned());
        stems.collect()
    }

    /// The stems of what `word` may be cut short to: "fisio" of "fisioterapeuta".
    pub fn short_forms(self, word: &str) -> Vec<String> {
        const SHORTEST: usize = 4;
        const CUT: usize = 4;
        let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
        let ends: Vec<usize> = ends.collect();
        let cuts =
            (SHORTEST..ends.len().saturating_sub(CUT - 1)).map(|count| &word[..ends[count - 1]]);
        let short = cuts.filter(|short| short.ends_with(['o', 'i', 'é']));
        short.map(|short| stem(short, self).into_owned()).collect()
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

/// Vowels that change where they are stressed, in Spanish verbs.
const SPANISH: [(&str, &str); 3] = [("ie", "e"), ("ue", "o"), ("ue", "u")];

fn spanish(word: &str) -> Vec<String> {
    let root = stem(word, Language::Spanish).into_owned();
    if root.chars().count() < ROOT {
        return Vec::new();
    }
    let last = |vowels: &str| {
        // The vowel before the ending, with what is right before it.
        root.rfind(vowels)
            .filter(|at| *at > 0 && root.len() - at > vowels.len())
    };
    let with = |from: &str, to: &str| {
        let at = last(from)?;
        Some(format!("{}{to}{}", &root[..at], &root[at + from.len()..]))
    };
    let is_stressed = SPANISH.iter().any(|(changed, _)| last(changed).is_some());
    let forms = SPANISH.iter().filter_map(|(changed, plain)| {
        if is_stressed {
            with(changed, plain)
        } else {
            with(plain, changed)
        }
    });
    forms.collect()
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
    fn roots_who_is_called_otherwise_as_a_woman_is_found() {
        for (language, one, other) in [
            (Language::French, "instituteur", "institutrice"),
            (Language::French, "coiffeuse", "coiffeur"),
            (Language::German, "lehrer", "lehrerin"),
            (Language::German, "zahnärztin", "zahnarzt"),
            (Language::German, "zahnarzt", "zahnärztin"),
        ] {
            let other = stem(other, language).into_owned();
            assert!(language.other_gender(one).contains(&other), "{one}");
        }
        assert!(Language::German.other_gender("termin").is_empty());
        assert!(Language::French.other_gender("peur").is_empty());
    }

    #[test]
    fn vowels_of_spanish_verbs_change() {
        let roots = |word: &str| Language::Spanish.roots(word);
        for (word, other) in [
            ("siembran", "sembrar"),
            ("sembrar", "siembra"),
            ("duerme", "dormir"),
        ] {
            let other = stem(other, Language::Spanish).into_owned();
            assert!(roots(word).contains(&other), "{word}: {:?}", roots(word));
        }
        assert!(roots("sal").is_empty());
    }

    #[test]
    fn roots_long_words_are_cut_short_as_people_do() {
        let short = |word, language: Language| language.short_forms(word);
        let fisio = stem("fisio", Language::Spanish).into_owned();
        assert!(short("fisioterapeuta", Language::Spanish).contains(&fisio));
        let tele = stem("télé", Language::French).into_owned();
        assert!(short("télévision", Language::French).contains(&tele));
        // "Auto" is no bus.
        assert!(short("autobús", Language::Spanish).is_empty());
    }

    #[test]
    fn roots_who_does_it_is_found_by_what_is_done() {
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
