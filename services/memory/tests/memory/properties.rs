//! Properties 11 to 13 of seed 002, over generated memories. Property 10 is
//! beside the bootstrap files, property 14 beside the compaction.

use std::collections::BTreeSet;

use openclaw_config::Environment;
use openclaw_retrieval::{Body, Document, Engine, Found, Options, Query, Source};
use proptest::prelude::*;

const DAY_MS: i64 = 86_400_000;
/// 2026-11-21.
const NOW_MS: i64 = 1_795_219_200_000;
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

fn search(documents: &[Document], question: &str, limit: usize) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let table = openclaw_memory::shared::table(&Environment::default());
    assert!(table.is_some(), "the table is part of the source tree");
    let options = Options {
        table,
        minilm: None,
    };
    let (engine, _) = Engine::open(folder.path(), options).unwrap();
    engine.put(documents).unwrap();
    let query = Query {
        limit,
        ..Query::new(question, NOW_MS)
    };
    engine.search(&query).unwrap()
}

fn similarity(a: &str, b: &str) -> f64 {
    let set = |text: &str| -> BTreeSet<String> {
        text.split_whitespace().map(str::to_lowercase).collect()
    };
    let (a, b) = (set(a), set(b));
    a.intersection(&b).count() as f64 / a.union(&b).count().max(1) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Feature: openclaw-mvp, Property 11: results are ordered by relevance
    /// score, highest first, and limited to the requested count.
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

    /// Feature: openclaw-mvp, Property 12: of two documents with identical
    /// content the more recent has the higher score.
    #[test]
    fn property_12_the_newer_of_two_equals_is_first(
        text in words(30),
        others in prop::collection::vec(words(20), 0..5),
        days in 0i64..400,
        older_by in 1i64..400,
    ) {
        let mut notes = vec![note(0, &text, days + older_by), note(1, &text, days)];
        // One that says the same may be the newest of all.
        let others = others.iter().filter(|other| similarity(other, &text) <= SIMILAR);
        let others = others.enumerate();
        notes.extend(others.map(|(number, text)| note(number + 2, text, 30)));
        let found = search(&notes, &text, 10);
        let of = |path: &str| found.hits.iter().find(|hit| hit.path == path);
        let newer = of("memory/001.md");
        // The older one says nothing new, and may be left out for that.
        if let Some(older) = of("memory/000.md") {
            prop_assert!(newer.is_some_and(|newer| newer.score > older.score), "{:?}", found.hits);
        } else if WORDS[..20].iter().any(|word| text.contains(word)) {
            prop_assert!(newer.is_some(), "{:?}", found.hits);
        }
    }

    /// Feature: openclaw-mvp, Property 13: no two consecutive results have a
    /// similarity above 0.95.
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
