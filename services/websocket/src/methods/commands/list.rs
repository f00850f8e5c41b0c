//! The commands there are, and `commands.list`.

use openclaw_protocol::Failure;
use serde_json::{Value, json};

use super::super::{Answer, Call};

struct Command {
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    category: &'static str,
    /// What it takes: a name and a description.
    argument: Option<(&'static str, &'static str)>,
}

const fn command(name: &'static str, description: &'static str, category: &'static str) -> Command {
    Command {
        name,
        aliases: &[],
        description,
        category,
        argument: None,
    }
}

const COMMANDS: &[Command] = &[
    command("help", "Show available commands.", "status"),
    command("commands", "List all slash commands.", "status"),
    command("status", "Show current status.", "status"),
    Command {
        aliases: &["id"],
        ..command("whoami", "Show your sender id.", "status")
    },
    command("usage", "Show the tokens this session has used.", "status"),
    command("models", "List the models that are configured.", "status"),
    command("agents", "List the agents.", "status"),
    command("tools", "List the agent's tools.", "status"),
    command("exec", "Show how commands are run.", "status"),
    command("new", "Start a new session.", "session"),
    command("reset", "Reset the current session.", "session"),
    command("stop", "Stop the current run.", "session"),
    Command {
        aliases: &["v"],
        argument: Some(("level", "off, on or full")),
        ..command("verbose", "Show more of what a turn does.", "options")
    },
    Command {
        argument: Some(("level", "off, on or stream")),
        ..command("reasoning", "Show what the model thinks.", "options")
    },
    Command {
        argument: Some(("name", "The session's name; nothing shows it")),
        ..command("name", "Name the current session.", "session")
    },
    Command {
        argument: Some(("decision", "ID and allow-once, allow-always or deny")),
        ..command(
            "approve",
            "Decide about a command that waits.",
            "management",
        )
    },
    command(
        "compact",
        "Put a summary in the place of older messages.",
        "session",
    ),
    Command {
        argument: Some(("model", "Model id (provider/model)")),
        ..command("model", "Show the model.", "options")
    },
    Command {
        aliases: &["thinking", "t"],
        argument: Some(("level", "Thinking level")),
        ..command("think", "Show the thinking level.", "options")
    },
    Command {
        argument: Some((
            "mode",
            "steer, followup, collect or interrupt; debounce:500ms cap:20 drop:summarize",
        )),
        ..command(
            "queue",
            "Say what happens to messages while the agent works.",
            "options",
        )
    },
];

/// The command's own name, if `name` is one or an alias of one.
pub(super) fn find(name: &str) -> Option<&'static str> {
    COMMANDS
        .iter()
        .find(|command| command.name == name || command.aliases.contains(&name))
        .map(|command| command.name)
}

pub(super) fn help() -> String {
    let names: Vec<String> = COMMANDS.iter().map(|it| format!("/{}", it.name)).collect();
    format!(
        "ℹ️ Help\n\n{}\n\nMore: /commands for what each does.",
        names.join("  ")
    )
}

pub(super) fn commands() -> String {
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

/// `commands.list`
pub(in super::super) async fn list(_call: Call) -> Result<Answer, Failure> {
    let commands: Vec<Value> = COMMANDS.iter().map(Command::to_json).collect();
    Ok(json!({ "commands": commands }).into())
}

impl Command {
    fn to_json(&self) -> Value {
        let names = std::iter::once(&self.name).chain(self.aliases);
        let aliases: Vec<String> = names.map(|name| format!("/{name}")).collect();
        let mut value = json!({
            "name": self.name,
            "nativeName": self.name,
            "textAliases": aliases,
            "description": self.description,
            "category": self.category,
            "source": "native",
            "scope": "both",
            "acceptsArgs": self.argument.is_some(),
        });
        if let Some((name, description)) = self.argument {
            value["args"] = json!([{
                "name": name, "description": description, "type": "string",
            }]);
        }
        value
    }
}
