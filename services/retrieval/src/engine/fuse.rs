//! Several questions at once, and one list of what answers any of them.

use super::*;
use crate::query::{Hit, LIMIT, Query, SearchResult};

/// What a question beside the first counts.
const OTHER: f64 = 0.2;
/// So many times what is wanted is looked at of each.
const DEPTH: usize = 3;

impl Engine {
    /// The passages that answer `query`, or the same with one of `others` for
    /// its text, best first. What answers several is worth more: scores add up
    /// (CombSUM; Fox and Shaw, 1994).
    pub fn search_all(&self, query: &Query, others: &[String]) -> Result<SearchResult, Error> {
        if others.is_empty() {
            return self.search(query);
        }
        let limit = query.limit.min(LIMIT);
        // What is tenth for one may be first for all.
        let deep = Query {
            limit: limit * DEPTH,
            ..query.clone()
        };
        let mut found = self.search(&deep)?;
        let all = 1.0 + OTHER * others.len() as f64;
        found.hits.iter_mut().for_each(|hit| hit.score /= all);
        for text in others {
            let other = Query {
                text: text.clone(),
                ..deep.clone()
            };
            let more = self.search(&other)?;
            found.complete &= more.complete;
            for warning in more.warnings {
                if !found.warnings.contains(&warning) {
                    found.warnings.push(warning);
                }
            }
            for hit in more.hits {
                add(&mut found.hits, hit, OTHER / all);
            }
        }
        search::sort_hits(&mut found.hits);
        search::without_repeats(&mut found.hits);
        found.hits.truncate(limit);
        Ok(found)
    }
}

fn add(hits: &mut Vec<Hit>, hit: Hit, weight: f64) {
    let place = |hit: &Hit| (hit.path.clone(), hit.start_line, hit.message.clone());
    let own = place(&hit);
    let score = hit.score * weight;
    match hits.iter_mut().find(|known| place(known) == own) {
        Some(known) => {
            known.score += score;
            if hit.parts.evidence > known.parts.evidence {
                known.parts.evidence = hit.parts.evidence;
                known.answer = hit.answer;
            }
        }
        None => hits.push(Hit { score, ..hit }),
    }
}

#[cfg(test)]
mod tests;
