//! What a transcript line says, read for a prompt.
//!
//! A prompt needs a few fields of each message and reads hundreds of them for
//! every turn, so they are taken out directly. Reading whole entries, with the
//! fields that are only kept, takes more than twice as long.

use std::borrow::Cow;
use std::fmt;

use openclaw_tokens::characters;
use serde::Deserialize;
use serde::de::{self, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;

use super::thinking::{Thinking, Thought};
use crate::transcript::{Block as StoredBlock, Message, Parent, USER_SUFFIX};

/// Before the summary of what a compaction left out.
const SUMMARY_HEADING: &str = "Summary of this conversation before this point:\n\n";

/// Before the summary of a branch that was left.
const BRANCH_HEADING: &str = "Summary of a branch of this conversation that was left:\n\n";

/// What a message says.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryMessage {
    /// What the user said.
    User {
        /// The words.
        text: String,
    },
    /// What the assistant answered.
    Assistant {
        /// The words, possibly none.
        text: String,
        /// The tools it asked for, in order.
        calls: Vec<Call>,
    },
    /// What a tool answered.
    Tool {
        /// The call it answers.
        call_id: String,
        /// The tool.
        name: String,
        /// Its output.
        output: String,
        /// Whether it failed.
        is_error: bool,
    },
}

/// A tool the assistant asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Names the call; the tool's answer carries it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// A JSON object.
    pub arguments: Value,
}

impl HistoryMessage {
    /// What `message` says and the run it belongs to; None when it is not for prompts.
    pub fn of(message: &Message) -> Option<(Option<String>, Self)> {
        if message.is_command() {
            return None;
        }
        let text = message.content().to_text();
        let said = match message {
            Message::User(_) => Self::User { text },
            Message::Assistant(assistant) => Self::Assistant {
                text,
                calls: assistant.content.blocks().iter().filter_map(call).collect(),
            },
            Message::ToolResult(result) => Self::Tool {
                call_id: result.tool_call_id.clone(),
                name: result.tool_name.clone(),
                output: text,
                is_error: result.is_error,
            },
        };
        Some((message.run_id().map(str::to_owned), said))
    }

    /// What stands for the messages before a compaction.
    pub(super) fn summary(summary: &str) -> Self {
        Self::User {
            text: format!("{SUMMARY_HEADING}{summary}"),
        }
    }

    /// What the message costs, in characters ([`openclaw_tokens::characters`]).
    pub fn characters(&self) -> usize {
        match self {
            Self::User { text } => characters(text),
            Self::Tool { output, .. } => characters(output),
            Self::Assistant { text, calls } => {
                let cost =
                    |call: &Call| characters(&call.name) + characters(&call.arguments.to_string());
                characters(text) + calls.iter().map(cost).sum::<usize>()
            }
        }
    }
}

fn call(block: &StoredBlock) -> Option<Call> {
    match block {
        StoredBlock::ToolCall {
            id,
            name,
            arguments,
            ..
        } => Some(Call {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        }),
        _ => None,
    }
}

/// What one line is to a prompt.
pub(super) enum Word {
    /// An entry.
    Entry(Read),
    /// The first line.
    Header,
    /// Nothing.
    Blank,
    /// Not an entry; JSON of a shape that is not known is a later version's.
    Unknown { is_json: bool },
}

/// An entry and its place.
pub(super) struct Read {
    pub(super) id: Option<String>,
    pub(super) parent: Parent,
    pub(super) said: Entry,
}

/// What an entry says.
pub(super) enum Entry {
    Message {
        run_id: Option<String>,
        /// Other runs whose messages it answers.
        answers: Vec<String>,
        said: HistoryMessage,
        thinking: Option<Box<Thinking>>,
    },
    /// Nothing before it is remembered.
    Reset,
    /// The message of this run was taken back before a model saw it.
    Withdrawn { run_id: String },
    /// What was before `first_kept` is told by the summary.
    Compaction { summary: String, first_kept: String },
    /// It is not part of a prompt.
    Silent,
}

