//! The gateway's conversations, seen from its clients.

mod client;
mod convert;
mod row;
mod transfer;

use serde::Serialize;

pub use client::Client;
pub use row::{ListSessionsResponse, Row, Rows};
pub use transfer::{Exported, Import, ImportReport, Imported, LeftOutField, Skipped};

/// A session as it is listed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Canonical session key.
    pub key: String,
    /// The session's id.
    pub id: String,
    /// The agent.
    pub agent_id: String,
    /// Unix milliseconds.
    pub created_at_ms: i64,
    /// Unix milliseconds.
    pub updated_at_ms: i64,
    /// The transcript file.
    pub transcript_path: String,
    /// Messages in the transcript.
    pub message_count: u64,
    /// Where it is in its life.
    pub state: State,
    /// The name somebody gave it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// `direct` or `group`.
    pub chat_type: String,
    /// The channel of the last message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_channel: String,
    /// Unix milliseconds; 0: never.
    pub last_interaction_at_ms: i64,
    /// Who answered last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model_provider: String,
    /// Who answered last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// `provider/model` set for this session.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model_override: String,
    /// Set for this session.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking_level: String,
    /// Tokens since the last reset.
    pub tokens: Tokens,
    /// US dollars since the last reset, where prices are known.
    pub cost_usd: f64,
    /// Compactions since the last reset.
    pub compaction_count: u64,
    /// Unix milliseconds; 0: it is not archived.
    #[serde(skip_serializing_if = "is_zero")]
    pub archived_at_ms: i64,
    /// The key of the session that started it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub spawned_by: String,
    /// How many sessions are above it.
    pub spawn_depth: u32,
    /// How the last run ended.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_status: String,
}

/// Tokens of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Sent, not from a cache.
    pub input: u64,
    /// Generated.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Written to the provider's cache.
    pub cache_write: u64,
    /// How full the context was at the last response.
    pub context: u64,
}

/// Where a session is in its life (seed 004).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing was said yet.
    #[default]
    Created,
    /// A turn is running or waiting.
    Active,
    /// It waits for the user.
    Idle,
    /// Its history is being summarised.
    Compacting,
    /// It is ended and kept.
    Archived,
}

impl State {
    /// The state in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Active => "active",
            Self::Idle => "idle",
            Self::Compacting => "compacting",
            Self::Archived => "archived",
        }
    }
}

/// Which sessions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Empty: of all agents.
    pub agent_id: String,
    /// 0: all.
    pub limit: u32,
    /// Sessions to pass over.
    pub offset: u32,
    /// Part of a key, label or id; empty: any.
    pub search: String,
    /// Whether archived ones are.
    pub archived: Archived,
    /// Those that changed in so many minutes; 0: any.
    pub active_minutes: u32,
    /// Those that this session started; empty: any.
    pub spawned_by: String,
}

/// Whether archived sessions are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Archived {
    /// No.
    #[default]
    No,
    /// Nothing else.
    Only,
    /// Them too.
    Also,
}

/// A list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// The latest first.
    pub sessions: Vec<Session>,
    /// How many there are without limit and offset.
    pub total: u32,
}

/// Names a session: its key in any form, its id or the beginning of it, its
/// label; empty is the main session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Named<'a> {
    /// What it is called.
    pub session: &'a str,
    /// Its agent; empty: the default one, or the one the key names.
    pub agent_id: &'a str,
}

/// A change of a field; an empty value clears it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// As OpenClaw's `sessions.patch` calls it.
    pub name: String,
    /// The value.
    pub value: String,
}

/// What became of a deleted session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deleted {
    /// Its key.
    pub key: String,
    /// Where its transcript is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_path: Option<String>,
}

/// A part of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// Empty: no session has the transcript any more.
    pub key: String,
    /// The session's id.
    pub id: String,
    /// Oldest first.
    pub items: Vec<Item>,
    /// Whether there is more before them.
    pub has_more: bool,
    /// Lines that are no entries, among those that were read. They are skipped
    /// and stay in the transcript.
    pub corrupt_lines: u32,
    /// The file that has a copy of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt_copy: Option<String>,
    /// The entries as they are in the transcript, when they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<serde_json::Value>,
    /// Messages of the whole transcript, with the entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_messages: Option<u64>,
}

