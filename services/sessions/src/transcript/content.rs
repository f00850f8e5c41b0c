//! What messages are made of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message's content: users' messages are often plain text, the rest is blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks in their order.
    Blocks(Vec<Block>),
}

/// What OpenClaw writes for people in the place of thinking that its model alone can read.
const REDACTED_THINKING: &str = "[Reasoning redacted]";

/// In a block of thinking: what its model takes it back by.
const SIGNATURE: &str = "thinkingSignature";

/// In a block of thinking: its model alone can read it.
const REDACTED: &str = "redacted";

/// One block. Fields that are not known here are kept in `rest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// Fields not known here.
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    /// The model's visible thinking.
    Thinking {
        /// The words.
        thinking: String,
        /// Fields not known here, `thinkingSignature` among them.
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    /// A tool the assistant asked for.
    ToolCall {
        /// Names the call; the tool result carries it.
        id: String,
        /// The tool.
        name: String,
        /// A JSON object.
        arguments: Value,
        /// Fields not known here.
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    /// A block of a kind not known here, such as an image.
    #[serde(untagged)]
    Other(Value),
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            rest: Map::new(),
        }
    }

    /// A thinking block.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking {
            thinking: thinking.into(),
            rest: Map::new(),
        }
    }

    /// A block of thinking that its model alone can read.
    pub fn redacted_thinking(data: impl Into<String>) -> Self {
        let fields = [
            (SIGNATURE.to_owned(), Value::String(data.into())),
            (REDACTED.to_owned(), Value::Bool(true)),
        ];
        Self::Thinking {
            thinking: REDACTED_THINKING.to_owned(),
            rest: Map::from_iter(fields),
        }
    }

    /// Notes the signature of a block of thinking; false when it has one, or is no thinking.
    pub fn sign(&mut self, signature: &str) -> bool {
        match self {
            Self::Thinking { rest, .. } if !rest.contains_key(SIGNATURE) => {
                rest.insert(SIGNATURE.to_owned(), signature.into());
                true
            }
            _ => false,
        }
    }

    /// Whether more thinking belongs to this block.
    pub fn thinks_on(&self) -> bool {
        matches!(self, Self::Thinking { rest, .. } if !rest.contains_key(SIGNATURE))
    }

    /// Whether its model alone can read it.
    pub fn is_redacted(&self) -> bool {
        matches!(self, Self::Thinking { rest, .. } if rest.get(REDACTED) == Some(&Value::Bool(true)))
    }

    /// A tool call block.
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments,
            rest: Map::new(),
        }
    }
}

impl Content {
    /// The words, text blocks joined by line breaks.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    Block::Text { text, .. } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// The blocks; plain text has none.
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}
