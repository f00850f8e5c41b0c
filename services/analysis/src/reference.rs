//! Words that mean somebody or something named before.

/// Who was named before is meant with these.
const REFERRING: &str = "he she him her his hers it its they them their er sie ihn ihm ihr ihre ihren sein seine seinen seiner seinem ihrer ihrem es il elle \
    ils elles lui leur sa ses son leurs él ella ellos ellas su sus le les";

/// The next of what was spoken of before.
const NEXT: &str = "next nächste nächster nächstes prochain prochaine próximo próxima siguiente danach afterwards ensuite después";

/// Whether a word of `text` means somebody or something named before.
pub(super) fn refers(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(is_referring)
}

/// Whether `text` begins with what means something named before: "She …", "The
/// next …".
pub fn refers_back(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty()).take(2);
    let is_next = |word: &str| {
        let lower = word.to_lowercase();
        NEXT.split_whitespace().any(|other| other == lower)
    };
    let first = words.next().unwrap_or_default();
    is_referring(first)
        || is_next(first)
        || words.next().is_some_and(is_next)
        || text.starts_with("次")
}

fn is_referring(word: &str) -> bool {
    let lower = word.to_lowercase();
    REFERRING.split_whitespace().any(|other| other == lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_what_points_back_is_told_by_its_first_words() {
        assert!(refers_back("The next is due in June") && refers_back("She left"));
        assert!(!refers_back("Bob said she left next"));
        assert!(refers("Bob said she left") && !refers("Bob left"));
    }
}
