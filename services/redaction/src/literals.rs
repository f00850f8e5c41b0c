//! The texts that are values in a JSON document, one after the other.

use std::ops::Range;

use crate::text::Text;

/// Values of these are what an entry is, not what was said.
const STRUCTURE: [&str; 23] = [
    "type",
    "role",
    "id",
    "parentId",
    "timestamp",
    "version",
    "cwd",
    "api",
    "provider",
    "model",
    "modelId",
    "responseId",
    "stopReason",
    "toolCallId",
    "toolName",
    "customType",
    "runId",
    "sessionId",
    "sessionKey",
    "firstKeptEntryId",
    "mimeType",
    "textSignature",
    "thoughtSignature",
];

/// Below these everything was said by somebody, whatever it is called.
const SAID: [&str; 3] = ["arguments", "input", "details"];

/// In a block the name of a tool, of an entry what somebody called the session.
const NAME: &str = "name";

/// What was signed is not what it was any more: without its signature it is left
/// out of requests.
const SIGNED: &str = "thinking";
const SIGNATURE: &str = "thinkingSignature";

/// Characters that a key needs not to be one of the above.
const KEY: usize = 32;

/// What a value is by its key. Not the key: there are millions in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Structure,
    Name,
    Said,
    Signed,
    Signature,
    /// Any other, or none.
    Other,
}

/// A text between its quotes.
#[derive(Debug)]
pub(crate) struct Literal {
    pub(crate) range: Range<usize>,
    pub(crate) key: Key,
    /// Whether it is below what was said by somebody, or what the entry itself is called.
    pub(crate) is_said: bool,
}

impl Literal {
    /// Whether it is what an entry is.
    pub(crate) fn is_structure(&self) -> bool {
        !self.is_said && matches!(self.key, Key::Structure | Key::Name | Key::Signature)
    }
}

impl Key {
    fn read(text: Text<'_>) -> Self {
        let key: String = text.from(0).take(KEY).map(|(_, c)| c).collect();
        match key.as_str() {
            NAME => Self::Name,
            SIGNED => Self::Signed,
            SIGNATURE => Self::Signature,
            key if SAID.contains(&key) => Self::Said,
            key if STRUCTURE.contains(&key) => Self::Structure,
            _ => Self::Other,
        }
    }
}

/// An object or a list that is not closed yet.
#[derive(Debug)]
struct Open {
    is_object: bool,
    /// The next text in it is a key.
    wants_key: bool,
    key: Key,
    is_said: bool,
}

/// How far a valid document has been read.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    at: usize,
    open: Vec<Open>,
}

impl Literals {
    /// The next text that is a value. What has been read may be changed meanwhile.
    pub(crate) fn next(&mut self, line: &[u8]) -> Option<Literal> {
        while let Some(byte) = line.get(self.at) {
            match byte {
                b'{' | b'[' => self.open(*byte == b'{'),
                b'}' | b']' => drop(self.open.pop()),
                b',' => {
                    if let Some(top) = self.open.last_mut() {
                        top.wants_key = top.is_object;
                    }
                }
                b'"' => {
                    let range = self.at + 1..end_of_text(line, self.at + 1);
                    self.at = range.end + 1;
                    if let Some(literal) = self.text(line, range) {
                        return Some(literal);
                    }
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    fn open(&mut self, is_object: bool) {
        let above = self.open.last();
        let (key, was_said) = above.map_or((Key::Other, false), |one| (one.key, one.is_said));
        self.open.push(Open {
            is_object,
            wants_key: is_object,
            key: if is_object { Key::Other } else { key },
            is_said: was_said || key == Key::Said,
        });
    }

    /// What the text in `range` is; None when it is a key.
    fn text(&mut self, line: &[u8], range: Range<usize>) -> Option<Literal> {
        let depth = self.open.len();
        match self.open.last_mut() {
            Some(top) if top.wants_key => {
                top.wants_key = false;
                top.key = Key::read(Text::escaped(&line[range]));
                None
            }
            Some(top) => Some(Literal {
                range,
                key: top.key,
                is_said: top.is_said || (depth == 1 && top.key == Key::Name),
            }),
            None => Some(Literal {
                range,
                key: Key::Other,
                is_said: true,
            }),
        }
    }
}

/// Where the quote is that ends the text which begins at `at`.
fn end_of_text(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && line[at] != b'"' {
        at += if line[at] == b'\\' { 2 } else { 1 };
    }
    at.min(line.len())
}
