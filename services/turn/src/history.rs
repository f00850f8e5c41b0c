//! The conversation before a turn.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An earlier entry of the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// By its name and not by a field: such a tag has each entry copied before it is read,
// and a conversation has hundreds.
#[serde(rename_all = "snake_case")]
pub enum HistoryEntry<'a> {
    /// What the user said.
    User {
        /// The words.
        text: Cow<'a, str>,
    },
    /// What the agent said and which tools it asked for.
    Assistant {
        /// The words, possibly none.
        #[serde(default)]
        text: Cow<'a, str>,
        /// The tools that it asked for, in order.
        #[serde(default)]
        tool_calls: Vec<HistoryCall<'a>>,
        /// What was thought before it, for the model that thought it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<SignedThinking>,
    },
    /// What a tool answered.
    Tool {
        /// The call that it answers.
        call_id: Cow<'a, str>,
        /// What it said.
        output: Cow<'a, str>,
        /// Whether it failed.
        #[serde(default)]
        is_error: bool,
    },
}

/// A tool call of an earlier entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryCall<'a> {
    /// Names the call.
    pub id: Cow<'a, str>,
    /// The tool.
    pub name: Cow<'a, str>,
    /// A JSON object.
    #[serde(default)]
    pub arguments: Cow<'a, Value>,
}

/// What one model thought before an earlier entry, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedThinking {
    /// The provider that was asked.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// In the order in which they came.
    pub thoughts: Vec<Thought>,
}

/// One block of thinking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// The words; of redacted thinking none.
    #[serde(default)]
    pub text: String,
    /// Opaque. Of redacted thinking, all that there is of it.
    pub signature: String,
    /// Whether its model alone can read it.
    #[serde(default)]
    pub redacted: bool,
}
