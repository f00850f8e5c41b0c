//! When a message is a command.

use crate::list::{self, Command, Id};

/// Words with a slash that are answered from memory where no model answers
/// (`agent/src/offline/command.rs`).
const OF_MEMORY: [&str; 6] = ["remember", "search", "forget", "notes", "sessions", "run"];

/// A command with what was said behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invocation<'a> {
    /// The command.
    pub command: &'static Command,
    /// The rest of the message; empty: there is none.
    pub argument: &'a str,
}

/// The command that `text` is; None: it is for the agent, as are words with a
/// slash that nobody knows, and those behind a command that takes none.
pub fn read(text: &str) -> Option<Invocation<'_>> {
    if openclaw_stop::is_stop(text) {
        return list::find("stop").map(|command| Invocation {
            command,
            argument: "",
        });
    }
    let body = text.trim().strip_prefix('/')?;
    let end = body
        .find(|c: char| c.is_whitespace() || c == ':')
        .unwrap_or(body.len());
    let (name, argument) = body.split_at(end);
    let command = list::find(&name.to_lowercase())?;
    let argument = argument.trim_start();
    let argument = argument.strip_prefix(':').unwrap_or(argument).trim();
    // These begin with words too, and which words that are is configured.
    let is_elsewhere = matches!(command.id, Id::New | Id::Reset);
    let is_whole = argument.is_empty() || command.argument.is_some();
    (is_whole && !is_elsewhere).then_some(Invocation { command, argument })
}

/// Whether `text` is for whatever answers from memory without a model, and asks it in a form
/// that has nothing before it.
pub fn is_of_memory(text: &str) -> bool {
    let word = text.trim().strip_prefix('/');
    let word = word.and_then(|body| body.split_whitespace().next());
    word.is_some_and(|word| OF_MEMORY.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<(&'static str, &str)> {
        read(text).map(|asked| (asked.command.name, asked.argument))
    }

    #[test]
    fn reading_finds_known_commands_alone() {
        assert_eq!(name("/status"), Some(("status", "")));
        assert_eq!(name("  /Queue  collect "), Some(("queue", "collect")));
        assert_eq!(name("/think: high"), Some(("think", "high")));
        assert_eq!(name("/think :high"), Some(("think", "high")));
        assert_eq!(name("/id"), Some(("whoami", "")));
        assert_eq!(name("/abort"), Some(("stop", "")));
        assert_eq!(name("Stop!"), Some(("stop", "")));
        assert_eq!(name("/stop the music"), Some(("stop", "")));
        for text in [
            "/usr/bin/env",
            "/",
            "status",
            "",
            "/help me with this",
            "/status\nand now?",
            "/remember milk",
            "/new",
            "/reset and go on",
        ] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    #[test]
    fn reading_knows_what_memory_answers() {
        assert!(is_of_memory("/remember milk\nand bread") && is_of_memory(" /notes"));
        for text in [
            "/",
            "/usr/bin/env",
            "remember milk",
            "/remembered",
            "/pay Bo",
        ] {
            assert!(!is_of_memory(text), "{text}");
        }
    }
}
