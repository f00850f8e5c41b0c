//! What answers a message: none, one or a few passages, never the least bad.

use super::{order, *};
use crate::document::Kind;
use crate::query::{Hit, Query, SearchResult};
use crate::search::Said;
use openclaw_analysis::{self as analysis, Sought};

/// The most passages.
const MOST: usize = 8;
/// Of a question that asks for several things, so many are looked for.
const CLAUSES: usize = 4;
/// A passage that has so much of a question answers all of it.
const WHOLE: f64 = 0.7;
/// What answers much less well than the best is about something else.
const CLOSE: f64 = 0.8;
/// What the score counts beside the evidence.
const SCORE: f64 = 0.3;

impl Engine {
    /// The passages that answer `query`, best first: those from
    /// [`crate::ANSWERS`] on. Of a question that asks for several things, what
    /// answers each. What `is_wanted` says no to keeps nothing else away.
    pub fn recall(
        &self,
        query: &Query,
        is_wanted: impl Fn(&Hit) -> bool,
    ) -> Result<SearchResult, Error> {
        let mut found = self.search(query)?;
        let clauses = analysis::clauses(&query.text);
        let best = |mut hits: Vec<Hit>| {
            hits.retain(&is_wanted);
            best(hits, query)
        };
        found.hits = best(found.hits);
        if clauses.len() < 2 {
            if let Some(text) = analysis::question_alone(&query.text)
                && found.hits.is_empty()
            {
                let alone = Query {
                    text,
                    ..query.clone()
                };
                found.hits = best(self.search(&alone)?.hits);
            }
            self.put_named(query, &mut found.hits, &is_wanted)?;
            self.put_successors(query, &mut found.hits, &is_wanted)?;
            return Ok(found);
        }
        let whole = std::mem::take(&mut found.hits);
        let is_whole = whole.first().is_some_and(|hit| hit.parts.evidence >= WHOLE);
        let mut each: Vec<Vec<Hit>> = Vec::new();
        for text in clauses.into_iter().take(CLAUSES) {
            let clause = Query {
                text,
                ..query.clone()
            };
            let more = self.search(&clause)?;
            found.complete &= more.complete;
            let mut hits = best(more.hits);
            self.put_named(&clause, &mut hits, &is_wanted)?;
            self.put_successors(&clause, &mut hits, &is_wanted)?;
            each.push(hits);
        }
        // What answers all of it is first, what answers some of it last.
        each.insert(if is_whole { 0 } else { each.len() }, whole);
        found.hits = in_turn(each);
        Ok(found)
    }

    /// Adds what answers the question when it is asked by the names of those it asks about.
    fn put_named(
        &self,
        query: &Query,
        hits: &mut Vec<Hit>,
        is_wanted: &impl Fn(&Hit) -> bool,
    ) -> Result<(), Error> {
        let named = self.by_name(query)?;
        if named.is_empty() {
            return Ok(());
        }
        // What answers the question as it is put stays first.
        let most = hits.first().map_or(0.0, |first| first.parts.evidence);
        for named in named {
            for hit in self.search(&named)?.hits {
                if hit.parts.evidence < most {
                    continue;
                }
                let known = hits.iter_mut().find(|it| it.snippet == hit.snippet);
                match known {
                    Some(known) if known.parts.evidence >= hit.parts.evidence => {}
                    Some(known) => *known = hit,
                    None => hits.push(hit),
                }
            }
        }
        hits.retain(is_wanted);
        *hits = best(std::mem::take(hits), query);
        Ok(())
    }

    /// Who it is now: before a note that names who is asked for puts one, as sure as it, that
    /// says who came after them, which need have no word of the question.
    fn put_successors(
        &self,
        query: &Query,
        hits: &mut Vec<Hit>,
        is_wanted: &impl Fn(&Hit) -> bool,
    ) -> Result<(), Error> {
        let Some(first) = hits.first().filter(|hit| hit.kind == Kind::Note) else {
            return Ok(());
        };
        let names = named(first, &query.text);
        if names.is_empty() {
            return Ok(());
        }
        let named = Query {
            text: names.join(" "),
            ..query.clone()
        };
        let mut found = self.search(&named)?.hits;
        found.retain(|hit| is_wanted(hit) && succeeds(hit, (first, &names)));
        found.truncate(1);
        for hit in &mut found {
            hit.parts.evidence = first.parts.evidence;
        }
        hits.retain(|hit| !found.iter().any(|newer| newer.snippet == hit.snippet));
        hits.splice(..0, found);
        hits.truncate(MOST);
        Ok(())
    }
}

/// Whom `hit` names, where `question` asks for somebody.
fn named<'a>(hit: &'a Hit, question: &str) -> Vec<&'a str> {
    if !analysis::sought(question).has(Sought::PERSON) {
        return Vec::new();
    }
    let lower = question.to_lowercase();
    let mut names = analysis::names(&hit.answer, |word| lower.contains(&word.to_lowercase()));
    names.retain(|name| !analysis::is_title(name));
    names
}

/// Whether `newer` says who came after one of `names`, whom `older` names.
fn succeeds(newer: &Hit, (older, names): (&Hit, &[&str])) -> bool {
    let text = &newer.snippet;
    newer.kind == Kind::Note
        && order::is_later(newer, older)
        && names.iter().any(|name| text.contains(name))
        && analysis::tells_successor(text)
        && !analysis::names(text, |word| names.contains(&word)).is_empty()
}

/// Those of `hits` that answer about as well as the best of them.
fn best(hits: Vec<Hit>, query: &Query) -> Vec<Hit> {
    let mut hits: Vec<Hit> = hits.into_iter().filter(Hit::answers).collect();
    order::leave_notes(&mut hits);
    let most = hits
        .iter()
        .map(|hit| hit.parts.evidence)
        .fold(0.0, f64::max);
    hits.retain(|hit| hit.parts.evidence >= most * CLOSE);
    let rank = |hit: &Hit| hit.parts.evidence + SCORE * hit.score;
    hits.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    order::settle(&mut hits, query.ranking.decay_floor < 1.0);
    hits.truncate(MOST);
    hits
}

/// The first of each list, then the second of each, without what says the same.
fn in_turn(lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let mut hits: Vec<Hit> = Vec::new();
    let mut said = Said::default();
    for index in 0..longest {
        for hit in lists.iter().filter_map(|list| list.get(index)) {
            if said.add(&hit.snippet) {
                hits.push(hit.clone());
            }
        }
    }
    hits.truncate(MOST);
    hits
}

#[cfg(test)]
mod tests;
