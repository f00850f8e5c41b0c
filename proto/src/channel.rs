//! What a channel daemon and the gateway say to one another, seen from both.

mod client;
mod file;
mod settings;
mod wire;

pub use client::{Client, PutError};
pub use file::{FileHead, PART_LIMIT, Stored};
pub use settings::{Instruction, OfferedCommand, Settings};

use serde::{Deserialize, Serialize};

use crate::gateway::ChatKind;

/// An account of a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccountName {
    /// `telegram`, …
    pub channel: String,
    /// The account; empty: the channel's default one.
    #[serde(default)]
    pub account: String,
}

/// A daemon speaks for an account from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attend {
    /// The account.
    pub account: AccountName,
    /// What the channel can.
    pub abilities: Abilities,
}

/// What a channel can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Abilities {
    /// Say something else in the place of what was delivered.
    pub can_edit: bool,
    /// Buttons that tell who pressed them.
    pub has_buttons: bool,
    /// Threads or topics in a chat.
    pub has_threads: bool,
    /// Emoji on a message.
    pub has_reactions: bool,
    /// Files out of the workspace.
    pub can_send_files: bool,
    /// The longest text of one message, in UTF-16 units; 0: no limit.
    pub text_limit: u32,
    /// What it makes of Markdown: `none`, `html`, …
    pub markdown: String,
}

/// What somebody said, did or pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandIn {
    /// The account it came to.
    pub account: AccountName,
    /// Unique for the account: the provider's update.
    pub key: String,
    /// Where.
    pub place: Place,
    /// Who.
    pub sender: Person,
    /// When, in Unix milliseconds; 0: the provider does not say.
    pub sent_ms: i64,
    /// What.
    pub what: What,
}

/// Where something was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of chat.
    pub chat: ChatKind,
    /// The person, group, channel or room.
    pub id: String,
    /// What it was called before the provider gave it another id; empty: it never
    /// was.
    pub former_id: String,
    /// The thread or topic in it.
    pub thread: Option<String>,
    /// What people call it; empty: unknown.
    pub title: String,
}

impl Place {
    /// What sessions and deliveries call it: the same for good.
    pub fn lasting_id(&self) -> &str {
        if self.former_id.is_empty() {
            &self.id
        } else {
            &self.former_id
        }
    }
}

/// Somebody on a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    /// As the channel names them for good; empty: nobody is named.
    pub id: String,
    /// Without @; may change hands.
    pub user_name: String,
    /// What people see.
    pub display_name: String,
    /// Whether it is a bot.
    pub is_bot: bool,
}

/// What is handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Something said.
    Message(Message),
    /// Emoji on a message.
    Reaction(Reaction),
    /// A button pressed.
    Press(Press),
    /// The bot was taken into a chat (true) or out of it.
    Membership(bool),
}

/// Something said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// Without the bot's own name where that only called it.
    pub text: String,
    /// What the provider calls it, the first one first.
    pub provider_ids: Vec<String>,
    /// The bot was named, answered or called by a command.
    pub is_to_bot: bool,
    /// It takes the place of the earlier one that has its provider id, or of that part
    /// of it.
    pub is_edit: bool,
    /// What it answers to.
    pub reply_to: Option<Quoted>,
    /// What came with it.
    pub attachments: Vec<Attachment>,
    /// What each of several says, in the order of their ids; empty: it is one.
    pub texts: Vec<String>,
}

/// What a message answers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quoted {
    /// What the provider calls it.
    pub provider_id: String,
    /// What it says.
    pub text: String,
    /// Who said it, for people.
    pub sender: String,
    /// Whether the bot said it.
    pub is_own: bool,
}

/// A file that came with a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Of [`Client::put_file`]; empty: it is still to be had, or could not be.
    pub file_id: String,
    /// `image`, `audio`, `voice`, `video`, `document` or `other`.
    pub kind: String,
    /// As the provider says.
    pub mime_type: String,
    /// As the sender named it.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// Why it could not be had.
    pub missing: String,
    /// Whether the provider has it, and nobody asked for it yet.
    pub is_waiting: bool,
}

