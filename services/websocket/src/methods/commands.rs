//! `commands.list`: the commands that the gateway answers itself.

use openclaw_commands::{COMMANDS, Command};
use openclaw_protocol::Failure;
use serde_json::{Value, json};

use super::{Answer, Call};

/// `commands.list`
pub(super) async fn list(_call: Call) -> Result<Answer, Failure> {
    let commands: Vec<Value> = COMMANDS.iter().map(described).collect();
    Ok(json!({ "commands": commands }).into())
}

fn described(command: &Command) -> Value {
    let names = std::iter::once(&command.name).chain(command.aliases);
    let aliases: Vec<String> = names.map(|name| format!("/{name}")).collect();
    let mut value = json!({
        "name": command.name,
        "nativeName": command.name,
        "textAliases": aliases,
        "description": command.description,
        "category": command.category,
        "source": "native",
        "scope": "both",
        "acceptsArgs": command.argument.is_some(),
    });
    if let Some((name, description)) = command.argument {
        value["args"] = json!([{
            "name": name, "description": description, "type": "string",
        }]);
    }
    value
}
