//! A shell line taken apart, as far as it is simple: commands of plain words,
//! joined by `|`, `&&`, `||` and `;`. Everything else is refused: what a
//! redirection, a substitution or a keyword does cannot be told from words.
//!
//! What is simple is so to bash and dash alike, in the C locale and in those
//! that write UTF-8.

use std::iter::Peekable;
use std::str::Chars;

/// The words of one simple command; there is at least one.
pub type Words = Vec<Word>;

/// A word, quotation marks taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// What the program is given, unless the word is a pattern.
    pub text: String,
    /// Whether the shell makes names of files of it.
    pub is_pattern: bool,
}

impl Word {
    /// A word that no shell expands.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_pattern: false,
        }
    }
}

/// Words that are no commands but grammar (bash(1), RESERVED WORDS).
pub(super) const RESERVED: [&str; 20] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// Why a line is not simple.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSimple {
    /// A character that does more than to stand in a word.
    #[error("it has {0:?}, with which a shell does more than run words")]
    Character(char),
    /// A word of the shell's grammar, or one that it takes for something
    /// other than the name of a program.
    #[error("it has the shell's word {0:?}")]
    Word(String),
    /// A variable is set.
    #[error("it sets the variable in {0:?}")]
    Assignment(String),
    /// A quotation mark has no partner.
    #[error("a quotation mark is not closed")]
    Unclosed,
    /// There is no command where one belongs.
    #[error("a command is missing")]
    Empty,
}

/// The simple commands of `line`, in order.
///
/// # Errors
/// When the line is not simple.
pub fn parse(line: &str) -> Result<Vec<Words>, NotSimple> {
    if let Some(c) = control(line) {
        return Err(NotSimple::Character(c));
    }
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
    parser.commands.iter().try_for_each(check_name)?;
    Ok(parser.commands)
}

/// The first control character apart from tabs. A line ends at a newline also
/// within a comment, a backslash takes it away also between quotation marks,
/// and bash marks characters with some of the others.
pub(super) fn control(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_control() && *c != '\t')
}

/// Whether a shell takes the first word for the name of a program.
fn check_name(words: &Words) -> Result<(), NotSimple> {
    let name = match words.first() {
        Some(name) if !name.text.is_empty() => &name.text,
        _ => return Err(NotSimple::Empty),
    };
    if name.contains('=') {
        return Err(NotSimple::Assignment(name.clone()));
    }
    // A line that begins with `-` or `+` is an option to the shell itself,
    // `%` begins a job, and bash reads `a[` on to `]`, whatever is between.
    let is_other = name.starts_with(['-', '+', '%']) || name.contains('[');
    if is_other || RESERVED.contains(&name.as_str()) {
        return Err(NotSimple::Word(name.clone()));
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
                // A comment, to the end of the only line.
                '#' if self.word.is_none() => break,
                ';' => {
                    self.end_command()?;
                    after_operator = false;
                    continue;
                }
                '|' | '&' => {
                    self.operator(c)?;
                    after_operator = true;
                    continue;
                }
                _ => self.piece(c)?,
            }
            after_operator &= self.word.is_none() && self.words.is_empty();
        }
        self.end_word();
        if !self.words.is_empty() {
            return self.end_command();
        }
        // A trailing `;` is fine, a trailing `&&` is not.
        if after_operator {
            return Err(NotSimple::Empty);
        }
        Ok(())
    }

    /// `|`, `||` or `&&`, of which `c` is the first character.
    fn operator(&mut self, c: char) -> Result<(), NotSimple> {
        let is_doubled = self.rest.next_if_eq(&c).is_some();
        if c == '&' && !is_doubled {
            return Err(NotSimple::Character(c));
        }
        // `|&` is a redirection.
        if self.rest.peek() == Some(&'&') {
            return Err(NotSimple::Character('&'));
        }
        self.end_command()
    }

    /// One character of a word, or a quoted part of it.
    fn piece(&mut self, c: char) -> Result<(), NotSimple> {
        match c {
            '\'' => self.quoted('\''),
            '"' => self.quoted('"'),
            '\\' => {
                let c = self.rest.next().ok_or(NotSimple::Character(c))?;
                self.push(c);
                Ok(())
            }
            '$' | '`' | '<' | '>' | '(' | ')' | '{' | '}' => Err(NotSimple::Character(c)),
            '~' if self.is_home() => Err(NotSimple::Character(c)),
            c => {
                self.push(c);
                if matches!(c, '*' | '?' | '[') {
                    self.word.get_or_insert_default().is_pattern = true;
                }
                Ok(())
            }
        }
    }

    /// Whether a tilde here may become somebody's home: bash does that also
    /// within words that look as if they set a variable.
    fn is_home(&self) -> bool {
        let text = self.word.as_ref().map_or("", |word| &word.text);
        text.is_empty() || text.ends_with([':', '='])
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
    fn command_what_is_not_simple_is_named() {
        assert_eq!(parse("a > b"), Err(NotSimple::Character('>')));
        assert_eq!(parse("a &"), Err(NotSimple::Character('&')));
        assert_eq!(parse("a |& b"), Err(NotSimple::Character('&')));
        assert_eq!(parse("a &&"), Err(NotSimple::Empty));
        assert_eq!(parse("; a"), Err(NotSimple::Empty));
        assert_eq!(parse("A=1 b"), Err(NotSimple::Assignment("A=1".to_owned())));
        assert_eq!(parse("'a"), Err(NotSimple::Unclosed));
        assert_eq!(parse("ls # a\nrm b"), Err(NotSimple::Character('\n')));
        assert_eq!(parse("while a"), Err(NotSimple::Word("while".to_owned())));
        assert_eq!(parse("''"), Err(NotSimple::Empty));
        assert_eq!(parse("a | #b"), Err(NotSimple::Empty));
    }

    #[test]
    fn control_characters_are_refused_everywhere() {
        for line in [
            "find . \"-ex\\\nec\"",
            "ls 'a\nb'",
            "ls a\r",
            "ls \\\0",
            "ls # \u{85}",
            "ls \u{1}",
            "ls \u{7f}",
        ] {
            assert!(
                matches!(parse(line), Err(NotSimple::Character(_))),
                "{line:?}"
            );
        }
        assert_eq!(words("ls\t'a\tb'"), [["ls", "a\tb"]]);
    }

    #[test]
    fn tildes_are_refused_where_they_become_a_home() {
        for line in ["ls ~", "ls ~root/a", "ls a=~", "ls a=b:~", "ls ''~", "~/a"] {
            assert_eq!(parse(line), Err(NotSimple::Character('~')), "{line:?}");
        }
        assert_eq!(words("ls a~ '~' \\~ b/~"), [["ls", "a~", "~", "~", "b/~"]]);
    }

    #[test]
    fn names_that_a_shell_takes_for_something_else_are_refused() {
        for line in [
            "a[ls; rm b]",
            "[[ a || b ]]",
            "-x",
            "+x",
            "%1",
            "a; coproc b",
            "a | time b",
        ] {
            assert!(matches!(parse(line), Err(NotSimple::Word(_))), "{line:?}");
        }
        for line in ["a[0]=b c", "a+=b c", "a && b=c d"] {
            assert!(
                matches!(parse(line), Err(NotSimple::Assignment(_))),
                "{line:?}"
            );
        }
    }
}
