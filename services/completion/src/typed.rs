//! What was typed, as a shell writes it: words with quotes, the last of which may be open.

/// A word as it was typed, and what it says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) written: String,
    pub(crate) said: String,
    /// The quote that nothing ended, and where its inside begins in [`Self::written`].
    pub(crate) open: Option<(char, usize)>,
}

impl Word {
    /// What `written` says. Without a second quote everything behind the first is quoted.
    pub(crate) fn of(written: &str) -> Self {
        let mut words = words(written, |_| false);
        words.pop().unwrap_or_default()
    }

    /// What the beginning of it says, up to the byte `end`.
    pub(crate) fn said_before(&self, end: usize) -> String {
        Self::of(self.written.get(..end).unwrap_or_default()).said
    }
}

/// The words of `line`, the last of which is empty where a blank ends the line.
pub(crate) fn of_line(line: &str) -> Vec<Word> {
    words(line, |letter| letter.is_ascii_whitespace())
}

fn words(line: &str, ends_word: impl Fn(char) -> bool) -> Vec<Word> {
    let mut words = vec![Word::default()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let count = words.len();
        let Some(word) = words.last_mut() else { break };
        if word.open.is_none() && ends_word(letter) {
            // Blanks that follow one another are one end.
            if count == 1 || !word.written.is_empty() {
                words.push(Word::default());
            }
            continue;
        }
        word.written.push(letter);
        match (word.open, letter) {
            (Some((quote, _)), _) if quote == letter => word.open = None,
            (Some(('\'', _)), _) => word.said.push(letter),
            (Some(_), '\\') => match letters.next() {
                Some(next) => {
                    if !matches!(next, '"' | '\\' | '$' | '`') {
                        word.said.push(letter);
                    }
                    word.written.push(next);
                    word.said.push(next);
                }
                None => word.said.push(letter),
            },
            (Some(_), _) => word.said.push(letter),
            (None, '\'' | '"') => word.open = Some((letter, word.written.len())),
            (None, '\\') => {
                if let Some(next) = letters.next() {
                    word.written.push(next);
                    word.said.push(next);
                }
            }
            (None, _) => word.said.push(letter),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart_as_a_shell_does() {
        for (line, expected) in [
            ("", &[""][..]),
            ("x", &["x"]),
            ("x ", &["x", ""]),
            ("x  a\t b", &["x", "a", "b"]),
            (r#"x "a b"c 'd "e'"#, &["x", "a bc", "d \"e"]),
            (r"x a\ b\\ \'", &["x", "a b\\", "'"]),
            (r#"x "a \" \x $"#, &["x", "a \" \\x $"]),
            (r"x 'a \", &["x", r"a \"]),
            ("x ''", &["x", ""]),
            ("größe \"日 本", &["größe", "日 本"]),
        ] {
            let said: Vec<String> = of_line(line).into_iter().map(|word| word.said).collect();
            assert_eq!(said, expected, "{line}");
        }
    }

    #[test]
    fn quotes_that_nothing_ended_are_known() {
        assert_eq!(Word::of("--a=\"b c").open, Some(('"', 5)));
        assert_eq!(Word::of("--a=\"b c").said, "--a=b c");
        assert_eq!(Word::of("it\\'s 'x'").open, None);
        assert_eq!(Word::of("a:\"b:c").said_before(2), "a:");
    }
}
