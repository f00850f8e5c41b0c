//! What a job does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::invalid::Invalid;

/// Bytes of a command with everything that it is given. A longer one is a file of
/// the workspace.
const COMMAND_LIMIT: usize = 64 * 1024;

/// The longest a command may take where its job does not say, in seconds, as in
/// OpenClaw.
const COMMAND_SECONDS: u64 = 600;

/// The longest that may be said: the shell of the sandbox waits no longer.
const COMMAND_SECONDS_LIMIT: u64 = 1800;

/// Feeds a command its input.
const WITH_INPUT: &str = "input=$1; shift; printf %s \"$input\" | \"$@\"";

/// What goes with a message and is obeyed.
const OBEYED: [&str; 5] = [
    "model",
    "thinking",
    "timeoutSeconds",
    "lightContext",
    "toolsAllow",
];

/// What a job does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Payload {
    /// Tells the agent something.
    SystemEvent {
        /// What it is told.
        text: String,
        /// Other fields, of which those that can be obeyed are allowed.
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    /// Sends the agent a message.
    AgentTurn {
        /// What it says.
        message: String,
        /// Likewise.
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    /// Runs a command in the agent's sandbox; no model is asked.
    Command(Command),
    /// Says something to somebody; no model is asked.
    Reminder {
        /// What is said.
        text: String,
    },
    /// Looks whether there is something for the agent to do. The gateway makes
    /// these jobs itself, of `agents.*.heartbeat`.
    Heartbeat {},
}

/// A command, in OpenClaw's fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments.
    argv: Vec<String>,
    /// Where it runs; None: the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Variables beside those of the sandbox.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    /// What it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_output_timeout_seconds: Option<u64>,
    /// Bytes of its output that are kept and told.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_max_bytes: Option<u64>,
    /// Has no effect: no tool is used.
    #[serde(default, skip_serializing)]
    tools_allow: Option<Value>,
    #[serde(default, skip_serializing)]
    tools_allow_is_default: Option<bool>,
}

impl Command {
    /// A line for the shell.
    pub fn line(line: &str) -> Self {
        Self {
            argv: ["sh", "-c", line].map(str::to_owned).into(),
            ..Self::default()
        }
    }

    /// What the tool that runs commands is asked.
    pub fn arguments(&self) -> Value {
        let mut argv = self.argv.clone();
        if let Some(input) = &self.input {
            let shell = ["sh", "-c", WITH_INPUT, "sh", input].map(str::to_owned);
            argv = shell.into_iter().chain(argv).collect();
        }
        let mut arguments = json!({
            "command": argv, "env": self.env, "timeout_seconds": self.seconds(),
        });
        if let Some(cwd) = &self.cwd {
            arguments["workdir"] = json!(cwd);
        }
        arguments
    }

    /// The longest it may take, in seconds.
    pub fn seconds(&self) -> u64 {
        let said = self.timeout_seconds.filter(|seconds| *seconds > 0);
        said.unwrap_or(COMMAND_SECONDS)
    }

    /// The longest it may be silent, in seconds.
    pub fn silent_seconds(&self) -> Option<u64> {
        self.no_output_timeout_seconds
            .filter(|seconds| *seconds > 0)
    }

    /// Bytes of its output that are kept.
    pub fn output_limit(&self) -> Option<usize> {
        self.output_max_bytes
            .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    fn checked(&self) -> Result<(), Invalid> {
        let invalid = |path, problem| Err(Invalid::field(path, problem));
        if self.argv.first().is_none_or(|program| program.is_empty()) {
            return invalid("payload/argv", "must name a program");
        }
        if self.seconds() > COMMAND_SECONDS_LIMIT {
            return invalid("payload/timeoutSeconds", "must be at most 1800");
        }
        let is_name = |name: &str| {
            let mut letters = name.chars();
            let first = letters.next();
            first.is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
                && letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
        };
        if !self.env.keys().all(|name| is_name(name)) {
            return invalid("payload/env", "must have names of variables");
        }
        let text = json!(self).to_string();
        if text.len() > COMMAND_LIMIT || text.contains("\\u0000") {
            return invalid(
                "payload",
                "must have at most 64 KiB, and no character of value 0",
            );
        }
        Ok(())
    }
}

impl Payload {
    /// What is said of a model: its name, and how much it thinks.
    pub fn model_and_thinking(&self) -> (Option<&str>, Option<&str>) {
        let Self::AgentTurn { rest, .. } = self else {
            return (None, None);
        };
        let word = |name: &str| rest.get(name).and_then(Value::as_str);
        (word("model"), word("thinking"))
    }

