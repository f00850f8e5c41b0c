//! Options as getopt_long(3) reads them, also after and between other words.

use super::super::command::Word;
use super::is_settled;

/// Options of a program, separated by blanks: `-ab` two letters, `-cd:` two
/// letters that take a value, `-e?` one whose value is written in the same
/// word or not at all, `--name`, `--name=`, `--name?` likewise, `-#` a number.
///
/// Long names count as they are here alone: which abbreviations are unambiguous
/// depends on the release of the program.
pub(super) struct Options(pub(super) &'static str);

/// What stands after a program's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// Names of files that are read.
    Any,
    /// One such name at most: a second is written.
    One,
    /// A format, which begins with a `+`: anything else is a value to be set.
    Format,
}

/// Where an option's value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// It has none.
    Absent,
    /// In the same word or in the next.
    Required,
    /// In the same word or nowhere.
    Optional,
}

/// How much an option takes up.
#[derive(Debug, PartialEq, Eq)]
enum Extent {
    ThisWord,
    NextWordToo,
}

impl Options {
    /// The first of `words` that is an option which is not here, or a word that
    /// `operands` do not allow. `None` for `operands`: no word that is not an
    /// option matters, neither do patterns.
    pub(super) fn refused<'a>(
        &self,
        words: &'a [Word],
        operands: Option<Operands>,
    ) -> Option<&'a Word> {
        let mut rest = words.iter();
        let mut are_over = false;
        let mut count = 0;
        while let Some(word) = rest.next() {
            let is_option = !are_over && word.text.starts_with('-') && word.text != "-";
            let may_be_either = word.is_pattern && operands.is_none();
            if !is_option || may_be_either {
                count += 1;
                if operands.is_some_and(|operands| !operands.allow(word, count, are_over)) {
                    return Some(word);
                }
            } else if word.text == "--" {
                are_over = true;
            } else {
                let is_fine = match self.extent(word) {
                    None => false,
                    Some(Extent::ThisWord) => true,
                    Some(Extent::NextWordToo) => rest.next().is_some_and(|value| {
                        operands.is_none_or(|operands| operands.allow_value(value))
                    }),
                };
                if !is_fine {
                    return Some(word);
                }
            }
        }
        None
    }

    /// How far the option reaches; `None` when it is not here.
    fn extent(&self, word: &Word) -> Option<Extent> {
        match word.text.strip_prefix("--") {
            Some(long) => self.extent_of_long(long, word.is_pattern),
            // A pattern that begins with letters may become other letters.
            None if word.is_pattern => None,
            None => self.extent_of_letters(word.text.strip_prefix('-')?),
        }
    }

    fn extent_of_long(&self, long: &str, is_pattern: bool) -> Option<Extent> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        // A pattern with the name before it becomes values of that option.
        if is_pattern && (value.is_none() || name.contains(['*', '?', '['])) {
            return None;
        }
        match (self.long(name)?, value) {
            (Value::Absent, Some(_)) => None,
            (Value::Required, None) => Some(Extent::NextWordToo),
            _ => Some(Extent::ThisWord),
        }
    }

    fn extent_of_letters(&self, letters: &str) -> Option<Extent> {
        let is_number = letters.chars().all(|c| c.is_ascii_digit());
        if is_number && self.0.split_whitespace().any(|entry| entry == "-#") {
            return Some(Extent::ThisWord);
        }
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            match self.letter(letter)? {
                Value::Absent => {}
                Value::Required if letters.as_str().is_empty() => return Some(Extent::NextWordToo),
                Value::Required | Value::Optional => return Some(Extent::ThisWord),
            }
        }
        Some(Extent::ThisWord)
    }

    fn letter(&self, letter: char) -> Option<Value> {
        let is_letter = letter.is_ascii_alphanumeric() || letter == '.';
        let mut entries = self.entries().filter(|(name, _)| !name.starts_with("--"));
        let found = entries.find(|(name, _)| is_letter && name.contains(letter));
        found.map(|(_, value)| value)
    }

    fn long(&self, long: &str) -> Option<Value> {
        let mut entries = self.entries();
        let found = entries.find(|(name, _)| name.strip_prefix("--") == Some(long));
        found.map(|(_, value)| value)
    }

    /// What is here, as it is written but for the mark of its value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.0.split_whitespace().map(|entry| {
            if let Some(name) = entry.strip_suffix([':', '=']) {
                (name, Value::Required)
            } else if let Some(name) = entry.strip_suffix('?') {
                (name, Value::Optional)
            } else {
                (entry, Value::Absent)
            }
        })
    }
}

impl Operands {
    /// Whether the `count`th word that is no option may be `word`.
    fn allow(self, word: &Word, count: usize, options_are_over: bool) -> bool {
        match self {
            Self::Any => options_are_over || is_settled(word),
            // A pattern may become several names.
            Self::One => count == 1 && !word.is_pattern,
            Self::Format => count == 1 && !word.is_pattern && word.text.starts_with('+'),
        }
    }

    /// Whether an option may have this value in a word of its own. One that
    /// looks like an option may be taken for it by another release.
    fn allow_value(self, value: &Word) -> bool {
        let text = value.text.as_str();
        let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let is_plain = text.strip_prefix('-').is_none_or(is_number);
        // A pattern may become a value and further words.
        is_plain && (!value.is_pattern || self == Self::Any && is_settled(value))
    }
}
