//! Commands as people read them, and as what they allowed is kept.

use serde_json::{Map, Value};

use super::command::RESERVED;

/// Commands that a shell has and no program is: a program of that name, which
/// a list of words may ask for, is another thing than such a line.
const OF_THE_SHELL: [&str; 54] = [
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// After such a list. No line is the same: a shell finds no sense in it.
const WITHOUT_SHELL: &str = " (a program, without a shell)";

/// A command as people see it. A list of words is shown as the line with which
/// a shell runs the same; of two commands that do different things at least
/// the marks differ.
#[must_use]
pub fn shown(command: &Value) -> String {
    match command {
        Value::String(line) => line.clone(),
        Value::Array(words) => list(words),
        other => other.to_string(),
    }
}

/// The same with the variables that it is given. No line for a shell is like it: what was
/// allowed for one is not for the other.
#[must_use]
pub(super) fn shown_with(command: &Value, variables: &Map<String, Value>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    };
    let all: Vec<String> = variables
        .iter()
        .map(|(name, value)| format!("{}={}", quoted(name), text(value)))
        .collect();
    if all.is_empty() {
        return shown(command);
    }
    format!("(with {}) {}", all.join(" "), shown(command))
}

fn list(words: &[Value]) -> String {
    let text = |word: &Value| {
        word.as_str()
            .map_or_else(|| word.to_string(), str::to_owned)
    };
    let words: Vec<String> = words.iter().map(text).collect();
    let Some((name, arguments)) = words.split_first() else {
        return String::new();
    };
    let mut shown = if name.contains('=') || RESERVED.contains(&name.as_str()) {
        in_marks(name)
    } else {
        quoted(name)
    };
    for argument in arguments {
        shown.push(' ');
        shown.push_str(&quoted(argument));
    }
    if name.starts_with('%') || OF_THE_SHELL.contains(&name.as_str()) {
        shown.push_str(WITHOUT_SHELL);
    }
    shown
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        in_marks(word)
    }
}

fn in_marks(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_shown_as_a_shell_would_take_them() {
        assert_eq!(
            shown(&json!(["echo", "it's", "a b", ""])),
            r"echo 'it'\''s' 'a b' ''"
        );
    }

    #[test]
    fn list_is_not_shown_as_a_line_that_does_something_else() {
        assert_eq!(shown(&json!(["ls;", "rm"])), "'ls;' rm");
        assert_eq!(shown(&json!(["A=1", "b=c"])), "'A=1' b=c");
        assert_eq!(shown(&json!(["if", "if"])), "'if' if");
        assert_eq!(
            shown(&json!(["eval", "rm a"])),
            "eval 'rm a' (a program, without a shell)"
        );
        assert_eq!(shown(&json!("eval 'rm a'")), "eval 'rm a'");
    }

    #[test]
    fn shown_with_names_each_variable() {
        let command = json!("git --version; perl -e 1");
        let variables = json!({"PERL5OPT": "-MEvil", "B": "a b"});
        let with = shown_with(&command, variables.as_object().unwrap());
        assert_eq!(
            with,
            "(with PERL5OPT=-MEvil B='a b') git --version; perl -e 1"
        );
        assert_eq!(shown_with(&command, &Map::new()), shown(&command));
    }
}
