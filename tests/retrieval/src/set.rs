//! How well a search finds what is known to answer: conversations with
//! questions, and for each question the messages that answer it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;

use openclaw_retrieval::{
    Body, Choice, Document, Engine, Error, Message, Options, Query, Ranking, Source,
};

/// Hits looked at for each question.
const HITS: usize = 10;
/// Messages of a session have one time in these sets; they are told apart by
/// this, in milliseconds.
const BETWEEN_MS: i64 = 1000;

/// A conversation with questions, as it is in a file.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Set {
    /// What it is called.
    pub(crate) name: String,
    sessions: Vec<Session>,
    queries: Vec<Asked>,
}

#[derive(Debug, Clone, Deserialize)]
struct Session {
    id: String,
    started_at: jiff::Timestamp,
    messages: Vec<Said>,
}

#[derive(Debug, Clone, Deserialize)]
struct Said {
    id: String,
    #[serde(default)]
    speaker: String,
    text: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Asked {
    text: String,
    relevant: BTreeSet<String>,
    #[serde(default)]
    category: String,
}

/// What answered one question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// The question's category.
    pub(crate) category: String,
    /// For each hit, best first, whether it is one that answers.
    pub(crate) hits: Vec<bool>,
    /// How many answer.
    pub(crate) relevant: usize,
    /// How long the search took.
    pub(crate) latency: Duration,
}

/// How a set is evaluated.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The models.
    pub(crate) options: Options,
    /// Which of them is used.
    pub(crate) embedder: Choice,
    /// How scores are made.
    pub(crate) ranking: Ranking,
    /// Whether the parts of a question are asked beside it.
    pub(crate) splits: bool,
}

/// Why a set cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvaluationError {
    /// Its file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// Its file has another format.
    #[error("{path} is no evaluation set (the format is in services/memory/README.md)")]
    Format {
        /// The file.
        path: String,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
    /// The index failed.
    #[error("cannot evaluate {name}")]
    Index {
        /// The set.
        name: String,
        /// Why not.
        #[source]
        source: Error,
    },
    /// The embedder that was asked for cannot be used.
    #[error("{0}")]
    Embedder(String),
}

impl Set {
    /// Reads the set in the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, EvaluationError> {
        let name = path.display().to_string();
        let text = std::fs::read(path).map_err(|source| EvaluationError::Unreadable {
            path: name.clone(),
            source,
        })?;
        serde_json::from_slice(&text)
            .map_err(|source| EvaluationError::Format { path: name, source })
    }

    /// Questions in it.
    pub(crate) fn len(&self) -> usize {
        self.queries.len()
    }

    /// Indexes the conversation in `folder`, as transcripts are, and asks every
    /// question; `progress` is called after each.
    pub(crate) fn run(
        &self,
        folder: &Path,
        settings: &Settings,
        mut progress: impl FnMut(),
    ) -> Result<Vec<Outcome>, EvaluationError> {
        let error = |source| EvaluationError::Index {
            name: self.name.clone(),
            source,
        };
        let (engine, _) = Engine::open(folder, settings.options.clone()).map_err(error)?;
        let documents: Vec<Document> = self.sessions.iter().map(document).collect();
        engine.put(&documents).map_err(error)?;
        let now_ms = documents.iter().map(|document| document.modified_ms).max();
        let mut outcomes = Vec::new();
        for asked in &self.queries {
            let query = Query {
                limit: HITS,
                ranking: settings.ranking,
                embedder: settings.embedder.clone(),
                ..Query::new(&asked.text, now_ms.unwrap_or_default())
            };
            let begin = Instant::now();
            let others = if settings.splits {
                parts(&asked.text)
            } else {
                Vec::new()
            };
            let found = engine.search_all(&query, &others).map_err(error)?;
            let latency = begin.elapsed();
            // Figures of another embedder than the one that was asked for would
            // be taken for its own.
            if let Some(warning) = found.warnings.into_iter().next() {
                return Err(EvaluationError::Embedder(warning));
            }
            let is_relevant = |id: &String| asked.relevant.contains(id);
            let anchors = found.hits.iter().map(|hit| hit.message.as_ref());
            outcomes.push(Outcome {
                category: asked.category.clone(),
                hits: anchors.map(|id| id.is_some_and(is_relevant)).collect(),
                relevant: asked.relevant.len(),
                latency,
            });
            progress();
        }
        Ok(outcomes)
    }
}

/// The parts of a question by a rule: what is between the words that join or
/// relate; of a question with none, its second half, where what is asked about
/// mostly stands.
fn parts(text: &str) -> Vec<String> {
    const JOINING: [&str; 14] = [
        "and", "or", "with", "for", "from", "in", "at", "on", "when", "after", "before", "during",
        "about", "to",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_joining = |word: &&str| JOINING.contains(&word.to_lowercase().as_str());
    let parts = words.split(is_joining);
    let parts: Vec<String> = parts
        .filter(|part| part.len() > 1)
        .map(|part| part.join(" "))
        .collect();
    if parts.len() > 1 {
        parts
    } else {
        vec![words[words.len() / 2..].join(" ")]
    }
}

fn document(session: &Session) -> Document {
    let start_ms = session.started_at.as_millisecond();
    let times = (0..).map(|number: i64| start_ms + number * BETWEEN_MS);
    let messages: Vec<Message> = session
        .messages
        .iter()
        .zip(times)
        .zip(1..)
        .map(|((said, timestamp_ms), line)| Message {
            id: said.id.clone(),
            speaker: said.speaker.clone(),
            text: said.text.clone(),
            timestamp_ms,
            line,
            is_echo: false,
        })
        .collect();
    Document {
        path: format!("sessions/{}.jsonl", session.id),
        source: Source::Sessions,
        stamp: String::new(),
        modified_ms: messages
            .last()
            .map_or(start_ms, |message| message.timestamp_ms),
        day_ms: None,
        topic: String::new(),
        body: Body::Messages(messages),
    }
}

/// The outcomes by category, and all of them under the empty name.
pub(crate) fn by_category(outcomes: &[Outcome]) -> BTreeMap<String, Vec<&Outcome>> {
    let mut groups: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        groups
            .entry(outcome.category.clone())
            .or_default()
            .push(outcome);
    }
    groups
}
