//! What may name somebody.

use super::sought::{is_name, is_spaceless, tokens};

/// What may name somebody in `sentence`, but for words that `is_asked` says are the question's:
/// words with a capital, and in Japanese what stands before 先生 and the like.
pub fn names(sentence: &str, is_asked: impl Fn(&str) -> bool) -> Vec<&str> {
    if is_spaceless(sentence) {
        let ends = TITLES
            .iter()
            .flat_map(|title| sentence.match_indices(title));
        let called = ends.filter_map(|(at, _)| {
            let before = &sentence[..at];
            let begin = before.rfind(|c: char| !is_written_out(c));
            let begin = begin.map_or(0, |begin| {
                begin + before[begin..].chars().next().map_or(0, char::len_utf8)
            });
            Some(&before[begin..]).filter(|name| !name.is_empty() && !is_asked(name))
        });
        return called.collect();
    }
    let tokens = tokens(sentence, is_asked);
    let called = tokens.iter().filter(|token| is_name(token));
    called.map(|token| token.text).collect()
}

/// Whether a word of [`names`] only stands before them: "Mme".
pub fn is_title(word: &str) -> bool {
    const BEFORE: [&str; 17] = [
        "mr", "mrs", "ms", "miss", "dr", "prof", "sir", "frau", "herr", "mme", "mlle", "m", "don",
        "doña", "señor", "señora", "sr",
    ];
    BEFORE.contains(&word.to_lowercase().as_str())
}

/// After names, in Japanese.
const TITLES: [&str; 6] = ["さん", "先生", "課長", "部長", "店長", "くん"];

/// Whether a character of Japanese is of those that names are written in.
fn is_written_out(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{30a1}'..='\u{30fc}' | '々')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_by_capitals_and_by_what_follows_them() {
        let found = |sentence| names(sentence, |word| word == "obra");
        assert_eq!(found("el jefe de obra es Damián"), ["Damián"]);
        assert_eq!(found("上司は大塚課長。"), ["大塚"]);
        assert_eq!(found("担当はゆり先生になった"), Vec::<&str>::new());
        assert!(found("on Monday, we eat").is_empty());
        assert!(is_title("Mme") && !is_title("Damián"));
    }
}