impl Word {
    pub(super) fn of(line: &[u8]) -> Self {
        match serde_json::from_slice::<Written<'_>>(line) {
            Ok(entry) if entry.kind == "session" => Self::Header,
            Ok(entry) => Self::Entry(entry.read()),
            Err(_) if line.trim_ascii().is_empty() => Self::Blank,
            Err(error) => Self::Unknown {
                is_json: error.is_data(),
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    parent_id: Parent,
    #[serde(borrow, default)]
    message: Option<Body<'a>>,
    /// Of a compaction or a branch_summary.
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    first_kept_entry_id: Option<String>,
    /// Of a custom_message.
    #[serde(default)]
    content: Content,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(default)]
    content: Content,
    #[serde(default)]
    idempotency_key: Option<String>,
    #[serde(default)]
    tool_call_id: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    api: Option<String>,
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(rename = "__openclaw", default)]
    openclaw: Option<Openclaw>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Openclaw {
    #[serde(default)]
    run_id: Option<String>,
    #[serde(default)]
    command: Option<IgnoredAny>,
    #[serde(default)]
    withdrawn: Option<Value>,
    #[serde(default)]
    also_answers: Option<Value>,
}

/// Words, calls and signed thinking out of a text or out of blocks.
#[derive(Default)]
struct Content {
    text: String,
    calls: Vec<Call>,
    thoughts: Vec<Thought>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    thinking_signature: Option<String>,
    #[serde(default)]
    redacted: Option<bool>,
}

impl Written<'_> {
    fn read(self) -> Read {
        let said = match (&*self.kind, self.message, self.summary) {
            ("reset", ..) => Entry::Reset,
            ("message", Some(body), _) if self.id.is_some() => body.read(),
            ("compaction", _, Some(summary)) => Entry::Compaction {
                summary,
                first_kept: self.first_kept_entry_id.unwrap_or_default(),
            },
            ("branch_summary", _, Some(summary)) => user(format!("{BRANCH_HEADING}{summary}")),
            ("custom_message", ..) => user(self.content.text),
            _ => Entry::Silent,
        };
        Read {
            id: self.id,
            parent: self.parent_id,
            said,
        }
    }
}

/// Something that is told to the model as if the user had said it.
fn user(text: String) -> Entry {
    Entry::Message {
        run_id: None,
        answers: Vec::new(),
        said: HistoryMessage::User { text },
        thinking: None,
    }
}

impl Body<'_> {
    fn read(self) -> Entry {
        let Openclaw {
            run_id: run,
            command,
            withdrawn,
            also_answers,
        } = self.openclaw.unwrap_or_default();
        // What the gateway itself was told and answered.
        if command.is_some() {
            return Entry::Silent;
        }
        if withdrawn == Some(Value::Bool(true)) && self.role != "user" {
            return run.map_or(Entry::Silent, |run_id| Entry::Withdrawn { run_id });
        }
        let Content {
            text,
            calls,
            thoughts,
        } = self.content;
        let thinking = Thinking::signed(self.api, self.provider, self.model, thoughts);
        let (run_id, said) = match &*self.role {
            // What happened is told with the message of its run.
            "user" => (
                run_of_key(self.idempotency_key).or(run),
                HistoryMessage::User { text },
            ),
            "assistant" => (run, HistoryMessage::Assistant { text, calls }),
            "toolResult" => (
                run,
                HistoryMessage::Tool {
                    call_id: self.tool_call_id,
                    name: self.tool_name,
                    output: text,
                    is_error: self.is_error,
                },
            ),
            _ => return Entry::Silent,
        };
        Entry::Message {
            run_id,
            answers: also_answers.map(texts).unwrap_or_default(),
            said,
            thinking,
        }
    }
}

/// The texts of a list; of anything else none.
fn texts(value: Value) -> Vec<String> {
    let Value::Array(items) = value else {
        return Vec::new();
    };
    let text = |item| match item {
        Value::String(text) => Some(text),
        _ => None,
    };
    items.into_iter().filter_map(text).collect()
}

fn run_of_key(key: Option<String>) -> Option<String> {
    key.as_deref()?.strip_suffix(USER_SUFFIX).map(str::to_owned)
}

impl Content {
    fn add(&mut self, block: Block<'_>) {
        match (&*block.kind, block.text, block.id, block.name) {
            ("text", Some(text), ..) if self.text.is_empty() => self.text = text,
            ("text", Some(text), ..) => {
                self.text.push('\n');
                self.text.push_str(&text);
            }
            ("toolCall", _, Some(id), Some(name)) => self.calls.push(Call {
                id,
                name,
                arguments: block.arguments,
            }),
            ("thinking", ..) => {
                let signature = block.thinking_signature.unwrap_or_default();
                let text = block.thinking.unwrap_or_default();
                let redacted = block.redacted.unwrap_or_default();
                self.thoughts
                    .extend(Thought::signed(text, signature, redacted));
            }
            _ => {}
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or a list of blocks")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content {
            text: text.to_owned(),
            ..Content::default()
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Content, A::Error> {
        let mut content = Content::default();
        while let Some(block) = blocks.next_element::<Block<'de>>()? {
            content.add(block);
        }
        Ok(content)
    }
}
