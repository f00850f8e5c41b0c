//! The conversation before a turn.

use serde::Serialize;
use serde_json::Value;

use crate::event::arguments_from_wire;
use crate::invalid::Invalid;
use crate::wire::run as wire;

/// One message of the conversation so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the user said.
    User {
        /// The words.
        text: String,
    },
    /// What the agent said and which tools it asked for.
    Assistant {
        /// The words, possibly none.
        text: String,
        /// The tools asked for, in order.
        tool_calls: Vec<ToolCall>,
        /// What was thought before it, for the model that thought it.
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking: Option<SignedThinking>,
    },
    /// What a tool answered.
    Tool {
        /// The call it answers.
        call_id: String,
        /// The tool.
        name: String,
        /// What it said.
        output: String,
        /// Whether it failed.
        is_error: bool,
    },
}

/// What one model thought before it said a message, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignedThinking {
    /// The provider that was asked.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// In the order in which they came.
    pub thoughts: Vec<Thought>,
}

/// One block of thinking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Thought {
    /// The words; of redacted thinking none.
    pub text: String,
    /// Opaque. Of redacted thinking, all that there is of it.
    pub signature: String,
    /// Its model alone can read it.
    pub redacted: bool,
}

/// A tool the agent asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCall {
    /// Names the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// A JSON object.
    pub arguments: Value,
}

impl TryFrom<wire::HistoryMessage> for Message {
    type Error = Invalid;

    fn try_from(message: wire::HistoryMessage) -> Result<Self, Invalid> {
        use wire::history_message::Kind as W;
        Ok(
            match message
                .kind
                .ok_or(Invalid::missing("HistoryMessage", "kind"))?
            {
                W::User(user) => Self::User { text: user.text },
                W::Assistant(assistant) => Self::Assistant {
                    text: assistant.text,
                    tool_calls: assistant
                        .tool_calls
                        .into_iter()
                        .map(ToolCall::try_from)
                        .collect::<Result<_, _>>()?,
                    thinking: assistant.thinking.map(SignedThinking::from),
                },
                W::Tool(tool) => Self::Tool {
                    call_id: tool.call_id,
                    name: tool.name,
                    output: tool.output,
                    is_error: tool.is_error,
                },
            },
        )
    }
}

impl TryFrom<wire::ToolCall> for ToolCall {
    type Error = Invalid;

    fn try_from(call: wire::ToolCall) -> Result<Self, Invalid> {
        Ok(Self {
            arguments: arguments_from_wire(&call.arguments_json)?,
            id: call.id,
            name: call.name,
        })
    }
}

impl From<Message> for wire::HistoryMessage {
    fn from(message: Message) -> Self {
        use wire::history_message::Kind as W;
        let kind = match message {
            Message::User { text } => W::User(wire::UserMessage { text }),
            Message::Assistant {
                text,
                tool_calls,
                thinking,
            } => W::Assistant(wire::AssistantMessage {
                text,
                tool_calls: tool_calls.into_iter().map(Into::into).collect(),
                thinking: thinking.map(Into::into),
            }),
            Message::Tool {
                call_id,
                name,
                output,
                is_error,
            } => W::Tool(wire::ToolMessage {
                call_id,
                name,
                output,
                is_error,
            }),
        };
        Self { kind: Some(kind) }
    }
}

impl From<wire::SignedThinking> for SignedThinking {
    fn from(thinking: wire::SignedThinking) -> Self {
        let thoughts = thinking.thoughts.into_iter().map(|thought| Thought {
            text: thought.text,
            signature: thought.signature,
            redacted: thought.redacted,
        });
        Self {
            provider: thinking.provider,
            model: thinking.model,
            thoughts: thoughts.collect(),
        }
    }
}

impl From<SignedThinking> for wire::SignedThinking {
    fn from(thinking: SignedThinking) -> Self {
        let thoughts = thinking.thoughts.into_iter().map(|thought| wire::Thought {
            text: thought.text,
            signature: thought.signature,
            redacted: thought.redacted,
        });
        Self {
            provider: thinking.provider,
            model: thinking.model,
            thoughts: thoughts.collect(),
        }
    }
}

impl From<ToolCall> for wire::ToolCall {
    fn from(call: ToolCall) -> Self {
        Self {
            id: call.id,
            name: call.name,
            arguments_json: call.arguments.to_string(),
        }
    }
}
