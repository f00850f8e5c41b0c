//! Made-up documents and questions, the same at every run.

use openclaw_retrieval::{Body, Document, Message, Source};

/// Different words.
const VOCABULARY: usize = 60_000;
/// Passages of a note, messages of a conversation.
const PASSAGES: usize = 16;
const MESSAGES: usize = 60;
/// 2026-01-01.
const BEGIN_MS: i64 = 1_767_225_600_000;
const DAY_MS: i64 = 86_400_000;

const STOP_WORDS: [&str; 24] = [
    "the", "and", "to", "of", "a", "in", "is", "it", "that", "was", "for", "on", "with", "he",
    "as", "you", "do", "at", "this", "but", "his", "by", "from", "they",
];
const SYLLABLES: [&str; 32] = [
    "ba", "con", "der", "fi", "gal", "hou", "in", "jo", "ker", "lan", "mar", "ne", "or", "per",
    "qui", "ras", "sta", "ter", "un", "ver", "wil", "xe", "yar", "zon", "ment", "ing", "tion",
    "ly", "est", "ard", "ock", "ish",
];

/// What the documents are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Markdown with passages of about 1,500 characters.
    Notes,
    /// Conversations with messages of about 140.
    Messages,
}

impl Shape {
    /// The shape with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "notes" => Some(Self::Notes),
            "messages" => Some(Self::Messages),
            _ => None,
        }
    }
}

/// Makes documents, one after the other.
#[derive(Debug)]
pub(crate) struct Corpus {
    shape: Shape,
    state: u64,
    made: usize,
}

impl Corpus {
    /// From the beginning.
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            shape,
            state: 0x9E37_79B9_7F4A_7C15,
            made: 0,
        }
    }

    /// After everything that was made.
    pub(crate) fn now_ms(&self) -> i64 {
        BEGIN_MS + 400 * DAY_MS
    }

    /// Up to `count` documents, with about `chunks` passages at most.
    pub(crate) fn documents(&mut self, count: usize, chunks: usize) -> Vec<Document> {
        let each = match self.shape {
            Shape::Notes => PASSAGES,
            Shape::Messages => MESSAGES,
        };
        let count = count.min(chunks.div_ceil(each));
        (0..count).map(|_| self.document()).collect()
    }

    fn document(&mut self) -> Document {
        self.made += 1;
        let day_ms = BEGIN_MS + (self.made as i64 % 365) * DAY_MS;
        let (source, body) = match self.shape {
            Shape::Notes => (Source::Memory, Body::Text(self.note())),
            Shape::Messages => (Source::Sessions, Body::Messages(self.conversation(day_ms))),
        };
        Document {
            path: format!("{source:?}/{}", self.made),
            source,
            stamp: self.made.to_string(),
            modified_ms: day_ms,
            day_ms: Some(day_ms),
            topic: String::new(),
            body,
        }
    }

    fn note(&mut self) -> String {
        let section = |corpus: &mut Self| {
            let heading = corpus.text(20);
            let body = corpus.text(1480);
            format!("## {heading}\n\n{body}\n\n")
        };
        (0..PASSAGES).map(|_| section(self)).collect()
    }

    fn conversation(&mut self, day_ms: i64) -> Vec<Message> {
        let message = |number: usize| Message {
            id: number.to_string(),
            speaker: if number.is_multiple_of(2) {
                "user"
            } else {
                "assistant"
            }
            .to_owned(),
            text: self.text(140),
            timestamp_ms: day_ms + number as i64 * 1000,
            line: number as u32 + 1,
            is_echo: false,
        };
        (0..MESSAGES).map(message).collect()
    }

    /// A question of three to eight words that say something.
    pub(crate) fn question(&mut self) -> String {
        let words = 3 + self.random() % 6;
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        format!("what did they say about the {}?", words.join(" and the "))
    }

    fn text(&mut self, size: usize) -> String {
        let mut text = String::new();
        while text.len() < size {
            let word = match self.random() % 2 {
                0 => STOP_WORDS[self.random() % STOP_WORDS.len()].to_owned(),
                _ => self.word(),
            };
            text.push_str(&word);
            text.push(if self.random().is_multiple_of(12) {
                '.'
            } else {
                ' '
            });
            text.push(' ');
        }
        text
    }

    /// A word; the one of rank n is n times rarer than the first.
    fn word(&mut self) -> String {
        let uniform = (self.random() as f64) / f64::from(u32::MAX >> 1);
        let mut rank = (VOCABULARY as f64).powf(uniform) as usize + 37;
        let mut word = String::new();
        while rank > 0 {
            word.push_str(SYLLABLES[rank % SYLLABLES.len()]);
            rank /= SYLLABLES.len();
        }
        word
    }

    /// xorshift64* (Marsaglia, 2003), 31 bits.
    fn random(&mut self) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize
    }
}
