//! Commands compared with patterns that the user wrote.

use super::command::Word;
use openclaw_policy::glob;

/// Between two words. No word has it, so a word with blanks is not taken for
/// several: `"make x/y"` is a program in a folder called `make x`.
const BETWEEN: &str = "\0";

/// What only the shell knows, with the names of files. No word and no pattern
/// of the user has it, so only `*` fits it.
const UNKNOWN: char = '\u{1}';

/// Whether the command fits `pattern`: words separated by blanks, in which `*`
/// is anything, also the rest of the command, and nothing else is special.
pub(super) fn fits(pattern: &str, words: &[Word]) -> bool {
    let pattern: Vec<&str> = pattern.split_whitespace().collect();
    let words: Vec<String> = words.iter().map(known).collect();
    glob(&pattern.join(BETWEEN), &words.join(BETWEEN))
}

/// The word as far as it is known: a pattern's beginning and end.
fn known(word: &Word) -> String {
    let is_special = |c: char| matches!(c, '*' | '?' | '[' | ']');
    let text = word.text.as_str();
    match (text.find(is_special), text.rfind(is_special)) {
        (Some(first), Some(last)) if word.is_pattern => {
            format!("{}{UNKNOWN}{}", &text[..first], &text[last + 1..])
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::parse;
    use super::*;

    #[test]
    fn patterns_fit_word_by_word() {
        for (pattern, line, expected) in [
            ("cargo *", "cargo test 'a b'", true),
            ("cargo *", "cargo", false),
            ("cargo  *", "'cargo' \"test\"", true),
            ("cargo *", "'cargo x/y'", false),
            ("cargo test", "cargo 'test'", true),
            ("cargo test", "'cargo test'", false),
            ("git commit -m *", "git commit -m 'a b'", true),
            ("git commit -m a b", "git commit -m 'a b'", false),
            ("cargo * --dry-run", "cargo x --dry-run", true),
            ("cargo * --dry-run", "cargo x --dry-ru[n]", false),
            ("cargo * --dry-run", "cargo 'x --dry-run'", false),
            ("cat src/*", "cat src/*.rs", true),
            ("cat *.rs", "cat *.rs", true),
            ("cat a?", "cat a?", false),
            ("cat a?", "cat 'a?'", true),
        ] {
            let commands = parse(line).unwrap();
            assert_eq!(fits(pattern, &commands[0]), expected, "{pattern} {line}");
        }
    }
}
