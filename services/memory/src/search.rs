//! From a question to the passages that answer it best.
//!
//! Any word of the question may match (a passage need not have them all: joined
//! by AND, next to nothing is found). Keyword scores, a slight preference for
//! the recent, and no passage twice.

use std::collections::HashMap;

use openclaw_proto::memory::Hit;

use crate::index::{File, Index, PassageId, Place};
use crate::workspace::Workspace;

mod age;
mod query;
mod similarity;
mod snippet;

use query::Query;
use similarity::Terms;

/// The most hits of one search; more is not read by anybody.
pub(crate) const LIMIT: usize = 50;
/// Hits when the caller does not say (OpenClaw's maxResults).
pub(crate) const DEFAULT_LIMIT: usize = 6;
/// Passages looked at for each hit that is wanted: some repeat others.
const SPARE: usize = 4;

/// A question.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// In the user's words.
    pub(crate) text: &'a str,
    /// The most hits wanted.
    pub(crate) limit: usize,
    /// Ages are counted from here; Unix milliseconds.
    pub(crate) now_ms: i64,
    /// After how many days half of what age can take from a score is taken.
    pub(crate) half_life_days: f64,
}

/// A passage that matches.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    passage: PassageId,
    /// BM25; a vector score is to stand beside it.
    text: f64,
    /// What candidates are ordered by.
    total: f64,
    timestamp_ms: i64,
}

/// The best passages, best first. A file that has changed since it was indexed
/// is left out; the next scan finds it.
pub(crate) fn search(index: &Index, workspace: &Workspace, question: &Question<'_>) -> Vec<Hit> {
    let query = Query::new(question.text, index);
    let limit = question.limit.min(LIMIT);
    let candidates = candidates(index, &query, question, limit * SPARE);
    let mut texts = Texts::new(workspace);
    let mut shown: Vec<Terms> = Vec::new();
    let mut hits = Vec::new();
    for candidate in candidates {
        if hits.len() == limit {
            break;
        }
        let Some((file, place)) = index.passage(candidate.passage) else {
            continue;
        };
        let Some(passage) = texts.passage(file, place) else {
            continue;
        };
        let hit = hit(&query, candidate, file, passage, place.line);
        let terms = similarity::terms(&hit.snippet);
        if shown.iter().all(|other| similarity::differ(other, &terms)) {
            shown.push(terms);
            hits.push(hit);
        }
    }
    hits
}

fn candidates(
    index: &Index,
    query: &Query,
    question: &Question<'_>,
    limit: usize,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = index
        .matches(query.terms())
        .into_iter()
        .filter_map(|(passage, text)| {
            let (file, _) = index.passage(passage)?;
            let (timestamp_ms, factor) = age::of(file, question.now_ms, question.half_life_days);
            Some(Candidate {
                passage,
                text,
                total: text * factor,
                timestamp_ms,
            })
        })
        .collect();
    // Of equals the newer first, then as they were found, so that the same
    // question has the same answer.
    let order = |a: &Candidate, b: &Candidate| {
        let score = b.total.total_cmp(&a.total);
        let newer = || b.timestamp_ms.cmp(&a.timestamp_ms);
        score.then_with(newer).then(a.passage.cmp(&b.passage))
    };
    if candidates.len() > limit && limit > 0 {
        candidates.select_nth_unstable_by(limit - 1, order);
    }
    candidates.truncate(limit);
    candidates.sort_unstable_by(order);
    candidates
}

fn hit(query: &Query, candidate: Candidate, file: &File, passage: &str, line: u32) -> Hit {
    let snippet = snippet::best(passage, file.language, query);
    let first = line + snippet.line;
    Hit {
        path: file.path.clone(),
        start_line: first,
        end_line: first + snippet.text.matches('\n').count() as u32,
        score: bounded(candidate.total),
        text_score: bounded(candidate.text),
        // No embedder is there to give one.
        vector_score: 0.0,
        snippet: snippet.text,
        timestamp_ms: candidate.timestamp_ms,
    }
}

/// From 0 up to 1, as OpenClaw shows scores, in the same order.
fn bounded(score: f64) -> f64 {
    score / (1.0 + score)
}

/// The texts of the files that one search shows passages of.
struct Texts<'a> {
    workspace: &'a Workspace,
    read: HashMap<String, Option<String>>,
}

impl<'a> Texts<'a> {
    fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            read: HashMap::new(),
        }
    }

    fn passage(&mut self, file: &File, place: Place) -> Option<&str> {
        if !self.read.contains_key(&file.path) {
            let read = self.workspace.read(&file.path).ok().flatten();
            let unchanged = read.filter(|(_, stamp)| *stamp == file.stamp);
            let text = unchanged.map(|(text, _)| text);
            self.read.insert(file.path.clone(), text);
        }
        let text = self.read.get(&file.path)?.as_deref()?;
        text.get(place.start as usize..place.end as usize)
    }
}

#[cfg(test)]
mod tests;
