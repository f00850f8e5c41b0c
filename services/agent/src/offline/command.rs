//! The slash commands.

/// A message that begins with a slash.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    Remember(&'a str),
    Search(&'a str),
    Forget(&'a str),
    Notes,
    Sessions,
    Run(&'a str),
    Status,
    Help,
    /// A known command without its text; how it is used.
    Incomplete(&'static str),
    Unknown(&'a str),
}

const REMEMBER: &str = "/remember TEXT";
const SEARCH: &str = "/search WORDS";
const FORGET: &str = "/forget WORDS, or /forget FILE:LINE";
const RUN: &str = "/run COMMAND";

const COMMANDS: &str = "\
/remember TEXT  note something in memory
/search WORDS   search memory
/forget WORDS   find the notes to forget; /forget FILE:LINE takes one away
/notes          list the notes
/sessions       list the conversations
/run COMMAND    run a shell command in the workspace, inside the sandbox
/status         what is running and which model answers
/help           this list
";

impl<'a> Command<'a> {
    /// `None` for a message that is not a command. A path is not one:
    /// the word after the slash has only letters.
    pub(super) fn parse(message: &'a str) -> Option<Self> {
        let rest = message.trim().strip_prefix('/')?;
        let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_alphanumeric() || c == '-' || c == '_')
        {
            return None;
        }
        let text = text.trim();
        Some(match (name, text) {
            ("remember", "") => Self::Incomplete(REMEMBER),
            ("remember", text) => Self::Remember(text),
            ("search", "") => Self::Incomplete(SEARCH),
            ("search", text) => Self::Search(text),
            ("forget", "") => Self::Incomplete(FORGET),
            ("forget", text) => Self::Forget(text),
            ("notes", _) => Self::Notes,
            ("sessions", _) => Self::Sessions,
            ("run", "") => Self::Incomplete(RUN),
            ("run", text) => Self::Run(text),
            ("status", _) => Self::Status,
            ("help", _) => Self::Help,
            (name, _) => Self::Unknown(name),
        })
    }
}

pub(super) fn help(hint: &str, runs_commands: bool) -> String {
    let commands = offered(runs_commands);
    format!(
        "No model is connected; I answer from your memory files. Commands:\n\n```\n{commands}```\n\n{hint}\n"
    )
}

pub(super) fn unknown(name: &str, hint: &str, runs_commands: bool) -> String {
    let commands = offered(runs_commands);
    format!("There is no command /{name}. There are:\n\n```\n{commands}```\n\n{hint}\n")
}

/// The commands, `/run` only where it is not refused.
fn offered(runs_commands: bool) -> String {
    let lines = COMMANDS.split_inclusive('\n');
    lines
        .filter(|line| runs_commands || !line.starts_with("/run "))
        .collect()
}

/// A code block around `text`, whatever backticks it has inside.
pub(super) fn fenced(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.trim_end_matches('\n');
    format!("{fence}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_messages() {
        let parse = Command::parse;
        assert_eq!(
            parse(" /remember buy milk "),
            Some(Command::Remember("buy milk"))
        );
        assert_eq!(parse("/run\tls -l"), Some(Command::Run("ls -l")));
        assert_eq!(parse("/forget the key"), Some(Command::Forget("the key")));
        assert_eq!(parse("/notes"), Some(Command::Notes));
        assert_eq!(parse("/search"), Some(Command::Incomplete(SEARCH)));
        assert_eq!(parse("/frobnicate x"), Some(Command::Unknown("frobnicate")));
        assert_eq!(parse("/etc/passwd is odd"), None);
        assert_eq!(parse("/ hm"), None);
        assert_eq!(parse("hello /help"), None);
    }

    #[test]
    fn run_is_offered_where_it_is_not_refused() {
        for (runs_commands, lines) in [(true, 8), (false, 7)] {
            let said = [
                help("hint", runs_commands),
                unknown("x", "hint", runs_commands),
            ];
            for text in said {
                assert_eq!(text.contains("/run"), runs_commands, "{text}");
                let listed = text.lines().filter(|line| line.starts_with('/'));
                assert_eq!(listed.count(), lines, "{text}");
            }
        }
    }

    #[test]
    fn fence_is_longer_than_any_inside() {
        assert_eq!(fenced("a\n"), "```\na\n```\n");
        assert_eq!(fenced("```` x"), "`````\n```` x\n`````\n");
    }
}
