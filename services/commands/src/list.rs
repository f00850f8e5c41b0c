//! The commands there are.

/// What a command does, for whoever carries it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// Shows the names of the commands.
    Help,
    /// Shows what each of them does.
    Commands,
    /// Shows how things are.
    Status,
    /// Shows who the sender is.
    Whoami,
    /// Shows what the session used.
    Usage,
    /// Lists the models.
    Models,
    /// Lists the agents.
    Agents,
    /// Lists the tools.
    Tools,
    /// Lists the sessions.
    Sessions,
    /// Shows how commands are run.
    Exec,
    /// Begins the conversation anew.
    New,
    /// Likewise.
    Reset,
    /// Ends what runs and waits.
    Stop,
    /// How much is shown of a turn.
    Verbose,
    /// How much is shown of what is thought.
    Reasoning,
    /// Names the session.
    Name,
    /// Decides about an approval.
    Approve,
    /// Makes room in the conversation.
    Compact,
    /// Chooses the model.
    Model,
    /// Chooses how much is thought.
    Think,
    /// Chooses what becomes of messages that find the session busy.
    Queue,
}

/// Who may use a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever is answered: it shows nothing of what others said, or ends what the sender began.
    Everybody,
    /// Whoever is let in by name or by `*`: it is about the whole conversation.
    Guests,
    /// The owner: it shows or changes how the assistant works.
    Owner,
}

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub id: Id,
    /// Its name, without the slash.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it does, for people.
    pub description: &'static str,
    /// What it belongs to, in OpenClaw's words.
    pub category: &'static str,
    /// What it takes: a name and a description.
    pub argument: Option<(&'static str, &'static str)>,
    /// Who may use it.
    pub access: Access,
}

const fn command(
    id: Id,
    name: &'static str,
    description: &'static str,
    category: &'static str,
) -> Command {
    Command {
        id,
        name,
        aliases: &[],
        description,
        category,
        argument: None,
        access: Access::Owner,
    }
}

const fn open(command: Command) -> Command {
    Command {
        access: Access::Everybody,
        ..command
    }
}

const fn of_guests(command: Command) -> Command {
    Command {
        access: Access::Guests,
        ..command
    }
}

/// All of them.
pub const COMMANDS: &[Command] = &[
    open(command(
        Id::Help,
        "help",
        "Show available commands.",
        "status",
    )),
    open(command(
        Id::Commands,
        "commands",
        "List all slash commands.",
        "status",
    )),
    open(command(
        Id::Status,
        "status",
        "Show current status.",
        "status",
    )),
    open(Command {
        aliases: &["id"],
        ..command(Id::Whoami, "whoami", "Show your sender id.", "status")
    }),
    of_guests(Command {
        argument: Some(("off|tokens|full", "The line below each answer")),
        ..command(
            Id::Usage,
            "usage",
            "Show the tokens this session has used, or have them below each answer.",
            "status",
        )
    }),
    command(
        Id::Models,
        "models",
        "List the models that are configured.",
        "status",
    ),
    command(Id::Agents, "agents", "List the agents.", "status"),
    command(Id::Tools, "tools", "List the agent's tools.", "status"),
    command(
        Id::Sessions,
        "sessions",
        "List the conversations.",
        "status",
    ),
    command(Id::Exec, "exec", "Show how commands are run.", "status"),
    of_guests(Command {
        argument: Some(("message", "What the new session begins with")),
        ..command(Id::New, "new", "Start a new session.", "session")
    }),
    of_guests(Command {
        argument: Some(("message", "What the session goes on with")),
        ..command(Id::Reset, "reset", "Reset the current session.", "session")
    }),
    open(Command {
        aliases: &["abort"],
        ..command(
            Id::Stop,
            "stop",
            "Stop the current run and what waits behind it.",
            "session",
        )
    }),
    Command {
        aliases: &["v"],
        argument: Some(("level", "off, on or full")),
        ..command(
            Id::Verbose,
            "verbose",
            "Show more of what a turn does.",
            "options",
        )
    },
    Command {
        aliases: &["reason"],
        argument: Some(("level", "off, on or stream")),
        ..command(
            Id::Reasoning,
            "reasoning",
            "Show what the model thinks.",
            "options",
        )
    },
    Command {
        argument: Some(("name", "The session's name; nothing shows it")),
        ..command(Id::Name, "name", "Name the current session.", "session")
    },
    Command {
        argument: Some(("decision", "ID and allow-once, allow-always or deny")),
        ..command(
            Id::Approve,
            "approve",
            "Decide about a command that waits.",
            "management",
        )
    },
    Command {
        argument: Some(("instructions", "Not taken: the summary has one form")),
        ..command(
            Id::Compact,
            "compact",
            "Put a summary in the place of older messages.",
            "session",
        )
    },
    Command {
        argument: Some(("model", "Model id (provider/model)")),
        ..command(Id::Model, "model", "Show or choose the model.", "options")
    },
    Command {
        aliases: &["thinking", "t"],
        argument: Some(("level", "Thinking level")),
        ..command(
            Id::Think,
            "think",
            "Show or choose the thinking level.",
            "options",
        )
    },
    Command {
        argument: Some((
            "mode",
            "steer, followup, collect or interrupt; debounce:500ms cap:20 drop:summarize",
        )),
        ..command(
            Id::Queue,
            "queue",
            "Say what happens to messages while the agent works.",
            "options",
        )
    },
];

/// The command that is called `name` in small letters.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS
        .iter()
        .find(|command| command.name == name || command.aliases.contains(&name))
}

/// Their names, as `/help` tells them.
pub fn help() -> String {
    let names: Vec<String> = COMMANDS.iter().map(|it| format!("/{}", it.name)).collect();
    format!(
        "ℹ️ Help\n\n{}\n\nMore: /commands for what each does. Other words with a slash go to the \
         agent: without a model, /remember TEXT, /search WORDS, /forget WORDS, /notes and, where \
         the agent may run commands, /run COMMAND are answered from memory.",
        names.join("  ")
    )
}

/// What each of them does, as `/commands` tells it.
pub fn catalogue() -> String {
    let line = |command: &Command| {
        let aliases: String = command
            .aliases
            .iter()
            .map(|it| format!(", /{it}"))
            .collect();
        format!("/{}{aliases} - {}", command.name, command.description)
    };
    let lines: Vec<String> = COMMANDS.iter().map(line).collect();
    format!("ℹ️ Slash commands\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn list_names_each_command_once() {
        let names = COMMANDS
            .iter()
            .flat_map(|it| it.aliases.iter().chain([&it.name]));
        let names: Vec<&str> = names.copied().collect();
        let different: HashSet<&str> = names.iter().copied().collect();
        assert_eq!(different.len(), names.len());
        assert!(names.iter().all(|name| *name == name.to_lowercase()));
    }
}
