//! What a conversation is cut to.

use crate::wire::memory as wire;

/// A conversation that may have outgrown its budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The agent; empty: the default one.
    pub agent_id: String,
    /// The session's id.
    pub session_id: String,
    /// All that may be sent to the model, in tokens.
    pub max_tokens: u32,
    /// Of it, what is not the conversation.
    pub reserved_tokens: u32,
    /// Runs whose messages are not part of the conversation yet.
    pub waiting_run_ids: Vec<String>,
    /// Somebody asked for a summary of all but so many of the newest messages,
    /// whether or not the rest would fit.
    pub keep_messages: Option<u32>,
}

/// What is to be done with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compaction {
    /// Whether nothing has to give way.
    pub fits: bool,
    /// Everything as it is.
    pub tokens_before: u32,
    /// At most, with the longest summary.
    pub tokens_after: u32,
    /// The longest summary.
    pub summary_tokens: u32,
    /// The entries to be summarised, oldest first.
    pub summarise: Vec<String>,
    /// What they say.
    pub material: String,
    /// The first entry that is kept.
    pub first_kept_entry_id: String,
    /// Entries that are kept shortened.
    pub shortened: Vec<Shortened>,
}

/// An entry that is too long by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shortened {
    /// The entry.
    pub entry_id: String,
    /// What is left of its words.
    pub text: String,
    /// Whether its calls of tools are left out, with their results.
    pub calls_dropped: bool,
}

impl From<Conversation> for wire::CompactRequest {
    fn from(conversation: Conversation) -> Self {
        Self {
            agent_id: conversation.agent_id,
            session_id: conversation.session_id,
            max_tokens: conversation.max_tokens,
            reserved_tokens: conversation.reserved_tokens,
            waiting_run_ids: conversation.waiting_run_ids,
            keep_messages: conversation.keep_messages.unwrap_or_default(),
        }
    }
}

impl From<wire::CompactRequest> for Conversation {
    fn from(request: wire::CompactRequest) -> Self {
        Self {
            agent_id: request.agent_id,
            session_id: request.session_id,
            max_tokens: request.max_tokens,
            reserved_tokens: request.reserved_tokens,
            waiting_run_ids: request.waiting_run_ids,
            keep_messages: Some(request.keep_messages).filter(|keep| *keep > 0),
        }
    }
}

impl From<wire::CompactResponse> for Compaction {
    fn from(response: wire::CompactResponse) -> Self {
        let shortened = response.shortened.into_iter().map(|entry| Shortened {
            entry_id: entry.entry_id,
            text: entry.text,
            calls_dropped: entry.calls_dropped,
        });
        Self {
            fits: response.fits,
            tokens_before: response.tokens_before,
            tokens_after: response.tokens_after,
            summary_tokens: response.summary_tokens,
            summarise: response.summarise,
            material: response.material,
            first_kept_entry_id: response.first_kept_entry_id,
            shortened: shortened.collect(),
        }
    }
}

impl From<Compaction> for wire::CompactResponse {
    fn from(compaction: Compaction) -> Self {
        let shortened = compaction
            .shortened
            .into_iter()
            .map(|entry| wire::KeptEntry {
                entry_id: entry.entry_id,
                text: entry.text,
                calls_dropped: entry.calls_dropped,
            });
        Self {
            fits: compaction.fits,
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
            summary_tokens: compaction.summary_tokens,
            summarise: compaction.summarise,
            material: compaction.material,
            first_kept_entry_id: compaction.first_kept_entry_id,
            shortened: shortened.collect(),
        }
    }
}
