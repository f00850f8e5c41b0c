//! What is asked, and what is answered.

use std::time::Instant;

use crate::document::{Kind, Source};
use crate::ranking::{LISTS, Ranking};

/// The most hits of one search; more is not read by anybody.
pub const LIMIT: usize = 200;
/// Hits when a caller has no wish (OpenClaw's maxResults).
pub const DEFAULT_LIMIT: usize = 6;

/// A question.
#[derive(Debug, Clone)]
pub struct Query {
    /// In the user's words. Of a very long text only the first 8 KiB count.
    pub text: String,
    /// The most hits wanted; no more than [`LIMIT`] are given.
    pub limit: usize,
    /// Hits with a lower score are left out; 0 to 1.
    pub min_score: f64,
    /// Ages are counted from here; Unix milliseconds.
    pub now_ms: i64,
    /// Only documents from these; empty: from all.
    pub sources: Vec<Source>,
    /// Documents that are not searched, such as the transcript of the session
    /// that asks.
    pub without: Vec<String>,
    /// When this is past, what is found by then is given and
    /// [`SearchResult::complete`] is false.
    pub deadline: Option<Instant>,
    /// How scores are made.
    pub ranking: Ranking,
    /// Which embedder gives the vector scores.
    pub embedder: Choice,
}

impl Query {
    /// A question with the defaults.
    pub fn new(text: impl Into<String>, now_ms: i64) -> Self {
        Self {
            text: text.into(),
            limit: DEFAULT_LIMIT,
            min_score: 0.0,
            now_ms,
            sources: Vec::new(),
            without: Vec::new(),
            deadline: None,
            ranking: Ranking::default(),
            embedder: Choice::Static,
        }
    }
}

/// Which embedder a search uses. What it needs and has not is said in
/// [`SearchResult::warnings`], and the search goes on with what there is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Choice {
    /// Keywords only.
    None,
    /// The table that is shipped.
    #[default]
    Static,
    /// Vectors made elsewhere score the best of what the table found anew:
    /// those that [`crate::Engine::store_vectors`] was given under this name.
    Remote {
        /// Names the model; vectors of different models are never compared.
        model: String,
        /// The question's vector; None when it could not be had.
        vector: Option<Vec<f32>>,
    },
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Best first.
    pub hits: Vec<Hit>,
    /// False when the deadline cut it short.
    pub complete: bool,
    /// What could not be used, in words for the user.
    pub warnings: Vec<String>,
}

/// A passage or a message that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document's path.
    pub path: String,
    /// Where the document comes from.
    pub source: Source,
    /// The first line of the snippet, counted from 1; for messages their line
    /// in the transcript.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// The message, where the document is a conversation.
    pub message: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// Headings and the like that it stands under, outermost first.
    pub context: Vec<String>,
    /// Who said it; empty when nobody is known.
    pub speaker: String,
    /// Unix milliseconds: the message's, the day's the note is about, or of
    /// the file's last change.
    pub timestamp_ms: i64,
    /// What the hits are ordered by, highest first; 0 to 1.
    pub score: f64,
    /// What it is made of.
    pub parts: Parts,
    /// At most 700 characters of the passage, those that match best.
    pub snippet: String,
    /// Of them the sentences that answer: all of a short passage.
    pub answer: String,
}

/// From this evidence on a passage answers: less is only about the same.
pub const ANSWERS: f64 = 0.55;

impl Hit {
    /// Whether it answers the question, as far as words tell: the one threshold
    /// of what is given unasked, of answers without a model, and of what a
    /// search shows as found.
    pub fn answers(&self) -> bool {
        self.kind.tells() && self.parts.evidence >= ANSWERS
    }
}

/// The parts of a score. All but the last five are 0 to 1, relative to the best
/// of this search; [`crate::Weights`] sums them up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// The passage's own words.
    pub text: f64,
    /// The words of the passage and its neighbours.
    pub window: f64,
    /// The words of the section or the part of the conversation it is in.
    pub session: f64,
    /// The likeness of its meaning.
    pub vector: f64,
    /// The likeness of meaning of it with its neighbours.
    pub vector_window: f64,
    /// Whether it was said by somebody the question names.
    pub speaker: f64,
    /// Whether it has the kind of fact that is asked for.
    pub fact: f64,
    /// The words of the question that it follows, where it follows one.
    pub reply: f64,
    /// How near its words are to those of the question, one by one; of messages
    /// among the best.
    pub words: f64,
    /// Whether it has something of the kind that is asked for.
    pub kind: f64,
    /// What age left of the score: 1 for the newest, never below the floor.
    pub decay: f64,
    /// BM25 of the passage, as it is.
    pub bm25: f64,
    /// Cosine of question and passage, as it is: -1 to 1.
    pub cosine: f64,
    /// Of what the question's terms weigh, the share that is in the passage and
    /// its neighbours: 0 to 1.
    pub coverage: f64,
    /// How sure it is that the passage itself answers: 0 to 1. What a caller can
    /// set a threshold on ([`ANSWERS`]).
    pub evidence: f64,
    /// 1 where it tells what kind of thing is asked for: a date, somebody, a place.
    pub told: f64,
}

impl Parts {
    /// Those that [`crate::Weights`] sums up.
    pub fn lists(&self) -> [f64; LISTS] {
        [
            self.text,
            self.window,
            self.session,
            self.vector,
            self.vector_window,
            self.speaker,
            self.fact,
            self.reply,
            self.words,
            self.kind,
        ]
    }
}
