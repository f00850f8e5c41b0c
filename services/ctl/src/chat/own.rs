//! What is typed for this program, and not for the assistant.

use openclaw_terminal::Failure;
use openclaw_terminal::live::{self, Live};

/// Shown before the commands of the assistant.
const HELP: &str = "Here: `/session KEY` changes the session (without KEY it is shown), `/quit` \
     leaves (Ctrl-D, too). Alt-Enter, or a `\\` at the end of a line, goes on in another line; Ctrl-C \
     ends what the assistant is doing; Tab completes commands, sessions and files. `@PATH` attaches a \
     file, as does one that is dragged to the beginning of a message, and a picture anywhere; \
     `/paste WORDS` attaches the picture in the clipboard.";

/// The commands, for completion.
pub(super) const COMMANDS: [&str; 4] = ["session", "paste", "quit", "exit"];

/// A command of this program.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// Ends it.
    Leave,
    /// Tells of these commands; the assistant tells of its own.
    Help,
    /// Shows the session, or changes to another one.
    Session(Option<String>),
    /// Sends the clipboard's picture, with words.
    Paste(String),
}

impl Own {
    /// The command that `text` is.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match name {
            "/quit" | "/exit" if rest.is_empty() => Some(Self::Leave),
            "/help" if rest.is_empty() => Some(Self::Help),
            "/paste" => Some(Self::Paste(rest.to_owned())),
            "/session" => Some(Self::Session(
                Some(rest.to_owned()).filter(|rest| !rest.is_empty()),
            )),
            _ => None,
        }
    }
}

/// Tells of these commands.
pub(super) fn tell() -> Result<(), Failure> {
    let (columns, _) = live::size();
    Live::default().show(&openclaw_markdown::render(HELP, columns), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_commands_are_whole_words() {
        assert_eq!(Own::read("/quit"), Some(Own::Leave));
        assert_eq!(Own::read("/session"), Some(Own::Session(None)));
        let other = Some(Own::Session(Some("work".to_owned())));
        assert_eq!(Own::read("/session  work "), other);
        for text in ["/quit now", "quit", "/sessions", "/status", "please /quit"] {
            assert_eq!(Own::read(text), None, "{text}");
        }
    }
}
