//! From a caller's question to the index's, and back.

use std::time::{Duration, Instant};

use openclaw_proto::memory::{Hit, Parts, Question, SearchResults};
use openclaw_retrieval::{Choice, Engine, Query, Ranking, SearchResult, Source, Weights};
use openclaw_settings::{Embedder, MemorySearch};

use crate::embedding::Hub;
use crate::error::Error;
use crate::source::{SESSIONS, TRANSCRIPT};
use crate::store::Store;

/// The most hits of one search.
const LIMIT: usize = 50;
/// Questions beside the first; the others are left out.
const QUERIES: usize = 8;
/// What a search gets when its caller does not say (OpenClaw's search tool).
const DEADLINE: Duration = Duration::from_secs(30);
/// Of it, what a remote embedder gets; the rest of the search needs
/// milliseconds.
const EMBEDDING: Duration = Duration::from_secs(5);
/// Looked for beyond what is wanted: messages that are being answered are
/// taken out of what is found.
const SPARE: usize = 8;
/// The same where much is taken out: of a run that knows of no answer (a job
/// asks the same every day, and what it answered fits best), and where others
/// hear what is found.
const WIDE_SPARE: usize = 256;
/// The table that is shipped, as its model.
const STATIC_MODEL: &str = "static-minilm-256";

/// A question that is ready for the index.
#[derive(Debug)]
pub(crate) struct Asked {
    query: Query,
    others: Vec<String>,
    limit: usize,
    session: String,
    since_ms: i64,
    is_isolated: bool,
    is_shared: bool,
    warnings: Vec<String>,
    embedder: Embedder,
}

/// What a message is given unasked.
#[derive(Debug)]
pub(crate) struct Recollection {
    pub(crate) found: SearchResults,
    /// What was found beside the session of the question, where that has some of it.
    pub(crate) beside: Vec<Hit>,
}

impl Asked {
    /// Makes ready `question` for `store`; a remote embedder is asked first.
    pub(crate) async fn prepare(
        question: Question,
        store: &Store,
        hub: &Hub,
    ) -> Result<Self, Error> {
        let begin = Instant::now();
        let deadline = match question.deadline_ms {
            0 => DEADLINE,
            milliseconds => Duration::from_millis(milliseconds.into()),
        };
        if question.text.trim().is_empty() {
            return Err(Error::QueryEmpty);
        }
        let mut sources = sources(&question.corpus)?;
        if question.shared && question.session_id.is_empty() && sources.is_empty() {
            // No conversation is the asker's own.
            sources = vec![Source::Memory, Source::Extra];
        }
        let limit = match question.limit {
            0 => store.search.results as usize,
            limit => (limit as usize).min(LIMIT),
        };
        let mut warnings = Vec::new();
        let embedder = choice(&question.text, store, hub, deadline, &mut warnings).await;
        let now_ms = jiff::Timestamp::now().as_millisecond();
        let query = Query {
            limit: limit
                + if question.isolated || question.shared {
                    WIDE_SPARE
                } else {
                    SPARE
                },
            min_score: minimum(question.min_score, &store.search)?,
            sources,
            deadline: Some(begin + deadline),
            ranking: ranking(&store.search, &embedder),
            embedder,
            ..Query::new(question.text, now_ms)
        };
        let others = question.others.into_iter();
        let others = others.filter(|other| !other.trim().is_empty());
        Ok(Self {
            query,
            others: others.take(QUERIES).collect(),
            limit,
            session: format!("{SESSIONS}{}{TRANSCRIPT}", question.session_id),
            since_ms: question.since_ms,
            is_isolated: question.isolated,
            is_shared: question.shared,
            warnings,
            embedder: store.embedder.clone(),
        })
    }

    /// Searches. Blocks.
    pub(crate) fn search(self, store: &Store) -> Result<SearchResults, Error> {
        let others = self.others.clone();
        self.ask(store, |_, engine, query| engine.search_all(query, &others))
    }