/// Which part of a conversation is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// Messages; 0: the gateway's choice.
    pub limit: u32,
    /// Newest messages to pass over.
    pub skip: u32,
    /// Whether to read on behind the last reset.
    pub all: bool,
    /// Whether the entries are wanted as they are.
    pub raw: bool,
}

/// The last things said in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The session's key.
    pub key: String,
    /// Whether there is such a session.
    pub found: bool,
    /// Oldest first.
    pub items: Vec<PreviewItem>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewItem {
    /// `user` or `assistant`.
    pub role: String,
    /// The words.
    pub text: String,
}

/// One thing of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Unix milliseconds; 0: the file does not say.
    pub at_ms: i64,
    /// What it is.
    #[serde(flatten)]
    pub said: Said,
}

/// What was said or done (seed 001, phase 3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Said {
    /// The user's words.
    User {
        /// The words.
        text: String,
    },
    /// The assistant's words.
    Assistant {
        /// The words.
        text: String,
    },
    /// A tool was used.
    Tool {
        /// Its name.
        name: String,
        /// On what.
        argument: String,
    },
    /// A tool answered.
    Result {
        /// The tool.
        name: String,
        /// Whether it tells of an error.
        error: bool,
    },
    /// The conversation began anew.
    Reset,
    /// What was before was summarised.
    Compaction {
        /// The summary.
        summary: String,
    },
}

/// A transcript that has to do with a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionMatch {
    /// The agent.
    pub agent_id: String,
    /// The session's id.
    pub id: String,
    /// Empty: no session has the transcript.
    pub key: String,
    /// The file.
    pub transcript_path: String,
    /// Where the agent worked.
    pub cwd: String,
    /// Unix milliseconds; 0: the file does not say.
    pub started_at_ms: i64,
    /// Unix milliseconds.
    pub modified_at_ms: i64,
    /// Lines of the file.
    pub lines: u64,
    /// What the user said first.
    pub first_user_message: String,
    /// What the user said last, oldest first.
    pub last_user_messages: Vec<String>,
    /// What matched: `cwd` or `message`.
    pub matched: String,
}

/// Which transcripts are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// The project's name; empty: any.
    pub project: String,
    /// Empty: all agents.
    pub agent_id: String,
    /// At most so many; 0: the gateway's limit.
    pub limit: u32,
    /// Something was said in it from then on, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Something was said in it before then, in Unix milliseconds.
    pub until_ms: Option<i64>,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// The best first.
    pub sessions: Vec<SessionMatch>,
    /// Transcripts that were looked at.
    pub searched: u32,
    /// Those that could not be read, and why.
    pub problems: Vec<String>,
}

/// Where words are in what was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mentions {
    /// The transcripts and archives that have them.
    pub files: Vec<Mention>,
    /// How often they are, or were, in the gateway's tables.
    pub in_tables: u64,
    /// How often they were covered.
    pub forgotten: u64,
    /// The jobs that have them, which stay as they are: name and id.
    pub jobs: Vec<String>,
}

/// A transcript or an archive that has the words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mention {
    /// The agent.
    pub agent_id: String,
    /// The session that goes on in it; empty: none.
    pub session_key: String,
    /// The file.
    pub path: String,
    /// How often.
    pub matches: u64,
    /// The first of them.
    pub excerpts: Vec<Excerpt>,
}

/// What is around words that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Excerpt {
    /// The entry's id; empty: the line is not an entry.
    pub entry_id: String,
    /// Who said it; empty: nobody.
    pub role: String,
    /// Unix milliseconds; 0: not known.
    pub at_ms: i64,
    /// The words with what is around them.
    pub text: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(number: &i64) -> bool {
    *number == 0
}
