//! Words as people say times and spans: split, and the numbers among them.

/// Numbers that have a word of their own.
const NUMBERS: [(&str, i64); 28] = [
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
];

/// The words of `text`, in small letters, without commas and articles that say nothing.
/// A number is a word of its own: `9am`, `24th` and `2h30m` are several.
pub(crate) fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace(['\u{2019}', '\''], "");
    let plain = text.split(|it: char| it.is_whitespace() || it == ',');
    let mut words = Vec::new();
    for word in plain {
        let word = word.strip_suffix('.').unwrap_or(word);
        let is_of = |known: &dyn Fn(char) -> bool| word.chars().all(known);
        if word.is_empty() || word == "the" {
            continue;
        } else if is_of(&|it| it.is_ascii_lowercase() || it == '.') {
            // `p.m.`
            words.push(word.replace('.', ""));
        } else if is_of(&|it| it.is_ascii_lowercase() || it == '-') {
            words.extend(word.split('-').map(str::to_owned));
        } else if is_of(&|it| it.is_ascii_alphanumeric() || it == ':') {
            let kinds = word
                .as_bytes()
                .chunk_by(|one, other| one.is_ascii_alphabetic() == other.is_ascii_alphabetic());
            words.extend(kinds.map(|it| String::from_utf8_lossy(it).into_owned()));
        } else {
            words.push(word.to_owned());
        }
    }
    words
}

/// The number of a word of digits.
pub(crate) fn digits(word: &str) -> Option<i64> {
    let is_number = !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| word.parse().ok()).flatten()
}

/// The number that `words` begin with, in digits or words, and how many of them it takes.
pub(crate) fn number(words: &[&str]) -> Option<(i64, usize)> {
    let first = words.first()?;
    if let Some(number) = digits(first) {
        return Some((number, 1));
    }
    let known = |word: &str| {
        let found = NUMBERS.iter().find(|(name, _)| *name == word);
        found.map(|(_, number)| *number)
    };
    let number = known(first).filter(|number| *number < 100)?;
    let after = words.get(1).and_then(|word| known(word));
    match after {
        Some(ones @ 1..10) if number >= 20 => Some((number + ones, 2)),
        Some(100) if number < 10 => Some((number * 100, 2)),
        _ => Some((number, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_where_numbers_are() {
        for (text, expected) in [
            ("Tomorrow at 9pm", "tomorrow|at|9|pm"),
            ("2h30m", "2|h|30|m"),
            ("the 24th of December, 2026", "24|th|of|december|2026"),
            ("9 p.m.", "9|pm"),
            ("Dec. 24", "dec|24"),
            ("nine o'clock", "nine|oclock"),
            ("twenty-five", "twenty|five"),
            ("America/Port-au-Prince", "america/port-au-prince"),
            ("2026-12-24T18:00", "2026-12-24t18:00"),
        ] {
            assert_eq!(words(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn number_is_read_of_digits_and_words() {
        for (text, expected) in [
            ("20", Some((20, 1))),
            ("nine", Some((9, 1))),
            ("twenty five", Some((25, 2))),
            ("nine thirty", Some((9, 1))),
            ("two hundred", Some((200, 2))),
            ("hundred", None),
            ("soon", None),
            ("", None),
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(number(&words), expected, "{text}");
        }
    }
}
