//! Searching: what is asked and what is found.

use serde::Serialize;

use crate::wire::memory as wire;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// The agent; empty: the default one.
    pub agent_id: String,
    /// In the user's words.
    pub text: String,
    /// The same in other words, or parts of it.
    pub others: Vec<String>,
    /// The most hits; 0: the configured number.
    pub limit: u32,
    /// Hits below it are left out; `None`: the configured score.
    pub min_score: Option<f64>,
    /// `memory`, `sessions` or `all`; empty: all.
    pub corpus: String,
    /// Messages of this session from `since_ms` on are not memory.
    pub session_id: String,
    /// Unix milliseconds.
    pub since_ms: i64,
    /// After so many milliseconds what is found by then is given; 0: the
    /// daemon's own.
    pub deadline_ms: u32,
    /// Whether what was answered before is left out, and all of this session.
    pub isolated: bool,
    /// Whether others than the user hear what is found; a session with several
    /// people in it says so by its key.
    pub shared: bool,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Whether something was not looked at.
    pub partial: bool,
    /// What could not be used, in words for the user.
    pub warnings: Vec<String>,
    /// Which embedder took part: `none`, `static` or a provider.
    pub provider: String,
    /// Its model.
    pub model: String,
}

/// A passage that a search found (seed 002, `SearchResult`).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Relative to the workspace; `sessions/ID.jsonl` for transcripts.
    pub path: String,
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// What the results are ordered by, best first.
    pub score: f64,
    /// The vector part of the score.
    pub vector_score: f64,
    /// The keyword part of the score.
    pub text_score: f64,
    /// The passage.
    pub snippet: String,
    /// `memory`, `extra` or `sessions`.
    pub source: String,
    /// Unix milliseconds.
    pub timestamp_ms: i64,
    /// The message, in a transcript.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message_id: String,
    /// Who said it, in a transcript.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub speaker: String,
    /// `note`, `said`, `question`, `answer` or `quote`.
    pub kind: String,
    /// What it stands under, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// The sentences of it that answer.
    #[serde(skip)]
    pub answer: String,
    /// Whether it is clearly about the question.
    pub answers: bool,
    /// What the score is made of.
    #[serde(skip)]
    pub parts: Parts,
}

/// Transcripts, as [`Hit::source`] has them.
const TRANSCRIPTS: &str = "sessions";
/// The notes that are the user's alone.
const OWN_NOTES: &str = "MEMORY.md";
/// Who answered there.
const ASSISTANT: &str = "assistant";

impl Hit {
    /// Whether it is nothing for a run that does not know of those before it,
    /// of the session whose transcript is at `transcript`: what they were asked
    /// there, and what was answered anywhere, where theirs may be announced.
    pub fn is_hidden_from(&self, transcript: &str) -> bool {
        let is_answer = self.source == TRANSCRIPTS && self.speaker == ASSISTANT;
        is_answer || self.path == transcript
    }

    /// Whether it is the same lines, or the same message, as `other`.
    pub fn is_at(&self, other: &Self) -> bool {
        let place = |hit: &Self| (hit.start_line, hit.end_line);
        self.path == other.path
            && self.message_id == other.message_id
            && place(self) == place(other)
    }

    /// Whether it is nothing for others than the user, in the session whose
    /// transcript is at `transcript`: what was said elsewhere, and `MEMORY.md`.
    pub fn is_private(&self, transcript: &str) -> bool {
        (self.source == TRANSCRIPTS && self.path != transcript) || is_private_note(&self.path)
    }
}

/// Whether the file at `path`, relative to the workspace, is the notes that are
/// for the user alone.
pub fn is_private_note(path: &str) -> bool {
    let mut names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    let first = names.next();
    first.is_some_and(|name| name.eq_ignore_ascii_case(OWN_NOTES)) && names.next().is_none()
}

/// What a score is made of; all but the last five are relative to the best of
/// the search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Parts {
    /// The passage's own words.
    pub text: f64,
    /// The words of it and its neighbours.
    pub window: f64,
    /// The words of its section or conversation.
    pub session: f64,
    /// The likeness of its meaning.
    pub vector: f64,
    /// The same of it and its neighbours.
    pub vector_window: f64,
    /// Whether somebody said it whom the question names.
    pub speaker: f64,
    /// What age left.
    pub decay: f64,
    /// BM25 as it is.
    pub bm25: f64,
    /// The cosine as it is.
    pub cosine: f64,
    /// The share of the question that is in it.
    pub coverage: f64,
    /// Whether it has the kind of fact that is asked for.
    pub fact: f64,
    /// How sure it is that it answers, as it is.
    pub evidence: f64,
}

/// What a message may be given unasked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recall {
    /// Best first, more than are given.
    pub passages: Vec<Recalled>,
    /// So many are given,
    pub limit: usize,
    /// with so many tokens together.
    pub tokens: usize,
    /// Whether something was not looked at: files are still being read.
    pub partial: bool,
    /// What is found where nothing of the conversation's own session is looked at; none where
    /// nothing of it is among the passages.
    pub beside: Vec<Recalled>,
}

/// A passage and its price.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The passage.
    pub hit: Hit,
    /// In tokens, at most.
    pub tokens: usize,
}

impl Recall {
    /// The passages that are given, without those that `is_known` already.
    pub fn given(&self, is_known: impl Fn(&Hit) -> bool) -> Vec<Hit> {
        let mut left = self.tokens;
        let mut given = Vec::new();
        for Recalled { hit, tokens } in &self.passages {
            if given.len() < self.limit && *tokens <= left && !is_known(hit) {
                left -= tokens;
                given.push(hit.clone());
            }
        }
        given
    }

