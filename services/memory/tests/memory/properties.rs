//! Properties 11 to 13 of seed 002, over generated memories. Property 10 is
//! beside the bootstrap files, property 14 beside the compaction.

use std::collections::BTreeSet;

use openclaw_retrieval::{Body, Document, Engine, Options, Query, SearchResult, Source};
use proptest::prelude::*;

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

const DAY_MS: i64 = 86_400_000;
/// 2026-11-21.
const NOW_MS: i64 = 1_795_219_200_000;
/// The floor of decay with which age takes nothing.
const NO_DECAY: f64 = 1.0;
/// One with which age takes nearly all.
const HARD_DECAY: f64 = 0.1;
/// Property 13's threshold.
const SIMILAR: f64 = 0.95;

const WORDS: [&str; 24] = [
    "cat",
    "dog",
    "boiler",
    "garden",
    "router",
    "dentist",
    "tax",
    "april",
    "blue",
    "flowerpot",
    "key",
    "clock",
    "train",
    "berlin",
    "coffee",
    "sister",
    "birthday",
    "gateway",
    "sensor",
    "battery",
    "the",
    "is",
    "under",
    "and",
];

fn words(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 1..most)
        .prop_map(|words| words.join(" "))
}

/// Texts of notes, among them some that are there more than once.
fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec((words(30), 1usize..3), 1..14).prop_map(|texts| {
        let repeated = texts
            .into_iter()
            .flat_map(|(text, times)| vec![text; times]);
        repeated.collect()
    })
}

fn note(number: usize, text: &str, days_old: i64) -> Document {
    let day_ms = NOW_MS - days_old * DAY_MS;
    Document {
        path: format!("memory/{number:03}.md"),
        source: Source::Memory,
        stamp: String::new(),
        modified_ms: day_ms,
        day_ms: Some(day_ms),
        topic: String::new(),
        body: Body::Text(text.to_owned()),
    }
}

/// An index with documents in it.
struct Indexed {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Indexed {
    fn new(documents: &[Document]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Of the source tree, wherever the tests are built.
        let share = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/share");
        let table =
            openclaw_memory::shared::table(&[("OPENCLAW_SHARE", share)].into_iter().collect());
        assert!(table.is_some(), "the table is part of the source tree");
        let options = Options { table };
        let (engine, _) = Engine::open(folder.path(), options).unwrap();
        engine.put(documents).unwrap();
        Self {
            engine,
            _folder: folder,
        }
    }

    fn search(&self, query: &Query) -> SearchResult {
        self.engine.search(query).unwrap()
    }
}

fn search(documents: &[Document], question: &str, limit: usize) -> SearchResult {
    let query = Query {
        limit,
        ..Query::new(question, NOW_MS)
    };
    Indexed::new(documents).search(&query)
}

fn similarity(a: &str, b: &str) -> f64 {
    let set = |text: &str| -> BTreeSet<String> {
        text.split_whitespace().map(str::to_lowercase).collect()
    };
    let (a, b) = (set(a), set(b));
    a.intersection(&b).count() as f64 / a.union(&b).count().max(1) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 11: For any search query, the returned
    /// results SHALL be ordered by relevance score (highest first) and limited
    /// to the requested count.
    #[test]
    fn property_11_results_are_ordered_and_limited(
        texts in texts(),
        question in words(6),
        limit in 1usize..12,
    ) {
        let notes: Vec<Document> = texts.iter().enumerate()
            .map(|(number, text)| note(number, text, number as i64 * 3))
            .collect();
        let found = search(&notes, &question, limit);
        prop_assert!(found.hits.len() <= limit);
        prop_assert!(found.hits.is_sorted_by(|a, b| a.score >= b.score), "{:?}", found.hits);
        prop_assert!(found.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
    }

    /// Feature: openclaw-mvp, Property 12: For any two documents with identical
    /// content and relevance, the more recent document SHALL have a higher score
    /// than the older document. Of two that say the same only one is a hit, so
    /// each is searched without the other; and without decay neither is higher.
    #[test]
    fn property_12_the_newer_of_two_equals_has_the_higher_score(
        // Words that nobody searches for score nothing, of any age.
        text in words(30).prop_map(|text| format!("boiler {text}")),
        others in prop::collection::vec(words(20), 0..5),
        days in 0i64..400,
        older_by in 1i64..400,
    ) {
        let mut notes = vec![note(0, &text, days + older_by), note(1, &text, days)];
        // One that says the same may be a hit in the place of both.
        let others = others.iter().filter(|other| similarity(other, &text) <= SIMILAR);
        notes.extend(others.enumerate().map(|(number, text)| note(number + 2, text, 30)));
        let engine = Indexed::new(&notes);
        let (old, new) = ("memory/000.md", "memory/001.md");
        let score = |wanted: &str, other: &str, floor: f64| {
            let mut query = Query { limit: 10, ..Query::new(&text, NOW_MS) };
            query.without = vec![other.to_owned()];
            query.ranking.decay_floor = floor;
            let hits = engine.search(&query).hits;
            hits.into_iter().find(|hit| hit.path == wanted).map(|hit| hit.score)
        };
        let floor = openclaw_retrieval::Ranking::default().decay_floor;
        let (older, newer) = (score(old, new, floor), score(new, old, floor));
        prop_assert!(older.is_some() && newer > older, "{newer:?} and {older:?}");
        prop_assert_eq!(score(old, new, NO_DECAY), score(new, old, NO_DECAY));
        // Both together: the newer one is the hit.
        let found = engine.search(&Query { limit: 10, ..Query::new(&text, NOW_MS) });
        prop_assert!(found.hits.iter().all(|hit| hit.path != old), "{:?}", found.hits);
    }

    /// Feature: openclaw-mvp, Property 12: For any two documents with identical
    /// content and relevance, the more recent document SHALL have a higher score
    /// than the older document. Here: that age decides where relevance hardly
    /// does, and that without decay the order is the other.
    #[test]
    fn property_12_age_decides_between_nearly_equals(
        days in 0i64..30,
        older_by in 60i64..400,
        longer_by in 1usize..4,
    ) {
        let filler = "is under and the ".repeat(longer_by);
        let old = note(0, "the boiler and the garden router", days + older_by);
        let new = note(1, &format!("the boiler and the garden router {filler} clock"), days);
        let engine = Indexed::new(&[old, new]);
        let first = |floor: f64| {
            let mut query = Query { limit: 2, ..Query::new("boiler garden router", NOW_MS) };
            query.ranking.decay_floor = floor;
            engine.search(&query).hits[0].path.clone()
        };
        prop_assert_eq!(first(NO_DECAY), "memory/000.md");
        prop_assert_eq!(first(HARD_DECAY), "memory/001.md");
    }

    /// Feature: openclaw-mvp, Property 13: For any search result set of size N >
    /// 1, the results SHALL be diverse—no two consecutive results SHALL have
    /// similarity above a threshold (0.95).
    #[test]
    fn property_13_consecutive_results_differ(texts in texts(), question in words(6)) {
        let notes: Vec<Document> = texts.iter().enumerate()
            .map(|(number, text)| note(number, text, number as i64))
            .collect();
        let found = search(&notes, &question, 12);
        for pair in found.hits.windows(2) {
            let similarity = similarity(&pair[0].snippet, &pair[1].snippet);
            prop_assert!(similarity <= SIMILAR, "{similarity}: {pair:?}");
        }
    }
}
