//! What the gateway has to say on channels, seen from those who say it.

mod client;
mod wire;

pub use client::Client;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gateway::{ChatKind, Route};

/// What is to be taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The channel.
    pub channel: String,
    /// The account on it; empty: the default one.
    pub account: String,
    /// How long a delivery is its taker's, in milliseconds; 0: the default.
    pub lease_ms: u32,
}

/// Where something is to be said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The channel.
    pub channel: String,
    /// The account on it; empty: the default one.
    pub account: String,
    /// The person, group, channel or room.
    pub to: String,
    /// What that is, when it is known.
    pub chat: Option<ChatKind>,
    /// The thread in it.
    pub thread: Option<String>,
}

impl Place {
    /// The field of a session that says where its answers go, OpenClaw's.
    pub const FIELD: &str = "deliveryContext";

    /// The place that the field has, if it is one on a channel.
    pub fn of_session(field: &Value) -> Option<Self> {
        let text = |name: &str| match &field[name] {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        Some(Self {
            channel: text("channel")?,
            account: text("accountId").unwrap_or_default(),
            to: text("to")?,
            chat: None,
            thread: text("threadId"),
        })
    }

    /// The place that a route on `channel` leads back to.
    pub fn of_route(channel: &str, route: &Route) -> Self {
        Self {
            channel: channel.to_owned(),
            account: route.account.clone(),
            to: route.id.clone(),
            chat: Some(route.chat),
            thread: route.thread.clone(),
        }
    }
}

/// Something to be said.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Its id; 0: nothing is reported of it.
    pub id: u64,
    /// How often it was taken, this time too.
    pub attempt: u32,
    /// Until when it is its taker's, in Unix milliseconds.
    pub lease_until_ms: i64,
    /// Where.
    pub place: Place,
    /// The session that it is said in.
    pub session_key: String,
    /// The agent that says it.
    pub agent_id: String,
    /// The run that says it; empty: none.
    pub run_id: String,
    /// When there was something to say, in Unix milliseconds.
    pub created_ms: i64,
    /// What.
    pub kind: Kind,
    /// What goes with it.
    pub extras: Extras,
}

/// What goes with something that is said, for channels that can.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Extras {
    /// Out of the agent's workspace.
    pub files: Vec<DeliveredFile>,
    /// Rows of buttons.
    pub buttons: Vec<Vec<Button>>,
    /// What is answered to, as the provider calls it; empty: unknown.
    pub answers_id: String,
    /// An emoji in the place of a reply; empty: none.
    pub reaction: String,
}

/// A file that goes with something that is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DeliveredFile {
    /// Without folders.
    pub name: String,
    /// What kind of file it is.
    pub mime_type: String,
    /// In bytes.
    pub size: u64,
    /// Whether it is spoken, and shown as such.
    pub is_voice: bool,
}

/// A button below a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Button {
    /// What it says.
    pub text: String,
    /// What comes back when it is pressed, at most 804 bytes, which say its whole text; a
    /// channel that takes less finds it by that. Empty: it is a link.
    pub data: String,
    /// Where the link leads.
    pub url: String,
}

/// What is to be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Kind {
    /// The answer to a message.
    Reply {
        /// What was said.
        text: String,
        /// `done`, `failed`, `aborted` or `interrupted`.
        state: String,
        /// Why it is not whole.
        reason: String,
    },
    /// What was delivered earlier says something else.
    Edit {
        /// The delivery.
        delivery_id: u64,
        /// What the provider calls it; known when it is taken.
        provider_ids: Vec<String>,
        /// What it says.
        text: String,
    },
    /// A call waits to be allowed.
    Question {
        /// Names it.
        id: String,
        /// The tool.
        tool: String,
        /// What is to be run.
        command: String,
        /// Where.
        cwd: String,
        /// Why it does not just run.
        reason: String,
        /// When that counts as a no, in Unix milliseconds.
        expires_ms: i64,
        /// Whether it can be allowed for good.
        can_be_always: bool,
        /// Who has the agent do it, and where, for people; empty: it is asked there.
        #[serde(default)]
        origin: String,
        /// Why it cannot be allowed for good; empty: it can.
        #[serde(default)]
        only_once: String,
    },
    /// The gateway itself says something.
    Announcement {
        /// What.
        text: String,
    },
    /// Somebody is being answered.
    Typing,
}

impl Kind {
    /// For people who look into the ledger.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reply { .. } => "reply",
            Self::Edit { .. } => "edit",
            Self::Question { .. } => "question",
            Self::Announcement { .. } => "announcement",
            Self::Typing => "typing",
        }
    }
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The delivery.
    pub id: u64,
    /// As it was taken.
    pub attempt: u32,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The provider has it, and calls it so.
    Delivered(Vec<String>),
    /// It is to be tried again.
    TryAgain {
        /// When, in Unix milliseconds.
        at_ms: i64,
        /// Why.
        reason: String,
    },
    /// It cannot be delivered, and why.
    Undeliverable(String),
}

/// What a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody has it.
    Pending,
    /// Somebody has it.
    Leased,
    /// It was delivered.
    Delivered,
    /// It will not be.
    Failed,
}

impl State {
    /// As the wire and the ledger name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Leased => "leased",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Pending, Self::Leased, Self::Delivered, Self::Failed]
            .into_iter()
            .find(|state| state.as_str() == name)
    }
}
