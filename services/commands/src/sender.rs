//! Who sends a message, as far as commands ask.

use crate::list::{Access, Command};

/// What a sender is to the assistant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SenderRole {
    /// The owner, or an operator who came in with the owner's secrets.
    #[default]
    Owner,
    /// Somebody who may talk, and ask how things are.
    Guest,
    /// Somebody whose words are answered, and who commands nothing: a command
    /// is refused before it costs anything.
    Unauthorized,
    /// A program that passes on a text. Nothing in it is a command.
    Program,
}

/// Whoever sent a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// What it is to the assistant.
    pub standing: SenderRole,
    /// Its id on its channel; empty: the channel says it all.
    pub id: String,
    /// Whether it may decide about what waits for an approval.
    pub approves: bool,
}

impl Default for Sender {
    fn default() -> Self {
        Self {
            standing: SenderRole::Owner,
            id: String::new(),
            approves: true,
        }
    }
}

impl Sender {
    /// A program that passes on a text.
    pub fn program() -> Self {
        Self::of(SenderRole::Program)
    }

    /// Somebody with this standing; only the owner approves.
    pub fn of(standing: SenderRole) -> Self {
        Self {
            standing,
            id: String::new(),
            approves: standing == SenderRole::Owner,
        }
    }

    /// Whether it may use `command`.
    pub fn may(&self, command: &Command) -> bool {
        match self.standing {
            SenderRole::Owner => true,
            SenderRole::Guest => command.access == Access::Everybody,
            SenderRole::Unauthorized | SenderRole::Program => false,
        }
    }

    /// Whether its words may be a command at all.
    pub fn commands(&self) -> bool {
        matches!(self.standing, SenderRole::Owner | SenderRole::Guest)
    }
}
