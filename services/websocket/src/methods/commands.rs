//! `commands.list`: the commands that the gateway answers itself.

use openclaw_commands::{COMMANDS, Command};
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

methods! { "commands.list" => READ, list; }

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    agent_id: Option<Filled>,
    /// All are the gateway's own, whichever model answers.
    #[serde(rename = "provider")]
    _provider: Option<String>,
    /// All are for both.
    #[serde(rename = "scope")]
    _scope: Option<Scope>,
    include_args: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Text,
    Native,
    Both,
}

/// `commands.list`
async fn list(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    if let Some(agent) = &params.agent_id {
        super::agents::known(&call.context.core.configuration.settings(), agent)?;
    }
    let with_arguments = params.include_args != Some(false);
    let commands: Vec<Value> = COMMANDS
        .iter()
        .map(|command| described(command, with_arguments))
        .collect();
    Ok(json!({ "commands": commands }).into())
}

fn described(command: &Command, with_arguments: bool) -> Value {
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
    if let Some((name, description)) = command.argument.filter(|_| with_arguments) {
        value["args"] = json!([{
            "name": name, "description": description, "type": "string",
        }]);
    }
    value
}