    /// Whether it can be done as it says.
    pub(crate) fn checked(&self) -> Result<(), Invalid> {
        match self {
            Self::SystemEvent { text, rest } => {
                checked_text(text)?;
                checked_rest(rest)
            }
            Self::AgentTurn { message, rest } => {
                checked_text(message)?;
                checked_rest(rest)
            }
            Self::Reminder { text } => checked_text(text),
            Self::Command(command) => command.checked(),
            Self::Heartbeat {} => Ok(()),
        }
    }
}

fn checked_text(text: &str) -> Result<(), Invalid> {
    if text.trim().is_empty() {
        return Err(Invalid::field("payload", "must say something"));
    }
    Ok(())
}

/// Fields of texts that are said as they are: no model is asked, and nothing ends it.
const OF_TEXTS: [&str; 4] = ["kind", "text", "toolsAllow", "toolsAllowIsDefault"];

/// Whether a payload as somebody sends it says nothing that its kind has no use for.
pub(crate) fn checked_kind(payload: &Map<String, Value>) -> Result<(), Invalid> {
    let kind = payload.get("kind").and_then(Value::as_str);
    let Some(kind @ ("systemEvent" | "reminder")) = kind else {
        return Ok(());
    };
    let is_of_models = |name: &&String| OBEYED.contains(&name.as_str());
    let is_unknown = |name: &&String| kind == "reminder" || is_of_models(name);
    let mut others = payload.keys();
    let other = others.find(|name| !OF_TEXTS.contains(&name.as_str()) && is_unknown(name));
    match other {
        Some(name) => Err(Invalid::Field {
            path: format!("payload/{name}").into(),
            problem: format!("is not for a {kind}: it is for an agentTurn; leave it out"),
        }),
        None => Ok(()),
    }
}

/// Whether what goes with a message has values that it can have.
fn checked_values(rest: &Map<String, Value>) -> Result<(), Invalid> {
    let is_word = |value: &Value| value.as_str().is_some_and(|it| !it.trim().is_empty());
    for (name, value) in rest {
        let problem = match name.as_str() {
            "model" if !is_word(value) => "must be a model's name, as provider/model",
            "thinking" if !is_word(value) => "must be a level's name",
            "timeoutSeconds" if !value.is_u64() => "must be a whole number of seconds, 0 or more",
            "lightContext" if !value.is_boolean() => "must be true or false",
            _ => continue,
        };
        return Err(Invalid::field(format!("payload/{name}"), problem));
    }
    Ok(())
}

/// What nobody obeys would do something else than it says.
fn checked_rest(rest: &Map<String, Value>) -> Result<(), Invalid> {
    checked_values(rest)?;
    // A list of tools that is not obeyed would allow more than it says.
    if rest
        .get("toolsAllow")
        .is_some_and(|all| *all != json!(["*"]))
    {
        return Err(Invalid::field(
            "payload/toolsAllow",
            "is not offered: a job has the tools of its agent (agents.list[].tools)",
        ));
    }
    let is_harmless = |name: &str, value: &Value| match name {
        "toolsAllowIsDefault" => true,
        "allowUnsafeExternalContent" | "externalContentSource" => *value == json!(false),
        name => OBEYED.contains(&name),
    };
    match rest.iter().find(|(name, value)| !is_harmless(name, value)) {
        None => Ok(()),
        Some((name, _)) if name == "fallbacks" => Err(Invalid::field(
            "payload/fallbacks",
            "is not offered: models to be used instead are those of the agent \
             (agents.defaults.model.fallbacks)",
        )),
        Some((name, _)) => Err(Invalid::Shape(format!(
            "at /payload: {name} is not offered; leave it out"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(value: Value) -> Result<Payload, String> {
        let payload: Payload = serde_json::from_value(value).map_err(|error| error.to_string())?;
        payload.checked().map_err(|invalid| invalid.to_string())?;
        Ok(payload)
    }

    #[test]
    fn command_is_asked_of_the_shell_with_what_it_is_given() {
        let command = payload(json!({
            "kind": "command", "argv": ["tr", "a-z", "A-Z"], "cwd": "notes", "env": {"LC_ALL": "C"},
            "input": "it's", "timeoutSeconds": 5, "toolsAllow": ["*"],
        }));
        let Ok(Payload::Command(command)) = command else {
            panic!("{command:?}");
        };
        assert_eq!(
            command.arguments(),
            json!({
                "command": ["sh", "-c", WITH_INPUT, "sh", "it's", "tr", "a-z", "A-Z"],
                "env": {"LC_ALL": "C"}, "timeout_seconds": 5, "workdir": "notes",
            })
        );
        let kept = json!(Payload::Command(command));
        assert_eq!(json!(payload(kept.clone()).unwrap()), kept);
        assert_eq!(Command::line("true").seconds(), COMMAND_SECONDS);
    }

    #[test]
    fn payload_is_refused_what_nobody_would_obey() {
        let turn = |name: &str, value: Value| {
            let mut turn = json!({"kind": "agentTurn", "message": "m"});
            turn[name] = value;
            turn
        };
        for (value, expected) in [
            (json!({"kind": "command", "argv": []}), "program"),
            (
                json!({"kind": "command", "argv": ["x"], "shell": true}),
                "shell",
            ),
            (
                json!({"kind": "command", "argv": ["x"], "env": {"A B": ""}}),
                "env",
            ),
            (
                json!({"kind": "command", "argv": ["x"], "timeoutSeconds": 9000}),
                "1800",
            ),
            (json!({"kind": "agentTurn", "message": " "}), "say"),
            (
                json!({"kind": "agentTurn", "message": "m", "fallbacks": []}),
                "fallbacks",
            ),
            (
                json!({"kind": "agentTurn", "message": "m", "deliver": true}),
                "deliver",
            ),
            (
                json!({"kind": "agentTurn", "message": "m", "toolsAllow": ["read"]}),
                "toolsAllow",
            ),
            (json!({"kind": "script", "script": "1"}), "script"),
            (
                turn("timeoutSeconds", json!("soon")),
                "/payload/timeoutSeconds",
            ),
            (turn("timeoutSeconds", json!(-4)), "/payload/timeoutSeconds"),
            (
                turn("timeoutSeconds", json!(1.5)),
                "/payload/timeoutSeconds",
            ),
            (turn("thinking", json!(5)), "/payload/thinking"),
            (turn("model", json!(7)), "/payload/model"),
            (turn("model", json!(" ")), "/payload/model"),
            (turn("lightContext", json!("yes")), "/payload/lightContext"),
        ] {
            let refused = payload(value.clone()).unwrap_err();
            assert!(refused.contains(expected), "{value}: {refused}");
        }
        payload(json!({"kind": "agentTurn", "message": "m", "lightContext": true})).unwrap();
    }
}