    /// Finds what answers, and once more beside the session of the question where some of it
    /// was said there. Blocks.
    pub(crate) fn recall(self, store: &Store) -> Result<Recollection, Error> {
        let limit = self.limit;
        let mut beside = Vec::new();
        let found = self.ask(store, |asked, engine, query| {
            // What is not given keeps nothing else away.
            let gives = |found: &_| asked.gives(&hit(Clone::clone(found)));
            let mut found = engine.recall(query, gives)?;
            if found.hits.iter().any(|hit| hit.path == asked.session) {
                let query = Query {
                    without: vec![asked.session.clone()],
                    ..query.clone()
                };
                let more = engine.recall(&query, gives)?;
                found.complete &= more.complete;
                beside = more.hits.into_iter().take(limit).map(hit).collect();
            }
            Ok(found)
        })?;
        Ok(Recollection { found, beside })
    }

    /// Whether whoever asks is given `hit`.
    fn gives(&self, hit: &Hit) -> bool {
        if self.is_shared && hit.is_private(&self.session) {
            return false;
        }
        if self.is_isolated {
            return !hit.is_hidden_from(&self.session);
        }
        let is_own = hit.path == self.session && hit.timestamp_ms >= self.since_ms;
        self.since_ms <= 0 || !is_own
    }

    fn ask(
        self,
        store: &Store,
        ask: impl FnOnce(&Self, &Engine, &Query) -> Result<SearchResult, openclaw_retrieval::Error>,
    ) -> Result<SearchResults, Error> {
        store.used.notify_one();
        let found = ask(&self, &*store.engine()?, &self.query);
        let found = found.inspect_err(|error| {
            if error.is_damage() {
                store.index().close();
            }
        })?;
        let hits = found.hits.into_iter().map(hit);
        let hits: Vec<Hit> = hits
            .filter(|hit| self.gives(hit))
            .take(self.limit)
            .collect();
        let mut warnings = self.warnings;
        warnings.extend(found.warnings);
        if !found.complete {
            let warning = "the search took too long: only what was found by then is given";
            tracing::warn!("{warning}");
            warnings.push(warning.to_owned());
        }
        let taking_in = store.health().pending > 0 && !store.progress.borrow().done;
        let unread = taking_in || !*store.looked.borrow();
        let (provider, model) = names(&self.embedder);
        Ok(SearchResults {
            hits,
            partial: !found.complete || unread,
            warnings,
            provider,
            model,
        })
    }
}

/// What an embedder is called: provider and model.
pub(crate) fn names(embedder: &Embedder) -> (String, String) {
    let (provider, model) = match embedder {
        Embedder::None => ("none", "fts-only"),
        Embedder::Static => ("static", STATIC_MODEL),
        Embedder::Remote { provider, model } => (provider.as_str(), model.as_str()),
    };
    (provider.to_owned(), model.to_owned())
}

async fn choice(
    text: &str,
    store: &Store,
    hub: &Hub,
    deadline: Duration,
    warnings: &mut Vec<String>,
) -> Choice {
    match &store.embedder {
        Embedder::None => Choice::None,
        Embedder::Static => Choice::Static,
        Embedder::Remote { provider, model } => {
            let asked = hub.question(model, text, EMBEDDING.min(deadline / 2)).await;
            let vector = asked.inspect_err(|why| {
                let warning = format!(
                    "the embedding provider {provider} did not answer ({why}); keywords and the \
                     table on this machine were used instead"
                );
                tracing::warn!("{warning}");
                warnings.push(warning);
            });
            Choice::Remote {
                model: format!("{provider}/{model}"),
                vector: vector.ok(),
            }
        }
    }
}

/// OpenClaw's `corpus`; its `wiki` is a plugin's and is not here.
fn sources(corpus: &str) -> Result<Vec<Source>, Error> {
    match corpus {
        "" | "all" => Ok(Vec::new()),
        "memory" => Ok(vec![Source::Memory, Source::Extra]),
        "sessions" => Ok(vec![Source::Sessions]),
        other => Err(Error::Corpus {
            corpus: other.to_owned(),
        }),
    }
}

fn minimum(asked: Option<f64>, search: &MemorySearch) -> Result<f64, Error> {
    match asked {
        None => Ok(search.min_score),
        Some(score) if (0.0..=1.0).contains(&score) => Ok(score),
        Some(score) => Err(Error::MinScore { score }),
    }
}

