//! What the gateway tells the daemon that attends an account.

use crate::invalid::Invalid;
use crate::wire::channel as wire;

/// What a daemon that attends is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Instruction {
    /// The account's settings from now on.
    Settings(Settings),
    /// The account is to be spoken for no longer; why, for people.
    Retire(String),
}

/// An account's settings, as far as they are the daemon's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// `channels.CHANNEL` with the account's own laid over it, defaults filled
    /// in, without secrets.
    pub json: serde_json::Map<String, serde_json::Value>,
    /// The agents' names, by which they may be called in a group.
    pub names: Vec<String>,
    /// Commands that are offered to people.
    pub commands: Vec<OfferedCommand>,
}

/// A command that is offered to people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfferedCommand {
    /// Without slash.
    pub name: String,
    /// One line.
    pub description: String,
}

impl TryFrom<wire::AttendResponse> for Instruction {
    type Error = Invalid;

    fn try_from(response: wire::AttendResponse) -> Result<Self, Invalid> {
        use wire::attend_response::What as W;
        let missing = || Invalid::missing("AttendResponse", "what");
        Ok(match response.what.ok_or_else(missing)? {
            W::Settings(settings) => Self::Settings(settings.try_into()?),
            W::Retire(wire::Retire { reason }) => Self::Retire(reason),
        })
    }
}

impl From<Instruction> for wire::AttendResponse {
    fn from(instruction: Instruction) -> Self {
        use wire::attend_response::What as W;
        Self {
            what: Some(match instruction {
                Instruction::Settings(settings) => W::Settings(settings.into()),
                Instruction::Retire(reason) => W::Retire(wire::Retire { reason }),
            }),
        }
    }
}

impl TryFrom<wire::AccountSettings> for Settings {
    type Error = Invalid;

    fn try_from(settings: wire::AccountSettings) -> Result<Self, Invalid> {
        let json = serde_json::from_str(&settings.json).map_err(|error| {
            Invalid::because("AccountSettings", "json", format!("is no object: {error}"))
        })?;
        let commands = settings.commands.into_iter();
        Ok(Self {
            json,
            names: settings.names,
            commands: commands
                .map(|command| OfferedCommand {
                    name: command.name,
                    description: command.description,
                })
                .collect(),
        })
    }
}

impl From<Settings> for wire::AccountSettings {
    fn from(settings: Settings) -> Self {
        let commands = settings.commands.into_iter();
        Self {
            json: serde_json::Value::Object(settings.json).to_string(),
            names: settings.names,
            commands: commands
                .map(|command| wire::OfferedCommand {
                    name: command.name,
                    description: command.description,
                })
                .collect(),
        }
    }
}
