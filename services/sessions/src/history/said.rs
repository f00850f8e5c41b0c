//! What a transcript line says, read for a prompt.
//!
//! A prompt needs a few fields of each message and reads hundreds of them for
//! every turn, so they are taken out directly. Reading whole entries, with the
//! fields that are only kept, takes more than twice as long.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};
use serde_json::Value;

use crate::transcript::USER_SUFFIX;

/// What a message says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
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

impl Said {
    /// What the message costs, in characters.
    pub fn characters(&self) -> usize {
        match self {
            Self::User { text } => text.chars().count(),
            Self::Tool { output, .. } => output.chars().count(),
            Self::Assistant { text, calls } => {
                let cost = |call: &Call| call.name.len() + call.arguments.to_string().len();
                text.chars().count() + calls.iter().map(cost).sum::<usize>()
            }
        }
    }
}

/// What one line is to a prompt.
pub(super) enum Read {
    Message {
        entry_id: String,
        run_id: Option<String>,
        said: Said,
    },
    /// Nothing before it is remembered.
    Reset,
    /// An entry that is not part of a prompt.
    Silent,
    /// Not an entry.
    Corrupt,
}

impl Read {
    pub(super) fn line(line: &[u8]) -> Self {
        match serde_json::from_slice::<Entry<'_>>(line) {
            Ok(entry) => entry.read(),
            // JSON of a shape that is not known is a later version's.
            Err(error) if error.is_data() => Self::Silent,
            Err(_) if line.trim_ascii().is_empty() => Self::Silent,
            Err(_) => Self::Corrupt,
        }
    }
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<Body<'a>>,
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
    #[serde(rename = "__openclaw", default)]
    openclaw: Option<Openclaw>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Openclaw {
    #[serde(default)]
    run_id: Option<String>,
}

/// Words and calls out of a text or out of blocks.
#[derive(Default)]
struct Content {
    text: String,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
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
}

impl Entry<'_> {
    fn read(self) -> Read {
        match (&*self.kind, self.id, self.message) {
            ("reset", ..) => Read::Reset,
            ("message", Some(id), Some(body)) => body.read(id.into_owned()),
            _ => Read::Silent,
        }
    }
}

impl Body<'_> {
    fn read(self, entry_id: String) -> Read {
        let run = self.openclaw.and_then(|openclaw| openclaw.run_id);
        let Content { text, calls } = self.content;
        let (run_id, said) = match &*self.role {
            "user" => (run_of_key(self.idempotency_key), Said::User { text }),
            "assistant" => (run, Said::Assistant { text, calls }),
            "toolResult" => (
                run,
                Said::Tool {
                    call_id: self.tool_call_id,
                    name: self.tool_name,
                    output: text,
                    is_error: self.is_error,
                },
            ),
            _ => return Read::Silent,
        };
        Read::Message {
            entry_id,
            run_id,
            said,
        }
    }
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
            calls: Vec::new(),
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
