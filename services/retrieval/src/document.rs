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

/// What a passage is, as far as answers go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Kind {
    /// Of a file: somebody thought it worth keeping.
    #[default]
    Note,
    /// Said by a person.
    Told,
    /// Asked by a person: it says nothing of the answer.
    Asked,
    /// Said by a model.
    Answered,
    /// An answer made of what is remembered, without a model: it only repeats.
    Echo,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Note,
        Self::Told,
        Self::Asked,
        Self::Answered,
        Self::Echo,
    ];

    /// As it is named to users and models.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Told => "said",
            Self::Asked => "question",
            Self::Answered => "answer",
            Self::Echo => "quote",
        }
    }

    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    pub(crate) fn numbered(number: u8) -> Self {
        let known = Self::ALL.into_iter().find(|kind| kind.number() == number);
        known.unwrap_or_default()
    }

    /// Whether it can answer: questions and quotes only lead to what does.
    pub(crate) fn tells(self) -> bool {
        !matches!(self, Self::Asked | Self::Echo)
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
    /// Whether it was made of what is remembered, without a model.
    pub is_echo: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_kinds_have_the_names_that_clients_know() {
        let names = Source::ALL.map(Source::name);
        assert_eq!(names, ["memory", "extra", "sessions"]);
        let names = Kind::ALL.map(Kind::name);
        assert_eq!(names, ["note", "said", "question", "answer", "quote"]);
    }
}
