//! How well a search finds what is known to answer: conversations with
//! questions, and for each question the messages that answer it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::Deserialize;

use openclaw_retrieval::{
    Body, Choice, Document, Engine, Error, Hit, Message, Options, Parts, Query, Ranking, Source,
};

use crate::remote::{BATCH, Remote};

/// Hits looked at for each question.
const HITS: usize = 10;
/// Of a question, of which weights are learned: as many as a search looks at
/// closely.
const CANDIDATES: usize = 100;
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

/// What could answer a question, and whether it does.
pub(crate) type Choices = Vec<(Parts, bool)>;

/// What gives the vectors.
#[derive(Debug, Clone)]
pub(crate) enum Embedder {
    /// The table that is shipped.
    Static,
    /// Nothing: keywords alone.
    None,
    /// A model that is served elsewhere.
    Remote(Rc<Remote>),
}

/// How a set is evaluated.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Which of the models is used.
    pub(crate) embedder: Embedder,
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

    /// Indexes the conversation in `folder`, as transcripts are.
    pub(crate) fn index(
        &self,
        folder: &Path,
        options: Options,
    ) -> Result<Indexed<'_>, EvaluationError> {
        let (engine, _) = Engine::open(folder, options).map_err(|source| self.error(source))?;
        let documents: Vec<Document> = self.sessions.iter().map(document).collect();
        engine
            .put(&documents)
            .map_err(|source| self.error(source))?;
        let now_ms = documents.iter().map(|document| document.modified_ms).max();
        Ok(Indexed {
            set: self,
            engine,
            now_ms: now_ms.unwrap_or_default(),
        })
    }

    fn error(&self, source: Error) -> EvaluationError {
        EvaluationError::Index {
            name: self.name.clone(),
            source,
        }
    }
}

/// A conversation that questions can be put to.
pub(crate) struct Indexed<'a> {
    pub(crate) set: &'a Set,
    engine: Engine,
    now_ms: i64,
}

impl Indexed<'_> {
    /// Has `remote` make the vectors of all there is.
    pub(crate) fn embed(&self, remote: &Remote) -> Result<(), EvaluationError> {
        loop {
            let missing = self.engine.missing_vectors(&remote.model, BATCH);
            let missing = missing.map_err(|source| self.set.error(source))?;
            if missing.is_empty() {
                return Ok(());
            }
            let texts: Vec<&str> = missing.iter().map(|one| one.text.as_str()).collect();
            let vectors = remote.vectors(&texts).map_err(unusable)?;
            let hashes = missing.iter().map(|one| one.hash);
            let vectors: Vec<_> = hashes.zip(vectors).collect();
            let stored = self.engine.store_vectors(&remote.model, &vectors);
            stored.map_err(|source| self.set.error(source))?;
        }
    }

    /// Asks every question; `progress` is called after each.
    pub(crate) fn ask(
        &self,
        settings: &Settings,
        mut progress: impl FnMut(),
    ) -> Result<Vec<Outcome>, EvaluationError> {
        let mut outcomes = Vec::new();
        for asked in &self.set.queries {
            let query = self.query(asked, settings, HITS)?;
            let begin = Instant::now();
            let others = if settings.splits {
                parts(&asked.text)
            } else {
                Vec::new()
            };
            let found = self.engine.search_all(&query, &others);
            let found = found.map_err(|source| self.set.error(source))?;
            let latency = begin.elapsed();
            // Figures of another embedder than the one that was asked for would
            // be taken for its own.
            if let Some(warning) = found.warnings.into_iter().next() {
                return Err(EvaluationError::Embedder(warning));
            }
            outcomes.push(Outcome {
                category: asked.category.clone(),
                hits: found
                    .hits
                    .iter()
                    .map(|hit| asked.is_answered(hit))
                    .collect(),
                relevant: asked.relevant.len(),
                latency,
            });
            progress();
        }
        Ok(outcomes)
    }

    /// Of every question the lists of its candidates, and whether each answers.
    pub(crate) fn candidates(&self, settings: &Settings) -> Result<Vec<Choices>, EvaluationError> {
        let mut all = Vec::new();
        for asked in &self.set.queries {
            let mut query = self.query(asked, settings, CANDIDATES)?;
            query.ranking.mmr_lambda = 1.0;
            let found = self.engine.search(&query);
            let hits = found.map_err(|source| self.set.error(source))?.hits;
            all.push(
                hits.iter()
                    .map(|hit| (hit.parts, asked.is_answered(hit)))
                    .collect(),
            );
        }
        Ok(all)
    }

    fn query(
        &self,
        asked: &Asked,
        settings: &Settings,
        limit: usize,
    ) -> Result<Query, EvaluationError> {
        let embedder = match &settings.embedder {
            Embedder::Static => Choice::Static,
            Embedder::None => Choice::None,
            Embedder::Remote(remote) => Choice::Remote {
                model: remote.model.clone(),
                vector: remote.vectors(&[&asked.text]).map_err(unusable)?.pop(),
            },
        };
        Ok(Query {
            limit,
            ranking: settings.ranking,
            embedder,
            ..Query::new(&asked.text, self.now_ms)
        })
    }
}

fn unusable(error: anyhow::Error) -> EvaluationError {
    EvaluationError::Embedder(format!("{error:#}"))
}

impl Asked {
    fn is_answered(&self, hit: &Hit) -> bool {
        hit.message
            .as_ref()
            .is_some_and(|id| self.relevant.contains(id))
    }
}

/// The parts of a question by a rule: of one about several people, what it asks
/// of each alone; another is asked as a whole.
fn parts(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_name = |at: usize| at > 0 && words[at].starts_with(char::is_uppercase);
    let names: Vec<usize> = (0..words.len()).filter(|&at| is_name(at)).collect();
    let is_joined = |pair: &[usize]| pair[1] - pair[0] == 2 && words[pair[0] + 1] == "and";
    let Some(pair) = names.windows(2).find(|pair| is_joined(pair)) else {
        return Vec::new();
    };
    let without = |left_out: usize| {
        let kept = words.iter().enumerate();
        let kept = kept.filter(|(at, word)| {
            let is_other = *at == left_out || *at == pair[0] + 1;
            !is_other && !["both", "either"].contains(word)
        });
        kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
    };
    pair.iter().map(|&name| without(name)).collect()
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
