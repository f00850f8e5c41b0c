//! What is given to the index.

/// Where a document comes from; searches can be limited to some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The workspace's own files: MEMORY.md, USER.md, notes.
    Memory,
    /// Folders that the configuration adds.
    Extra,
    /// Transcripts of conversations.
    Sessions,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Extra, Self::Sessions];

    /// As OpenClaw names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Extra => "extra",
            Self::Sessions => "sessions",
        }
    }
}

/// A file or a transcript. The index keeps what it needs of it; putting one
/// with the path of another replaces that, and only what differs is indexed.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its name, unique in the index: relative to the workspace for its files.
    pub path: String,
    /// Where it comes from.
    pub source: Source,
    /// What the caller knows a changed file by (size, times, inode); given back
    /// by [`crate::Engine::known`] and not looked into.
    pub stamp: String,
    /// Unix milliseconds of the last change.
    pub modified_ms: i64,
    /// The Unix milliseconds at which the day began that the file is about.
    /// Documents without one do not grow old: what is kept in them is kept
    /// because it stays true. Messages have times of their own.
    pub day_ms: Option<i64>,
    /// What the path says of the contents, such as `garden` for
    /// `memory/2026-03-04-garden.md`; searched like a heading.
    pub topic: String,
    /// The contents.
    pub body: Body,
}

/// The contents of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Markdown, or any text; cut into passages of about 400 tokens.
    Text(String),
    /// A conversation; every message is a passage.
    Messages(Vec<Message>),
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Unique in its document.
    pub id: String,
    /// A name or a role; may be empty.
    pub speaker: String,
    /// What was said; messages without text are not indexed.
    pub text: String,
    /// Unix milliseconds.
    pub timestamp_ms: i64,
    /// Its line in the transcript, counted from 1; 0 when there is none.
    pub line: u32,
}
