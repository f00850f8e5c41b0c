//! Entries that are no messages, as they are written here.

use serde_json::{Map, Value, json};

use super::message::Message;

/// What can be appended.
#[derive(Debug, Clone, PartialEq)]
pub enum Draft {
    /// A message.
    Message(Box<Message>),
    /// Something else.
    Marker(Marker),
}

/// An entry that is not a message (reference: OpenClaw session format).
#[derive(Debug, Clone, PartialEq)]
pub enum Marker {
    /// The conversation begins anew after it.
    Reset {
        /// `new`, `reset`, `daily` or `idle`.
        reason: String,
    },
    /// What stands before `first_kept_entry_id` is told by the summary.
    Compaction(Compaction),
    /// Another model from here on.
    ModelChange {
        /// The provider.
        provider: String,
        /// The model.
        model_id: String,
    },
    /// Another amount of thinking from here on.
    ThinkingLevelChange {
        /// `off`, `low`, …
        thinking_level: String,
    },
    /// The session's name; empty: it has none any more.
    SessionInfo {
        /// The name.
        name: String,
    },
    /// State that no prompt sees.
    Custom {
        /// What it is.
        custom_type: String,
        /// The state.
        data: Value,
    },
}

/// A summary in the place of older entries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compaction {
    /// What was said before.
    pub summary: String,
    /// The first entry that is told as it was.
    pub first_kept_entry_id: String,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Anything the compactor wants to keep.
    pub details: Option<Value>,
}

impl From<Message> for Draft {
    fn from(message: Message) -> Self {
        Self::Message(Box::new(message))
    }
}

impl From<Marker> for Draft {
    fn from(marker: Marker) -> Self {
        Self::Marker(marker)
    }
}

impl Marker {
    /// The entry's `type`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Reset { .. } => "reset",
            Self::Compaction(_) => "compaction",
            Self::ModelChange { .. } => "model_change",
            Self::ThinkingLevelChange { .. } => "thinking_level_change",
            Self::SessionInfo { .. } => "session_info",
            Self::Custom { .. } => "custom",
        }
    }

    /// The line, without its end.
    pub(super) fn encode(&self, id: &str, parent_id: Option<&str>, timestamp: &str) -> String {
        let mut line = Map::new();
        line.insert("type".to_owned(), self.kind().into());
        line.insert("id".to_owned(), id.into());
        line.insert("parentId".to_owned(), parent_id.into());
        line.insert("timestamp".to_owned(), timestamp.into());
        if let Value::Object(fields) = self.fields() {
            line.extend(fields);
        }
        Value::Object(line).to_string()
    }

    fn fields(&self) -> Value {
        match self {
            Self::Reset { reason } => json!({ "reason": reason }),
            Self::Compaction(compaction) => {
                let mut fields = json!({
                    "summary": compaction.summary,
                    "firstKeptEntryId": compaction.first_kept_entry_id,
                    "tokensBefore": compaction.tokens_before,
                });
                if let Some(details) = &compaction.details {
                    fields["details"] = details.clone();
                }
                fields
            }
            Self::ModelChange { provider, model_id } => {
                json!({ "provider": provider, "modelId": model_id })
            }
            Self::ThinkingLevelChange { thinking_level } => {
                json!({ "thinkingLevel": thinking_level })
            }
            Self::SessionInfo { name } => json!({ "name": name }),
            Self::Custom { custom_type, data } => {
                json!({ "customType": custom_type, "data": data })
            }
        }
    }
}