    /// Puts what is beside the conversation behind the passages.
    pub fn add_beside(&mut self) {
        for recalled in std::mem::take(&mut self.beside) {
            let is_there = |own: &Recalled| own.hit.is_at(&recalled.hit);
            if !self.passages.iter().any(is_there) {
                self.passages.push(recalled);
            }
        }
    }
}

impl From<Question> for wire::SearchRequest {
    fn from(question: Question) -> Self {
        Self {
            agent_id: question.agent_id,
            query: question.text,
            limit: question.limit,
            min_score: question.min_score,
            corpus: question.corpus,
            session_id: question.session_id,
            since_ms: question.since_ms,
            deadline_ms: question.deadline_ms,
            isolated: question.isolated,
            shared: question.shared,
            queries: question.others,
        }
    }
}

impl From<wire::SearchRequest> for Question {
    fn from(request: wire::SearchRequest) -> Self {
        Self {
            agent_id: request.agent_id,
            text: request.query,
            limit: request.limit,
            min_score: request.min_score,
            corpus: request.corpus,
            session_id: request.session_id,
            since_ms: request.since_ms,
            deadline_ms: request.deadline_ms,
            isolated: request.isolated,
            shared: request.shared,
            others: request.queries,
        }
    }
}

impl From<wire::SearchResponse> for SearchResults {
    fn from(response: wire::SearchResponse) -> Self {
        Self {
            hits: response.hits.into_iter().map(Into::into).collect(),
            partial: response.partial,
            warnings: response.warnings,
            provider: response.provider,
            model: response.model,
        }
    }
}

impl From<SearchResults> for wire::SearchResponse {
    fn from(found: SearchResults) -> Self {
        Self {
            hits: found.hits.into_iter().map(Into::into).collect(),
            partial: found.partial,
            warnings: found.warnings,
            provider: found.provider,
            model: found.model,
        }
    }
}

impl From<wire::RecallResponse> for Recall {
    fn from(response: wire::RecallResponse) -> Self {
        let passage = |recalled: wire::Recalled| {
            Some(Recalled {
                hit: recalled.hit?.into(),
                tokens: recalled.tokens as usize,
            })
        };
        let all = |recalled: Vec<_>| recalled.into_iter().filter_map(passage).collect();
        Self {
            passages: all(response.passages),
            limit: response.limit as usize,
            tokens: response.tokens as usize,
            partial: response.partial,
            beside: all(response.beside),
        }
    }
}

impl From<Recall> for wire::RecallResponse {
    fn from(recall: Recall) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let passage = |recalled: Recalled| wire::Recalled {
            hit: Some(recalled.hit.into()),
            tokens: number(recalled.tokens),
        };
        let all = |recalled: Vec<_>| recalled.into_iter().map(passage).collect();
        Self {
            passages: all(recall.passages),
            limit: number(recall.limit),
            tokens: number(recall.tokens),
            partial: recall.partial,
            beside: all(recall.beside),
        }
    }
}

impl From<wire::Hit> for Hit {
    fn from(hit: wire::Hit) -> Self {
        Self {
            path: hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
            score: hit.score,
            text_score: hit.text_score,
            vector_score: hit.vector_score,
            snippet: hit.snippet,
            timestamp_ms: hit.timestamp_ms,
            source: hit.source,
            message_id: hit.message_id,
            speaker: hit.speaker,
            kind: hit.kind,
            context: hit.context,
            answer: hit.answer,
            answers: hit.answers,
            parts: hit.parts.unwrap_or_default().into(),
        }
    }
}

impl From<Hit> for wire::Hit {
    fn from(hit: Hit) -> Self {
        Self {
            path: hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
            score: hit.score,
            text_score: hit.text_score,
            vector_score: hit.vector_score,
            snippet: hit.snippet,
            timestamp_ms: hit.timestamp_ms,
            source: hit.source,
            message_id: hit.message_id,
            speaker: hit.speaker,
            kind: hit.kind,
            context: hit.context,
            answer: hit.answer,
            answers: hit.answers,
            parts: Some(hit.parts.into()),
        }
    }
}

impl From<wire::ScoreParts> for Parts {
    fn from(parts: wire::ScoreParts) -> Self {
        Self {
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
        }
    }
}

impl From<Parts> for wire::ScoreParts {
    fn from(parts: Parts) -> Self {
        Self {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recalled(path: &str, tokens: usize) -> Recalled {
        let hit = wire::Hit {
            path: path.to_owned(),
            ..wire::Hit::default()
        };
        Recalled {
            hit: hit.into(),
            tokens,
        }
    }

    #[test]
    fn hit_what_is_given_is_new_few_and_within_the_budget() {
        let recall = Recall {
            passages: vec![
                recalled("known", 10),
                recalled("a", 60),
                recalled("too long", 50),
                recalled("b", 30),
                recalled("c", 5),
                recalled("d", 5),
            ],
            limit: 3,
            tokens: 100,
            ..Recall::default()
        };
        let given = recall.given(|hit| hit.path == "known");
        let paths: Vec<&str> = given.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(paths, ["a", "b", "c"]);
    }

    #[test]
    fn hit_what_is_added_comes_behind_and_once() {
        let all = |paths: &[&str]| paths.iter().map(|path| recalled(path, 1)).collect();
        let mut all = Recall {
            passages: all(&["own", "a"]),
            beside: all(&["b", "a", "c"]),
            limit: 3,
            tokens: 100,
            partial: false,
        };
        all.add_beside();
        let paths =
            |given: Vec<Hit>| -> Vec<String> { given.into_iter().map(|it| it.path).collect() };
        assert_eq!(paths(all.given(|_| false)), ["own", "a", "b"]);
        assert_eq!(paths(all.given(|hit| hit.path == "own")), ["a", "b", "c"]);
    }
}
