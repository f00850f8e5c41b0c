//! Commands that only read: programs that are named here, with those of their
//! options that are named here. Whatever the words do not settle may do more.

mod find;
mod options;
mod programs;
#[cfg(test)]
mod real;
mod settled;
#[cfg(test)]
mod tests;

use super::command::Word;
use options::{Operands, Options};
use programs::PROGRAMS;

/// A program, and what it may be given.
struct Program {
    name: &'static str,
    arguments: Arguments,
}

enum Arguments {
    /// Anything: none of its options, known or not, does more than read.
    Anything,
    /// These options. As none of its others does more than read either, a
    /// name that looks like an option may come out of a pattern.
    Reading(Options),
    /// These options, because there are others that do more, and as many
    /// other words.
    Guarded(Options, Operands),
    /// An expression of find(1).
    Find,
}

/// Why these words may do more than read; `None` when they do not.
pub(super) fn refuses(words: &[Word]) -> Option<String> {
    let Some((name, arguments)) = words.split_first() else {
        return Some("a command is missing".to_owned());
    };
    let name = name.text.as_str();
    let Some(program) = PROGRAMS.iter().find(|program| program.name == name) else {
        return Some(format!("{name:?} is not among the commands that only read"));
    };
    let refused = program.arguments.refused(arguments)?;
    Some(format!(
        "{name} with {:?} may do more than read",
        refused.text
    ))
}

/// Whether these words, which do more than read, do not say all that the command does.
pub(super) fn does_more_than_its_words(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return true;
    };
    let program = settled::PROGRAMS.iter().find(|it| it.name == name.text);
    let is_pattern = words.iter().any(|word| word.is_pattern);
    is_pattern || program.is_none_or(|it| it.arguments.refused(arguments).is_some())
}

impl Arguments {
    /// The first word with which the program may do more than read.
    fn refused<'a>(&self, words: &'a [Word]) -> Option<&'a Word> {
        match self {
            Self::Anything => None,
            Self::Reading(options) => options.refused(words, None),
            Self::Guarded(options, operands) => options.refused(words, Some(*operands)),
            Self::Find => find::refused(words),
        }
    }
}

/// Whether what the shell makes of the word begins like the name of a file: a
/// pattern that begins with itself may become an option.
fn is_settled(word: &Word) -> bool {
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_');
    !word.is_pattern || word.text.starts_with(begins)
}