/// Emoji on a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reaction {
    /// The message, as the provider calls it.
    pub provider_id: String,
    /// Those that are there now; none: it was taken back.
    pub emoji: Vec<String>,
    /// Whether the bot said what is reacted to.
    pub is_to_own: bool,
}

/// A button pressed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Press {
    /// What the button was given.
    pub data: String,
    /// The message it is below.
    pub provider_id: String,
}

/// What the gateway answers to a hand-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Something became of it.
    HandedIn(HandedIn),
    /// The files that wait are used: it is to be handed in again with them.
    FilesWanted,
}

/// A hand-in of which something became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedIn {
    /// Whether the same key was handed in before.
    pub is_existing: bool,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a hand-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Outcome {
    /// It begins or joins a run.
    Taken(Taken),
    /// Nobody is told, and no model is asked.
    Ignored(Ignored),
    /// What whoever pressed is shown; may be empty.
    Answered {
        /// The text.
        text: String,
    },
}

/// The run that a message begins or joins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taken {
    /// The run.
    pub run_id: String,
    /// The session's canonical key.
    pub session_key: String,
    /// The agent that answers.
    pub agent_id: String,
    /// A stop, or another command.
    #[serde(default)]
    pub is_command: bool,
}

/// Why nothing comes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ignored {
    /// For programs.
    pub code: IgnoredCode,
    /// For the journal.
    pub reason: String,
}

/// Why nothing comes of a hand-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IgnoredCode {
    /// The sender is not paired (yet).
    NotPaired,
    /// No list has the sender or the group.
    NotAllowed,
    /// A group's message that is not to the bot.
    NotMentioned,
    /// Messages of this kind are switched off.
    Disabled,
    /// There is nothing in it.
    Empty,
    /// The bot said it itself.
    Own,
    /// It says nothing to this gateway.
    Unknown,
}

impl IgnoredCode {
    const ALL: [Self; 7] = [
        Self::NotPaired,
        Self::NotAllowed,
        Self::NotMentioned,
        Self::Disabled,
        Self::Empty,
        Self::Own,
        Self::Unknown,
    ];

    /// As the wire names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotPaired => "not-paired",
            Self::NotAllowed => "not-allowed",
            Self::NotMentioned => "not-mentioned",
            Self::Disabled => "disabled",
            Self::Empty => "empty",
            Self::Own => "own",
            Self::Unknown => "unknown",
        }
    }

    /// The code of that name; one of a later gateway says nothing to this one.
    pub fn parse(name: &str) -> Self {
        let named = Self::ALL.into_iter().find(|code| code.as_str() == name);
        named.unwrap_or(Self::Unknown)
    }
}

/// How an account's connection to its provider does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// What it does.
    pub state: Connection,
    /// The account's own name at its provider; empty: unknown.
    pub identity: String,
    /// The provider's last answer, in Unix milliseconds; 0: none yet.
    pub last_contact_ms: i64,
    /// The last error and the way out; empty: none since.
    pub last_error: String,
    /// When that was, in Unix milliseconds.
    pub last_error_ms: i64,
    /// Updates that came and are not handed in yet.
    pub backlog: u64,
    /// More for people, one line each.
    pub notes: Vec<String>,
    /// Until when the provider wants nothing, in Unix milliseconds; 0: it named no time.
    pub waiting_until_ms: i64,
}

/// What an account's connection does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Connection {
    /// It is being made.
    #[default]
    Connecting,
    /// It stands.
    Connected,
    /// The provider named a time to wait for.
    Waiting,
    /// The provider does not let the account in.
    Refused,
    /// Somebody else uses the account.
    Conflict,
}

impl Connection {
    const ALL: [Self; 5] = [
        Self::Connecting,
        Self::Connected,
        Self::Waiting,
        Self::Refused,
        Self::Conflict,
    ];

    /// As the wire names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Waiting => "waiting",
            Self::Refused => "refused",
            Self::Conflict => "conflict",
        }
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

#[cfg(test)]
mod tests;
