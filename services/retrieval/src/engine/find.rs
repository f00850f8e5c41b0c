//! Searching.

use super::closer::look_closer;
use super::order;
use super::*;
use crate::document::Kind;
use crate::embed::vector::Quantised;
use crate::part;
use crate::query::{Choice, Hit, LIMIT, Parts, Query, SearchResult};
use crate::search::nearness::Nearness;
use crate::search::{self, Candidate, Candidates, Pool, Question, Wanted, evidence, snippet};
use crate::term;
use openclaw_analysis::{self as analysis, Language};

impl Engine {
    /// The passages that answer `query` best, best first.
    pub fn search(&self, query: &Query) -> Result<SearchResult, Error> {
        let snapshot = self.snapshot();
        let mut warnings = Vec::new();
        let table = match query.embedder {
            Choice::None => None,
            _ => self
                .table
                .get()
                .map_err(|reason| warnings.push(reason))
                .ok(),
        };
        let question = Question::new(&query.text, &snapshot, table.as_deref())
            .asked_at(&query.text, query.now_ms);
        // Another search at the same time makes its own.
        let mut scratch = std::mem::take(&mut *self.scratch());
        let mut candidates = search::candidates(&snapshot, &question, query, &mut scratch);
        *self.scratch() = scratch;
        let nearness = table.as_deref().and_then(|table| {
            // Who speaks is looked at beside what is said.
            let words = candidates.weights.iter().copied();
            let words = words.filter(|(word, _)| !is_speaker(&snapshot, &word.plain));
            Nearness::new(table, words)
        });
        look_closer(&snapshot, query, nearness, &mut candidates);
        if let Err(warning) = self.rescore(&snapshot, query, &mut candidates) {
            warnings.push(warning);
        }
        let hits = self
            .reader()
            .together(|db| hits(db, &snapshot, &question, query, &candidates))?;
        let mut found = SearchResult {
            hits,
            complete: !candidates.cut_short,
            warnings,
        };
        self.add_fallback(query, &candidates.wanted, &mut found)?;
        Ok(found)
    }
}

/// Whether somebody speaks who has the name `word`.
fn is_speaker(snapshot: &Snapshot, word: &str) -> bool {
    let key = term::speaker_key(&analysis::stem(word, Language::English));
    let mut live = snapshot.live.iter();
    live.any(|live| live.segment.postings(key).size() > 0)
}

/// Looked at beyond what is wanted in the place of questions and repeats, before
/// which what answers is put.
const SPARE: usize = 4;

fn hits(
    reader: &Database,
    snapshot: &Snapshot,
    question: &Question,
    query: &Query,
    candidates: &Candidates<'_>,
) -> Result<Vec<Hit>, Error> {
    let limit = query.limit.min(LIMIT);
    let enough = candidates
        .list
        .iter()
        .filter(|c| c.score >= query.min_score);
    let with_vectors = enough.map(|&c| (c, vector(snapshot, question.table, &c)));
    let mut pool = Pool::new(with_vectors, query.ranking.mmr_lambda);
    let mut hits = Vec::new();
    let mut telling = 0;
    while telling < limit
        && hits.len() < limit + SPARE
        && let Some((candidate, vector)) = pool.next()
    {
        let Some(hit) = hit(reader, snapshot, &candidate, &candidates.wanted)? else {
            continue;
        };
        if pool.choose(&hit.snippet, &vector) {
            telling += usize::from(hit.kind.tells());
            hits.push(hit);
        }
    }
    search::sort_hits(&mut hits);
    order::settle(&mut hits, query.ranking.decay_floor < 1.0);
    hits.truncate(limit);
    Ok(hits)
}

/// The hit a candidate is; None when it was forgotten meanwhile.
fn hit(
    reader: &Database,
    snapshot: &Snapshot,
    candidate: &Candidate,
    wanted: &Wanted,
) -> Result<Option<Hit>, Error> {
    let (part, ordinal) = search::place(snapshot, candidate);
    let hit = shown(reader, part, ordinal, wanted)?;
    Ok(hit.map(|hit| {
        let Parts { evidence, told, .. } = hit.parts;
        Hit {
            timestamp_ms: candidate.dated.timestamp_ms,
            score: candidate.score,
            parts: Parts {
                evidence,
                told,
                ..candidate.parts
            },
            ..hit
        }
    }))
}

/// What is to be shown of a unit of a part, without a score, and without a
/// time where it has none of its own; None when it was forgotten.
pub(super) fn shown(
    reader: &Database,
    part: i64,
    ordinal: usize,
    wanted: &Wanted,
) -> Result<Option<Hit>, Error> {
    let Some(stored) = reader.unit(part, ordinal)? else {
        return Ok(None);
    };
    let unit = stored.unit;
    let shown = snippet::best(&unit.text, stored.language, wanted);
    let mut above = unit.context.clone();
    if part::is_name(&unit.speaker) {
        above.push('\n');
        above.push_str(&unit.speaker);
    }
    let day = unit.timestamp_ms.and_then(analysis::calendar::day_name);
    let day = day.as_deref().or_else(|| order::day_of_note(&stored.path));
    let is_of_day = day.is_some_and(|day| wanted.is_about(day));
    let place = (above.as_str(), is_of_day);
    let evidence = evidence::of(wanted, (&shown.text, place), stored.language);
    // The lines of a message are not lines of its transcript.
    let (start_line, end_line) = if unit.message.is_some() {
        (unit.line, unit.last_line)
    } else {
        let first = unit.line + shown.line;
        (first, first + shown.text.matches('\n').count() as u32)
    };
    Ok(Some(Hit {
        path: stored.path,
        source: stored.source,
        start_line,
        end_line,
        message: unit.message,
        kind: if evidence.is_repeat && unit.kind != Kind::Note {
            Kind::Asked
        } else {
            unit.kind
        },
        context: unit.context.lines().map(str::to_owned).collect(),
        speaker: unit.speaker,
        timestamp_ms: unit.timestamp_ms.unwrap_or_default(),
        score: 0.0,
        parts: Parts {
            evidence: evidence.share,
            told: f64::from(u8::from(evidence.is_told)),
            ..Parts::default()
        },
        snippet: shown.text,
        answer: evidence.answer,
    }))
}

/// The vector of a candidate; without numbers where it has none that can be
/// compared.
fn vector(snapshot: &Snapshot, table: u64, candidate: &Candidate) -> Quantised {
    let segment = &snapshot.live[candidate.live].segment;
    if segment.table() != table {
        return Quantised::new(&[]);
    }
    Quantised {
        values: segment.vector(candidate.unit).to_vec(),
        scale: segment.unit(candidate.unit).scale,
    }
}

#[cfg(test)]
mod tests;
