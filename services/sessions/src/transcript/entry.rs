//! The lines of a transcript.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::Message;

/// One line, parsed.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// The first line.
    Header(Header),
    /// A message.
    Message(Box<Entry>),
    /// Anything else, kept byte for byte.
    Other(OtherEntry),
}

/// The first line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// 3 or 4; old files have a text.
    #[serde(default)]
    pub version: Value,
    /// The session's id.
    pub id: String,
    /// ISO 8601, when the session started.
    #[serde(default)]
    pub timestamp: String,
    /// The agent's working directory.
    #[serde(default)]
    pub cwd: String,
    /// Fields not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A message with its place in the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Names the entry within the file.
    pub id: String,
    /// The entry before it; `None` at the root.
    #[serde(default)]
    pub parent_id: Option<String>,
    /// ISO 8601, when it was written.
    #[serde(default)]
    pub timestamp: String,
    /// The message.
    pub message: Message,
    /// Fields not known here.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// An entry that is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherEntry {
    /// Its `type`.
    pub kind: String,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The line as it was written, without its line end.
    pub raw: String,
}

/// Why a line is not an entry.
#[derive(Debug, thiserror::Error)]
pub enum MalformedLine {
    /// Not JSON, or an entry without what its type needs.
    #[error("the line is no entry")]
    Json(#[from] serde_json::Error),
    /// Not UTF-8.
    #[error("the line is not UTF-8")]
    Utf8(#[from] std::str::Utf8Error),
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Written<'a> {
    Session(&'a Header),
    Message(&'a Entry),
}

impl Line {
    /// Parses one line without its line end.
    pub fn parse(line: &[u8]) -> Result<Self, MalformedLine> {
        let text = std::str::from_utf8(line)?;
        let probe: Probe<'_> = serde_json::from_str(text)?;
        match &*probe.kind {
            "session" => Ok(Self::Header(without_type(serde_json::from_str(text)?))),
            "message" => match serde_json::from_str::<Box<Entry>>(text) {
                Ok(mut entry) => {
                    entry.rest.shift_remove("type");
                    Ok(Self::Message(entry))
                }
                // A role of a later version is no corruption.
                Err(_) => Ok(Self::other(&probe, text)),
            },
            _ => Ok(Self::other(&probe, text)),
        }
    }

    /// The entry's id; a header has none.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Header(_) => None,
            Self::Message(entry) => Some(&entry.id),
            Self::Other(other) => other.id.as_deref(),
        }
    }

    /// Appends the line and its line end to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        match self {
            Self::Header(header) => serde_json::to_writer(&mut *out, &Written::Session(header))?,
            Self::Message(entry) => serde_json::to_writer(&mut *out, &Written::Message(entry))?,
            Self::Other(other) => out.extend_from_slice(other.raw.as_bytes()),
        }
        out.push(b'\n');
        Ok(())
    }

    fn other(probe: &Probe<'_>, raw: &str) -> Self {
        Self::Other(OtherEntry {
            kind: probe.kind.to_string(),
            id: probe.id.as_deref().map(str::to_owned),
            raw: raw.to_owned(),
        })
    }
}

fn without_type(mut header: Header) -> Header {
    header.rest.shift_remove("type");
    header
}
