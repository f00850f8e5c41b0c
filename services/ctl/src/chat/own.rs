//! What is typed for this program, and not for the assistant.

use openclaw_config::nearest::nearest;
use openclaw_terminal::Failure;
use openclaw_terminal::live::{self, Live};

use super::known::{OF_ASSISTANT, OTHERS, OWN};

/// Shown before the commands of the assistant.
const HELP: &str = "Here: `/session KEY` changes the session (without KEY it is shown), `/quit` \
     leaves (Ctrl-D, too). Alt-Enter, or a `\\` at the end of a line, goes on in another line; Ctrl-C \
     ends what the assistant is doing; Tab completes commands, sessions and files. `@PATH` attaches a \
     file, as does one that is dragged to the beginning of a message, and a picture anywhere; \
     `/paste WORDS` attaches the picture in the clipboard.";

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
    /// No command, and nearly one: nobody has paid for an answer to it yet.
    Mistaken(Mistake),
}

/// A word that is nearly a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    name: String,
    near: &'static str,
}

impl Mistake {
    /// What `name`, behind its slash, may have been meant as.
    fn of(name: &str) -> Option<Self> {
        let name = name.split(':').next().unwrap_or_default().to_lowercase();
        let known = || OF_ASSISTANT.iter().chain(&OWN).copied();
        let is_command = known().chain(OTHERS.iter().copied()).any(|it| it == name);
        if is_command || name.contains(['/', '.']) {
            return None;
        }
        let near = nearest(&name, known())?;
        Some(Self { name, near })
    }

    /// What is said of it.
    pub(super) fn failure(&self) -> Failure {
        let Self { name, near } = self;
        Failure::usage(format!("there is no command /{name}, and it was not sent")).hint(format!(
            "did you mean /{near}? Words before it make it a message"
        ))
    }
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
            _ => Mistake::of(name.strip_prefix('/')?).map(Self::Mistaken),
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
    fn word_that_is_nearly_a_command_is_not_sent() {
        for (text, near) in [
            ("/sesion", "session"),
            ("/sesion work", "session"),
            ("/Staus", "status"),
            ("/modle: x", "model"),
            ("/qiut", "quit"),
            ("/hlep", "help"),
        ] {
            let Some(Own::Mistaken(mistake)) = Own::read(text) else {
                panic!("{text} is sent");
            };
            assert_eq!(mistake.near, near, "{text}");
        }
        for text in [
            "/garden",
            "/remember milk",
            "/notes",
            "/reason on",
            "/thinking high",
            "/status/report.pdf",
            "/statu.txt is a file",
            "sesion",
            "/",
            "what is /sesion",
        ] {
            assert_eq!(Own::read(text), None, "{text}");
        }
    }

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
