//! Searching what no segment has.

use std::sync::atomic::Ordering;

use super::find::shown;
use super::*;
use crate::query::{Hit, LIMIT, Parts, Query, SearchResult};
use crate::search::{self, Said, Wanted};
use openclaw_analysis::{self as analysis, Word};

/// Words looked for, the first; a list of more is a pasted document.
const WORDS: usize = 32;
/// Passages looked at for each hit that is wanted: some are of sources that are
/// not.
const SPARE: usize = 4;

impl Engine {
    /// Adds to `found` what is in the fallback only.
    pub(super) fn add_fallback(
        &self,
        query: &Query,
        wanted: &Wanted,
        found: &mut SearchResult,
    ) -> Result<(), Error> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting == 0 {
            return Ok(());
        }
        let words = words(&query.text);
        let limit = query.limit.min(LIMIT);
        if !words.is_empty() {
            found
                .hits
                .extend(self.fallback_hits(&words, query, limit, wanted)?);
            search::sort_hits(&mut found.hits);
            search::without_repeats(&mut found.hits);
            found.hits.truncate(limit);
        }
        found.warnings.push(format!(
            "a part of the index is being made again; until then {waiting} passages are found by \
             their words alone"
        ));
        Ok(())
    }

    fn fallback_hits(
        &self,
        words: &[String],
        query: &Query,
        limit: usize,
        wanted: &Wanted,
    ) -> Result<Vec<Hit>, Error> {
        let matches = self.reader().search_fallback(words, limit * SPARE)?;
        let best = matches.first().map_or(0.0, |best| best.bm25);
        let mut hits = Vec::new();
        let mut said = Said::default();
        for one in matches {
            let place = if best > 0.0 { one.bm25 / best } else { 0.0 };
            let hit = shown(&self.reader(), one.part, one.ordinal, wanted)?;
            let Some(mut hit) = hit.filter(|hit| is_asked_for(hit, query)) else {
                continue;
            };
            let parts = Parts {
                text: place,
                window: place,
                bm25: one.bm25,
                ..hit.parts
            };
            let dated = self.reader().document(&hit.path)?;
            let dated = dated.as_ref().map(DocumentEntry::from);
            let own = hit.message.is_some();
            let ages = own || dated.is_some_and(|dated| dated.ages);
            if !own {
                hit.timestamp_ms = dated.map_or(0, |dated| dated.timestamp_ms);
            }
            search::score(&mut hit, parts, query, ages);
            if hit.score >= query.min_score && hits.len() < limit && said.add(&hit.snippet) {
                hits.push(hit);
            }
        }
        Ok(hits)
    }
}

fn is_asked_for(hit: &Hit, query: &Query) -> bool {
    let is_source = query.sources.is_empty() || query.sources.contains(&hit.source);
    is_source && !query.without.contains(&hit.path)
}

/// The stems of the words that say something: the index of the fallback has
/// whole words, of which they are the beginnings.
fn words(text: &str) -> Vec<String> {
    let language = analysis::language_of(text);
    let mut words: Vec<String> = Vec::new();
    analysis::words(text, |word| {
        let word = match word {
            Word::Plain(word) if analysis::is_stop_word(word, language) => return,
            Word::Plain(word) => analysis::stem(word, language).into_owned(),
            Word::Exact(word) => word.to_owned(),
        };
        if words.len() < WORDS && !words.contains(&word) {
            words.push(word);
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Body, Document};
    use crate::query::DEFAULT_LIMIT;

    /// An engine that finds each of `texts` in a segment and in the fallback too.
    fn engine(folder: &Path, texts: &[String]) -> Engine {
        let (engine, _) = Engine::open(folder, Options { table: None }).unwrap();
        let notes = texts.iter().enumerate().map(|(number, text)| Document {
            path: format!("{number}.md"),
            source: Source::Memory,
            stamp: String::new(),
            modified_ms: 0,
            day_ms: None,
            topic: String::new(),
            body: Body::Text(text.clone()),
        });
        engine.put(&notes.collect::<Vec<_>>()).unwrap();
        let filled = engine
            .writer()
            .transaction(|database| database.fill_fallback());
        let filled = filled.unwrap();
        assert_eq!(filled, texts.len());
        engine.waiting.store(filled, Ordering::Relaxed);
        engine
    }

    #[test]
    fn hits_of_the_fallback_say_something_new_each_and_are_no_more_than_wanted() {
        let texts: Vec<String> = (0..30)
            .map(|number| format!("the boiler of house {} is old", number % 10))
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), &texts);
        for (limit, expected) in [
            (0, 0),
            (1, 1),
            (DEFAULT_LIMIT, DEFAULT_LIMIT),
            (20, 10),
            (LIMIT, 10),
            (usize::MAX, 10),
        ] {
            let query = Query {
                limit,
                ..Query::new("boiler house", 0)
            };
            let hits = engine.search(&query).unwrap().hits;
            let texts: std::collections::HashSet<&str> =
                hits.iter().map(|hit| hit.snippet.as_str()).collect();
            assert_eq!((hits.len(), texts.len()), (expected, expected), "{limit}");
            assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
            assert_eq!(
                engine
                    .search_all(&query, &["old house".to_owned()])
                    .unwrap()
                    .hits
                    .len(),
                expected
            );
        }
    }

    #[test]
    fn hits_of_the_fallback_count_by_the_best_of_them() {
        let texts = [
            "the boiler of the house",
            "a boiler beside two other things",
        ];
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), &texts.map(str::to_owned));
        let query = Query::new("boiler house", 0);
        let found = engine.fallback_hits(&words(&query.text), &query, 2, &Wanted::default());
        let places: Vec<f64> = found.unwrap().iter().map(|hit| hit.parts.text).collect();
        assert_eq!((places.len(), places[0]), (2, 1.0));
        assert!(places[1] > 0.0 && places[1] < 1.0, "{places:?}");
    }

    #[test]
    fn words_that_say_something_are_looked_for_by_their_stems_once() {
        assert_eq!(
            words("What did the dentists say of the dentist, and of ABC-7?"),
            ["dentist", "say", "abc-7", "abc", "7"]
        );
        let many: String = (0..40).map(|number| format!("word{number} ")).collect();
        let found = words(&many);
        assert_eq!((found.len(), found[31].as_str()), (32, "word31"));
        assert!(words("and of the").is_empty());
    }
}
