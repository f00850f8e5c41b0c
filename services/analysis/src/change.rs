//! Whether a text says that something is no longer as it was.

use super::terms::{Word, words};

/// Words that say so, in lower case.
const CHANGES: &str = "
now moved changed instead anymore postponed rescheduled corrected switched
jetzt nun statt stattdessen verschoben verlegt geändert umgestellt
désormais dorénavant maintenant repoussé repousse reporté reporte déplacé déplace changé
ahora movido mueve movió cambiado cambió aplazado aplazó retrasado";
/// What says so of several words, or where words are not parted.
const PHRASES: [&str; 13] = [
    "no longer",
    "nicht mehr",
    "au lieu de",
    "ne plus",
    "n'est plus",
    "en vez de",
    "ya no",
    "変わっ",
    "変わり",
    "変更",
    "延期",
    "今は",
    "今後は",
];

/// Whether `text` says that something has changed.
pub fn tells_change(text: &str) -> bool {
    let mut tells = false;
    words(text, |word| {
        if let Word::Plain(word) = word {
            tells |= CHANGES.split_whitespace().any(|change| change == word);
        }
    });
    let lower = text.to_lowercase();
    tells || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_by_words_of_every_language() {
        for text in [
            "Elektro Lund moved the wallbox to Tuesday",
            "no longer at the Swan",
            "Das Training ist jetzt montags statt mittwochs",
            "Le Goff repousse le début des travaux",
            "La profesora ha movido el depósito",
            "作業は12月2日に変わった",
        ] {
            assert!(tells_change(text), "{text}");
        }
        for text in ["I know her", "Die Statue im Park", "町内会の会費"] {
            assert!(!tells_change(text), "{text}");
        }
    }
}