fn ranking(search: &MemorySearch, embedder: &Choice) -> Ranking {
    let measured = measured(embedder);
    Ranking {
        weights: search
            .weights
            .map_or(measured.weights, |asked| weights(measured.weights, asked)),
        noted: search
            .weights
            .map_or(measured.noted, |asked| weights(measured.noted, asked)),
        said: search
            .weights
            .map_or(measured.said, |asked| weights(measured.said, asked)),
        half_life_days: search.half_life_days.unwrap_or(measured.half_life_days),
        decay_floor: match search.half_life_days {
            Some(_) => search.decay_floor,
            None => 1.0,
        },
        mmr_lambda: search.diversity.unwrap_or(1.0),
    }
}

/// What was found best for the vectors that there are of a question.
fn measured(embedder: &Choice) -> Ranking {
    match embedder {
        Choice::Remote {
            vector: Some(_), ..
        } => Ranking::remote(),
        _ => Ranking::default(),
    }
}

/// OpenClaw has one weight for keywords and one for vectors; each is shared
/// among the lists of its kind as measured.
fn weights(measured: Weights, (text, vector): (f64, f64)) -> Weights {
    let keywords = measured.text + measured.window + measured.session;
    let vectors = measured.vector + measured.vector_window;
    let all = keywords + vectors;
    let of_text = text / (text + vector) * all / keywords;
    let of_vector = vector / (text + vector) * all / vectors;
    Weights {
        text: measured.text * of_text,
        window: measured.window * of_text,
        session: measured.session * of_text,
        vector: measured.vector * of_vector,
        vector_window: measured.vector_window * of_vector,
        ..measured
    }
}

/// A hit as it goes out.
pub(crate) fn hit(hit: openclaw_retrieval::Hit) -> Hit {
    let (parts, answers) = (hit.parts, hit.answers());
    Hit {
        path: hit.path,
        start_line: hit.start_line,
        end_line: hit.end_line,
        score: hit.score,
        text_score: parts.text,
        vector_score: parts.vector,
        snippet: hit.snippet,
        timestamp_ms: hit.timestamp_ms,
        source: hit.source.name().to_owned(),
        kind: hit.kind.name().to_owned(),
        answers,
        context: hit.context,
        answer: hit.answer,
        message_id: hit.message.unwrap_or_default(),
        speaker: hit.speaker,
        parts: Parts {
            text: parts.text,
            window: parts.window,
            session: parts.session,
            vector: parts.vector,
            vector_window: parts.vector_window,
            speaker: parts.speaker,
            decay: parts.decay,
            bm25: parts.bm25,
            cosine: parts.cosine,
            coverage: parts.coverage,
            fact: parts.fact,
            evidence: parts.evidence,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_openclaw_are_shared_as_measured() {
        let measured = Weights::default();
        let keywords = measured.text + measured.window + measured.session;
        let vectors = measured.vector + measured.vector_window;
        let same = weights(measured, (keywords, vectors));
        assert!((same.text - measured.text).abs() < 1e-9);
        assert!((same.vector_window - measured.vector_window).abs() < 1e-9);
        let words_only = weights(measured, (1.0, 0.0));
        assert_eq!((words_only.vector, words_only.vector_window), (0.0, 0.0));
        assert!(words_only.text > measured.text);
    }

    #[test]
    fn measured_weights_are_those_of_the_vectors_that_came() {
        let remote = |vector| Choice::Remote {
            model: "ollama/bge-m3".to_owned(),
            vector,
        };
        assert_eq!(measured(&remote(Some(vec![1.0]))), Ranking::remote());
        for without in [remote(None), Choice::Static, Choice::None] {
            assert_eq!(measured(&without), Ranking::default());
        }
    }

    #[test]
    fn corpus_that_is_not_here_is_named() {
        let error = sources("wiki").unwrap_err().to_string();
        assert!(
            error.contains("\"wiki\"") && error.contains("sessions"),
            "{error}"
        );
    }
}
