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
    /// Somebody in a group that is open to everybody in it: asks how things are, and
    /// ends what it began itself.
    Visitor,
    /// A program that passes on a text. Nothing in it is a command.
    Program,
}

/// Whoever sent a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// What it is to the assistant.
    pub role: SenderRole,
    /// Its id on its channel; empty: the channel says it all.
    pub id: String,
    /// Whether it may decide about what waits for an approval.
    pub approves: bool,
    /// Whether its client shows more or less of a run, as the levels of the session say.
    pub follows_levels: bool,
}

impl Default for Sender {
    fn default() -> Self {
        Self {
            role: SenderRole::Owner,
            id: String::new(),
            approves: true,
            follows_levels: false,
        }
    }
}

impl Sender {
    /// A program that passes on a text.
    pub fn program() -> Self {
        Self::of(SenderRole::Program)
    }

    /// Somebody with this role; only the owner approves.
    pub fn of(role: SenderRole) -> Self {
        Self {
            role,
            id: String::new(),
            approves: role == SenderRole::Owner,
            follows_levels: false,
        }
    }

    /// The same at a client that shows what the levels say.
    #[must_use]
    pub fn following_levels(self) -> Self {
        Self {
            follows_levels: true,
            ..self
        }
    }

    /// Whether it may use `command`.
    pub fn may(&self, command: &Command) -> bool {
        match self.role {
            SenderRole::Owner => true,
            SenderRole::Guest => command.access != Access::Owner,
            SenderRole::Visitor => command.access == Access::Everybody,
            SenderRole::Program => false,
        }
    }

    /// Whether a conversation is its to end and to begin anew, with what others said in it.
    pub fn rules_the_conversation(&self) -> bool {
        matches!(self.role, SenderRole::Owner | SenderRole::Guest)
    }
}
