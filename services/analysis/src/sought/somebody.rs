//! Who somebody is: whether a sentence names one, tells a trade, or a day of birth.

use super::super::doing::is_doing;
use super::super::kin::kin;
use super::super::language::Language;
use super::super::lexicon::{has_word, is_frame, is_trade};
use super::super::traits::{Traits, facts};
use super::{DAYS, Token, is_name, is_number, tokens};

/// Whether it says of somebody that they are something: "Emre ist Goldschmied", "Piet is a
/// plumber", "Yann est menuisier".
pub(super) fn is_of_trade(sentence: &str, is_asked: impl Fn(&str) -> bool) -> bool {
    const IS: [&str; 12] = [
        "is", "was", "as", "ist", "war", "als", "est", "était", "comme", "es", "era", "de",
    ];
    const ARTICLES: [&str; 6] = ["a", "an", "ein", "eine", "un", "une"];
    const ENDS: [&str; 14] = [
        "eur", "euse", "ier", "ière", "ien", "ienne", "iste", "ista", "ero", "era", "or", "ora",
        "ogo", "oga",
    ];
    let tokens = tokens(sentence, is_asked);
    // "married to Owen Pritchard, a glazier".
    let is_beside = tokens.windows(3).any(|beside| {
        let [called, article, word] = beside else {
            return false;
        };
        is_name(called)
            && called.is_last
            && ARTICLES.contains(&article.text)
            && !word.is_asked
            && !is_number(word)
    });
    if is_beside {
        return true;
    }
    let is = |token: &Token<'_>| IS.contains(&token.text);
    let mut after = tokens.iter();
    while after.any(is) {
        let mut next = after.clone();
        let first = next.next();
        let is_article = first.is_some_and(|it| ARTICLES.contains(&it.text));
        let Some(word) = (if is_article { next.next() } else { first }) else {
            return false;
        };
        let ends = || ENDS.iter().any(|end| word.text.ends_with(end));
        let is_noun = is_article || word.is_capital || ends();
        if is_noun && !word.is_asked && !is_number(word) && !facts(word.text).meets(DAYS) {
            return true;
        }
    }
    false
}

/// Whether one of `tokens` may name somebody: the first has a capital whatever it is, and in German
/// so have all nouns, those with an article before them and those that notes know.
pub(super) fn names_somebody(tokens: &[Token<'_>], language: Language) -> bool {
    let is_common = |at: usize, token: &Token<'_>| {
        let lower = token.text.to_lowercase();
        // "Got the sofa", "Full choir on Fridays".
        let next = tokens.get(at + 1);
        let is_before_asked = || next.is_some_and(|it| it.is_asked && !it.is_capital);
        let is_word = at == 0
            && !token.is_last
            && (is_frame(&lower) || is_doing(&lower, language) || is_before_asked());
        let is_noun = || {
            let before = at.checked_sub(1).map(|at| tokens[at].text.to_lowercase());
            let is_determined = before.is_some_and(|it| GERMAN_ARTICLES.contains(&it.as_str()));
            let is_doer = GERMAN_DOERS.iter().any(|end| lower.ends_with(end));
            let is_person = is_doer || is_trade(&lower, language) || !kin(&lower).is_empty();
            !is_person && (is_determined || has_word(&lower, language))
        };
        is_word || (language == Language::German && is_noun())
    };
    let mut named = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| is_name(token));
    named.any(|(at, token)| !is_common(at, token))
}

/// What words for somebody end with.
const GERMAN_DOERS: [&str; 5] = ["er", "in", "or", "ist", "ent"];
/// Before a noun that is no name.
const GERMAN_ARTICLES: [&str; 12] = [
    "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "zur",
];

/// Whether a word of it is what somebody is by trade: "Gwen, part-time bookkeeper".
pub(super) fn names_trade(lower: &str, language: Language) -> bool {
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| !word.is_empty() && is_trade(word, language))
}

/// Whether it is a list's day of a birth, by whom it is of: "Mom: June 29, 1951".
pub(super) fn is_born(sentence: &str, is_asked: impl Fn(&str) -> bool) -> bool {
    const CENTURIES: [&str; 2] = ["19", "20"];
    let Some((who, day)) = sentence.split_once([':', '：']) else {
        return false;
    };
    let mut end = 0;
    let is_year = |it: &str| it.len() == 4 && CENTURIES.iter().any(|c| it.starts_with(c));
    let has_years = day.split(|c: char| !c.is_ascii_digit()).any(|it| {
        end = it.as_ptr() as usize - day.as_ptr() as usize + it.len();
        is_year(it)
    });
    let day = &day[..end];
    let is_of_whom = tokens(who, is_asked).iter().any(|token| token.is_asked);
    let has_words = day
        .split(|c: char| !c.is_alphabetic())
        .filter(|it| it.len() > 1)
        .count()
        > 2;
    has_years && is_of_whom && !has_words && facts(day).meets(Traits::DATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_named_by_no_first_word_and_no_common_noun() {
        let names = |text: &str, language| {
            let tokens = tokens(text, |word| word == "choir");
            names_somebody(&tokens, language)
        };
        assert!(names("Yusuf leads the choir", Language::English));
        assert!(names("Schwiegermutter hat ihn", Language::German));
        assert!(!names("Got it in the sale", Language::English));
        assert!(!names("Full choir on Fridays", Language::English));
        assert!(!names("Die Dichtung ist spröde", Language::German));
    }

    #[test]
    fn somebody_is_as_old_as_a_day_of_birth_tells() {
        let is_asked = |word: &str| word == "Mom";
        assert!(is_born("- Mom: June 29, 1951", is_asked));
        assert!(is_born("- Mom: 28 novembre 1950, collectionne", is_asked));
        assert!(!is_born("- Mom: June 29", is_asked));
        assert!(!is_born("- Dad: June 29, 1951", is_asked));
    }
}
