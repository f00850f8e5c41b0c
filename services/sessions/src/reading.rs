//! Reading a conversation as people do (seed 001, phase 3): what was said, which
//! tools were used on what, and which of them failed.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::disk;
use crate::error::Error;
use crate::transcript::{Backward, Block, Chain, Entry, Line, Message, Parent, noted};

/// What of a tool's arguments says best what it was used on, in this order.
const TELLING: [&str; 14] = [
    "path",
    "file_path",
    "filePath",
    "file",
    "query",
    "q",
    "pattern",
    "url",
    "command",
    "cmd",
    "name",
    "prompt",
    "message",
    "text",
];

/// Characters of an argument that are kept.
const ARGUMENT_LIMIT: usize = 200;

/// Words in a tool's output that tell of an error (seed 001).
const ERROR_WORDS: [&str; 4] = ["error", "Error", "failed", "FAILED"];

/// Most entries of one page.
pub const PAGE_LIMIT: usize = 1000;

/// One thing of a conversation that is worth reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The user's words.
    User(String),
    /// The assistant's words.
    Assistant(String),
    /// A tool that was used.
    Tool {
        /// Its name.
        name: String,
        /// The one argument that says on what.
        argument: Option<String>,
    },
    /// A tool's answer, of which only this is told.
    Result {
        /// The tool.
        name: String,
        /// Whether it tells of an error.
        is_error: bool,
    },
}

/// Which part of a conversation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Newest messages to pass over.
    pub skip: usize,
    /// Messages to return.
    pub limit: usize,
    /// Whether to read on behind the last reset.
    pub all: bool,
}

/// A part of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The messages' entries, oldest first, and what stands between them.
    pub entries: Vec<Paged>,
    /// Whether there are older ones.
    pub has_more: bool,
    /// Where lines begin that are no entries, among those that were read; at
    /// most [`transcript::CORRUPT_LIMIT`](crate::transcript::CORRUPT_LIMIT).
    pub corrupt: Vec<u64>,
}

/// An entry of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Paged {
    /// A message.
    Message(Box<Entry>),
    /// The conversation began anew here.
    Reset,
    /// What was before was summarised.
    Compaction(String),
}

/// What is worth reading of a message.
pub fn items(message: &Message) -> Vec<Item> {
    match message {
        Message::User(user) => words(user.content.to_text(), Item::User),
        Message::ToolResult(result) => {
            let text = result.content.to_text();
            let tells = ERROR_WORDS.iter().any(|word| text.contains(word));
            vec![Item::Result {
                name: result.tool_name.clone(),
                is_error: result.is_error || tells,
            }]
        }
        Message::Assistant(assistant) => {
            let mut items = words(assistant.content.to_text(), Item::Assistant);
            items.extend(assistant.content.blocks().iter().filter_map(tool));
            items
        }
    }
}

/// Reads one part of the transcript at `path`, from its end: how long the file
/// is does not matter. A file that is not there has nothing.
pub fn page(path: &Path, wanted: Wanted) -> Result<Page, Error> {
    let Some(file) = disk::if_there(File::open(path)).map_err(Error::io("open", path))? else {
        return Ok(Page::default());
    };
    let failed = |error| Error::io("read", path)(error);
    let mut chain = Chain::default();
    let page = collect(&file, wanted, &mut chain).map_err(failed)?;
    if chain.leads_nowhere() {
        return collect(&file, wanted, &mut Chain::all()).map_err(failed);
    }
    Ok(page)
}

fn collect(file: &File, wanted: Wanted, chain: &mut Chain) -> io::Result<Page> {
    let mut entries = VecDeque::new();
    let mut lines = Backward::new(file)?;
    let mut corrupt = Vec::new();
    let mut seen = 0;
    while let Some((offset, line)) = lines.next_line()? {
        let Ok(line) = Line::parse(&line) else {
            if !line.trim_ascii().is_empty() {
                chain.is_broken();
                noted(&mut corrupt, offset);
            }
            continue;
        };
        match paged(line, chain) {
            None => {}
            Some(Paged::Reset) if !wanted.all => break,
            Some(message @ Paged::Message(_)) => {
                if seen >= wanted.skip + wanted.limit {
                    return Ok(Page {
                        entries: entries.into(),
                        has_more: true,
                        corrupt,
                    });
                }
                if seen >= wanted.skip {
                    entries.push_front(message);
                }
                seen += 1;
            }
            Some(marker) if seen >= wanted.skip => entries.push_front(marker),
            Some(_) => {}
        }
    }
    Ok(Page {
        entries: entries.into(),
        has_more: false,
        corrupt,
    })
}

/// What the line is to a reader, when it is part of the conversation.
fn paged(line: Line, chain: &mut Chain) -> Option<Paged> {
    match line {
        Line::Header(_) => None,
        Line::Message(entry) => {
            let parent = match &entry.parent_id {
                Some(id) => Parent::Id(id.clone()),
                None => Parent::Root,
            };
            chain
                .admits(Some(&entry.id), &parent)
                .then_some(Paged::Message(entry))
        }
        Line::Other(other) => {
            let value: Value = serde_json::from_str(&other.raw).ok()?;
            let parent = match value.get("parentId") {
                None => Parent::Unsaid,
                Some(id) => id
                    .as_str()
                    .map_or(Parent::Root, |id| Parent::Id(id.to_owned())),
            };
            if !chain.admits(other.id.as_deref(), &parent) {
                return None;
            }
            match other.kind.as_str() {
                "reset" => Some(Paged::Reset),
                "compaction" => {
                    let summary = value.get("summary").and_then(Value::as_str);
                    Some(Paged::Compaction(summary.unwrap_or_default().to_owned()))
                }
                _ => None,
            }
        }
    }
}

fn words(text: String, item: impl FnOnce(String) -> Item) -> Vec<Item> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    vec![item(text)]
}

fn tool(block: &Block) -> Option<Item> {
    let Block::ToolCall {
        name, arguments, ..
    } = block
    else {
        return None;
    };
    Some(Item::Tool {
        name: name.clone(),
        argument: telling(arguments),
    })
}

/// The argument that says what a tool was used on; when none is known for it,
/// the only one that is a text.
fn telling(arguments: &Value) -> Option<String> {
    let arguments = arguments.as_object()?;
    let text = |value: &Value| {
        value
            .as_str()
            .filter(|text| !text.is_empty())
            .map(shortened)
    };
    let known = TELLING.iter().find_map(|name| text(arguments.get(*name)?));
    known.or_else(|| match arguments.len() {
        1 => arguments.values().find_map(text),
        _ => None,
    })
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(ARGUMENT_LIMIT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn telling_argument_is_kept_and_the_rest_dropped() {
        for (arguments, expected) in [
            (json!({ "query": "JWT", "count": 8 }), Some("JWT")),
            (json!({ "content": "long", "path": "a.txt" }), Some("a.txt")),
            (json!({ "city": "Brno" }), Some("Brno")),
            (json!({ "a": "1", "b": "2" }), None),
            (json!({ "path": "" }), None),
            (json!("text"), None),
        ] {
            assert_eq!(telling(&arguments).as_deref(), expected, "{arguments}");
        }
    }
}
