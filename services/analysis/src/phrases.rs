//! Phrases in a text, as words.

use memchr::memchr_iter;

/// Where scripts that are written without spaces begin.
const SPACELESS: char = '\u{2e80}';

/// Whether one of `phrases`, which `|` is between, is in `text`.
pub(super) fn has(text: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| is_in(text, phrase))
}

/// Whether `phrase` is in `text`: "when" is not in "whenever". What is written without spaces is
/// anywhere.
fn is_in(text: &str, phrase: &str) -> bool {
    let Some(&first) = phrase.as_bytes().first() else {
        return false;
    };
    // A text is short and phrases are hundreds: to make a searcher for each takes longer than to
    // look at all the places where one may begin.
    memchr_iter(first, text.as_bytes())
        .filter(|&at| text.is_char_boundary(at) && text[at..].starts_with(phrase))
        .any(|at| is_at(text, phrase, at))
}

fn is_at(text: &str, phrase: &str, at: usize) -> bool {
    let is_edge = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    let begins = || is_edge(text[..at].chars().next_back()) || phrase.starts_with(['\'', '’']);
    let ends = || is_edge(text[at + phrase.len()..].chars().next());
    phrase.contains(|c| c >= SPACELESS) || (begins() && ends())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_words() {
        for (text, phrases) in [
            ("when is it?", "why|when"),
            ("whenever, or when", "when"),
            ("à quelle heure", "quelle heure"),
            ("車検はいつですか", "どこ|いつ"),
            ("it's ada's", "'s"),
            ("when", "when"),
        ] {
            assert!(has(text, phrases), "{text}: {phrases}");
        }
        for (text, phrases) in [
            ("whenever you like", "why|when"),
            ("somewhen", "when"),
            ("", "when"),
            ("wh", "when"),
            ("何", "いつ"),
            ("no phrase", ""),
        ] {
            assert!(!has(text, phrases), "{text}: {phrases}");
        }
    }
}
