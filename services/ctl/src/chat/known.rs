//! Which commands there are in a chat.

/// The assistant's own commands, which the gateway carries out.
pub(super) const OF_ASSISTANT: &[&str] = &[
    "help",
    "commands",
    "status",
    "whoami",
    "usage",
    "models",
    "agents",
    "tools",
    "sessions",
    "exec",
    "new",
    "reset",
    "stop",
    "verbose",
    "reasoning",
    "name",
    "approve",
    "compact",
    "model",
    "think",
    "queue",
];

/// Their other names, and the commands that an agent without a model has.
pub(super) const OTHERS: &[&str] = &[
    "id", "abort", "v", "reason", "thinking", "t", "remember", "search", "forget", "notes", "run",
];

/// Those of this program.
pub(super) const OWN: [&str; 4] = ["session", "paste", "quit", "exit"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_commands_that_there_are() {
        let there = openclaw_commands::COMMANDS
            .iter()
            .map(|command| command.name);
        assert_eq!(OF_ASSISTANT, there.collect::<Vec<_>>());
        let others = openclaw_commands::COMMANDS
            .iter()
            .flat_map(|command| command.aliases);
        assert!(OTHERS.starts_with(&others.copied().collect::<Vec<_>>()));
    }
}
