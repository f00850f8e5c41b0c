//! A shell line taken apart, as far as it is simple: commands of plain words,
//! joined by `|`, `&&`, `||` and `;`. Everything else is refused: what a
//! redirection, a substitution or a keyword does cannot be told from words.

use std::iter::Peekable;
use std::str::Chars;

/// The words of one simple command.
pub(crate) type Words = Vec<Word>;

/// A word, quotation marks taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Whether the shell makes names of files of it.
    pub(crate) is_pattern: bool,
}

/// Words that are no commands but grammar (bash(1), RESERVED WORDS).
const RESERVED: [&str; 18] = [
    "!", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while",
];

/// Why a line is not simple.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotSimple {
    #[error("it has {0:?}, which can do anything")]
    Character(char),
    #[error("it has the shell's word {0:?}")]
    Word(String),
    #[error("it sets the variable in {0:?}")]
    Assignment(String),
    #[error("a quotation mark is not closed")]
    Unclosed,
    #[error("a command is missing")]
    Empty,
}

/// The simple commands of `line`, in order.
pub(crate) fn parse(line: &str) -> Result<Vec<Words>, NotSimple> {
    let mut parser = Parser {
        rest: line.chars().peekable(),
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
    };
    parser.run()?;
    if parser.commands.is_empty() {
        return Err(NotSimple::Empty);
    }
    parser.commands.iter().try_for_each(check)?;
    Ok(parser.commands)
}

fn check(words: &Words) -> Result<(), NotSimple> {
    let first = &words.first().ok_or(NotSimple::Empty)?.text;
    if RESERVED.contains(&first.as_str()) {
        return Err(NotSimple::Word(first.clone()));
    }
    if first.contains('=') {
        return Err(NotSimple::Assignment(first.clone()));
    }
    Ok(())
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    commands: Vec<Words>,
    words: Words,
    word: Option<Word>,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), NotSimple> {
        let mut after_operator = false;
        while let Some(c) = self.rest.next() {
            match c {
                ' ' | '\t' => self.end_word(),
                '#' if self.word.is_none() => {
                    // A comment: to the end of the line, and there is one line.
                    if self.rest.any(|c| c == '\n') {
                        return Err(NotSimple::Character('\n'));
                    }
                }
                ';' => {
                    self.end_command()?;
                    after_operator = false;
                    continue;
                }
                '|' | '&' => {
                    let doubled = self.rest.next_if_eq(&c).is_some();
                    if c == '&' && !doubled {
                        return Err(NotSimple::Character(c));
                    }
                    // `|&` is a redirection.
                    if self.rest.peek() == Some(&'&') {
                        return Err(NotSimple::Character('&'));
                    }
                    self.end_command()?;
                    after_operator = true;
                    continue;
                }
                _ => self.piece(c)?,
            }
            after_operator &= self.word.is_none() && self.words.is_empty();
        }
        self.end_word();
        match self.words.is_empty() {
            // A trailing `;` is fine, a trailing `&&` is not.
            true if after_operator => Err(NotSimple::Empty),
            true => Ok(()),
            false => self.end_command(),
        }
    }

    /// One character of a word, or a quoted part of it.
    fn piece(&mut self, c: char) -> Result<(), NotSimple> {
        match c {
            '\'' => self.quoted('\''),
            '"' => self.quoted('"'),
            '\\' => match self.rest.next() {
                Some('\n') | None => Err(NotSimple::Character('\\')),
                Some(c) => {
                    self.push(c);
                    Ok(())
                }
            },
            '$' | '`' | '<' | '>' | '(' | ')' | '{' | '}' | '\n' | '\r' | '\0' => {
                Err(NotSimple::Character(c))
            }
            c => {
                self.push(c);
                if matches!(c, '*' | '?' | '[') {
                    self.word.get_or_insert_default().is_pattern = true;
                }
                Ok(())
            }
        }
    }

    fn quoted(&mut self, mark: char) -> Result<(), NotSimple> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(NotSimple::Unclosed)? {
                c if c == mark => return Ok(()),
                // Between single marks nothing means anything.
                c @ ('$' | '`') if mark == '"' => return Err(NotSimple::Character(c)),
                '\\' if mark == '"' => {
                    let c = self.rest.next().ok_or(NotSimple::Unclosed)?;
                    if !matches!(c, '"' | '\\' | '$' | '`') {
                        self.push('\\');
                    }
                    self.push(c);
                }
                c => self.push(c),
            }
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) -> Result<(), NotSimple> {
        self.end_word();
        if self.words.is_empty() {
            return Err(NotSimple::Empty);
        }
        self.commands.push(std::mem::take(&mut self.words));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<String>> {
        let commands = parse(line).unwrap().into_iter();
        let texts = |words: Words| words.into_iter().map(|word| word.text).collect();
        commands.map(texts).collect()
    }

    #[test]
    fn quotes_and_operators() {
        assert_eq!(
            words("a 'b c'\"d\" \\e | f && g;h || i;"),
            [
                vec!["a", "b cd", "e"],
                vec!["f"],
                vec!["g"],
                vec!["h"],
                vec!["i"]
            ]
        );
        assert_eq!(words("echo ''"), [["echo", ""]]);
        assert_eq!(words("echo \"a\\n\\\"\""), [["echo", "a\\n\""]]);
        assert_eq!(words("ls # it; rm"), [["ls"]]);
    }

    #[test]
    fn what_is_not_simple_is_named() {
        assert_eq!(parse("a > b"), Err(NotSimple::Character('>')));
        assert_eq!(parse("a &"), Err(NotSimple::Character('&')));
        assert_eq!(parse("a |& b"), Err(NotSimple::Character('&')));
        assert_eq!(parse("a &&"), Err(NotSimple::Empty));
        assert_eq!(parse("; a"), Err(NotSimple::Empty));
        assert_eq!(parse("A=1 b"), Err(NotSimple::Assignment("A=1".to_owned())));
        assert_eq!(parse("'a"), Err(NotSimple::Unclosed));
        assert_eq!(parse("ls # a\nrm b"), Err(NotSimple::Character('\n')));
        assert_eq!(parse("while a"), Err(NotSimple::Word("while".to_owned())));
    }
}
