//! What somebody must not eat or drink: a note that tells it says what they do not tolerate.

use super::language::{Language, Languages};
use super::lexicon::{Origin, related};

/// By language, words of eating and drinking, and what says that something is not, or must not be.
const ASKED: [(Language, &str, &str); 4] = [
    (
        Language::English,
        "eat eats eating drink drinks drinking food meal have given give put",
        "not never can't cannot don't doesn't mustn't shouldn't forbidden avoid without",
    ),
    (
        Language::German,
        "essen isst esse trinken trinkt trinke",
        "nicht kein keine keinen nie niemals verboten meiden",
    ),
    (
        Language::French,
        "mange manger mangent boire boit",
        "pas jamais interdit interdite éviter sans",
    ),
    (
        Language::Spanish,
        "come comer comen beber bebe dar",
        "no nunca jamás prohibido prohibida evitar sin",
    ),
];
/// The same in Japanese, within a word.
const NOT_IN: [&str; 7] = ["いけない", "だめ", "ダメ", "駄目", "られない", "禁", "避け"];
const EATING_IN: [&str; 3] = ["食べ", "飲", "食事"];
/// What is asked for by it, by language.
const INTOLERANCE: [(Language, &str); 4] = [
    (Language::English, "allergic"),
    (Language::German, "allergie"),
    (Language::French, "allergie"),
    (Language::Spanish, "alergia"),
];

/// Whether `text`, in `language`, asks what somebody must not eat or drink: a note that answers
/// tells of what they do not tolerate.
pub fn asks_of_intolerance(text: &str, language: Language) -> bool {
    let has_in = |list: &[&str]| list.iter().any(|one| text.contains(one));
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words: Vec<&str> = words.collect();
    let has = |list: &str| list.split_whitespace().any(|one| words.contains(&one));
    let asked = ASKED.iter().find(|(of, _, _)| *of == language);
    asked.is_some_and(|(_, eating, not)| has(eating) && has(not))
        || (has_in(&EATING_IN) && has_in(&NOT_IN))
}

/// Whether `word`, in lower case, is one of eating or drinking in `language`.
pub fn is_eating(word: &str, language: Language) -> bool {
    let mut asked = ASKED.iter().filter(|(of, _, _)| *of == language);
    asked.any(|(_, eating, _)| eating.split_whitespace().any(|one| one == word))
}

/// Calls `sink` with terms for what somebody does not tolerate, as [`related`] does.
pub fn intolerance(language: Language, languages: Languages, sink: impl FnMut(&str, Origin)) {
    let known = INTOLERANCE.iter().find(|(of, _)| *of == language);
    let (language, word) = known.unwrap_or(&INTOLERANCE[0]);
    related(word, *language, languages, sink);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intolerance_is_asked_for_by_what_is_not_eaten() {
        for (language, text) in [
            (Language::English, "What can't Rosalind eat?"),
            (Language::German, "Was sollte Detlef nie trinken?"),
            (Language::French, "Qu'est-ce que Maud ne mange pas ?"),
            (Language::Spanish, "¿Qué no puede comer Iker?"),
            (Language::English, "直人が飲んではいけないものは?"),
        ] {
            assert!(asks_of_intolerance(text, language), "{text}");
        }
        for text in [
            "What does Rosalind eat?",
            "Why can't Rosalind come?",
            "直人は何を飲む?",
            "直人はなぜ行かれないの? 禁",
        ] {
            assert!(!asks_of_intolerance(text, Language::English), "{text}");
        }
        assert!(is_eating("trinken", Language::German) && !is_eating("fahren", Language::German));
        assert!(!is_eating("come", Language::English) && is_eating("come", Language::Spanish));
    }

    #[test]
    fn intolerance_has_words_of_every_language() {
        let languages = Languages::default()
            .with(Language::German)
            .with(Language::French);
        let mut terms = Vec::new();
        intolerance(Language::German, languages, |term, of| {
            terms.push((term.to_owned(), of))
        });
        let has = |term: &str, of| terms.iter().any(|(other, its)| other == term && *its == of);
        assert!(has("allergi", Origin::Own), "{terms:?}");
        assert!(
            has("allerg", Origin::Other(Some(Language::French))),
            "{terms:?}"
        );
    }
}
