//! Properties 11 to 13 of seed 002, over generated memories. Property 10 is
//! beside the bootstrap files, property 14 beside the compaction.

use std::collections::BTreeSet;

use openclaw_retrieval::{Body, Document, Engine, LIMIT, Options, Query, SearchResult, Source};
use proptest::prelude::*;

use crate::harness;

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

/// What is done to a text that says nearly the same then.
#[derive(Debug, Clone, Copy)]
enum Edit {
    Repeat,
    Shout,
    Punctuate,
    TurnRound,
    AddWord,
    LoseWord,
}

impl Edit {
    fn of(self, text: &str) -> String {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        match self {
            Self::Repeat => {}
            Self::Shout => return text.to_uppercase(),
            Self::Punctuate => return words.join(", ") + "!",
            Self::TurnRound => words.reverse(),
            Self::AddWord => words.push("moreover".to_owned()),
            Self::LoseWord => drop(words.pop()),
        }
        words.join(" ")
    }
}

/// Texts of so many different words that one more or less is no difference to
/// speak of, and short ones of which it is.
fn near_duplicates() -> impl Strategy<Value = Vec<String>> {
    let edit = prop::sample::select(
        &[
            Edit::Repeat,
            Edit::Shout,
            Edit::Punctuate,
            Edit::TurnRound,
            Edit::AddWord,
            Edit::LoseWord,
        ][..],
    );
    let rare = prop::collection::btree_set("x[a-z]{4}", 0..30);
    let text = (words(12), rare).prop_map(|(words, rare)| {
        let rare: Vec<String> = rare.into_iter().collect();
        format!("{words} {}", rare.join(" ")).trim_end().to_owned()
    });
    prop::collection::vec((text, prop::collection::vec(edit, 0..4)), 1..6).prop_map(|texts| {
        let all = texts.into_iter().flat_map(|(text, edits)| {
            let edited: Vec<String> = edits.iter().map(|edit| edit.of(&text)).collect();
            std::iter::once(text).chain(edited)
        });
        all.collect()
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

fn similarity(a: &str, b: &str) -> f64 {
    let set = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (a, b) = (set(a), set(b));
    a.intersection(&b).count() as f64 / a.union(&b).count().max(1) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 11: For any search query, the returned
    /// results SHALL be ordered by relevance score (highest first) and limited
    /// to the requested count: one question or several, any count from none to
    /// more than there can be, and with notes that score the same.
    #[test]
    fn property_11_results_are_ordered_and_limited(
        texts in texts(),
        question in words(6),
        others in prop::collection::vec(words(6), 0..4),
        limit in prop_oneof![
            4 => 1usize..12,
            1 => Just(0),
            1 => prop::sample::select(&[LIMIT, LIMIT + 1, usize::MAX / 2, usize::MAX][..]),
        ],
        is_old in any::<bool>(),
    ) {
        // All of one day: nothing but their words tells them apart.
        let age = |number: usize| if is_old { 0 } else { number as i64 * 3 };
        let notes: Vec<Document> = texts.iter().enumerate()
            .map(|(number, text)| note(number, text, age(number)))
            .collect();
        let engine = Indexed::new(&notes);
        let query = |limit| Query { limit, ..Query::new(&question, NOW_MS) };
        let ask = |limit| engine.engine.search_all(&query(limit), &others).unwrap().hits;
        let found = ask(limit);
        prop_assert!(found.len() <= limit.min(LIMIT));
        prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score), "{:?}", found);
        prop_assert!(found.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        // Nothing is held back: what is wanted is given while there is some.
        let all = ask(LIMIT).len();
        prop_assert!(found.len() >= limit.min(all), "{} of {all}, {limit} wanted", found.len());
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
    /// similarity above a threshold (0.95): of one question and of several, and
    /// what is recalled, over notes of which many say nearly the same.
    #[test]
    fn property_13_consecutive_results_differ(
        texts in near_duplicates(),
        question in words(6),
        others in prop::collection::vec(words(6), 0..4),
    ) {
        let notes: Vec<Document> = texts.iter().enumerate()
            .map(|(number, text)| note(number, text, number as i64))
            .collect();
        let indexed = Indexed::new(&notes);
        let engine = &indexed.engine;
        let query = |text: &str| Query { limit: 12, ..Query::new(text, NOW_MS) };
        let clauses = format!("where is the {question}, and when is the {}?", others.join(" or "));
        for found in [
            engine.search(&query(&question)),
            engine.search_all(&query(&question), &others),
            engine.recall(&query(&question), |_| true),
            engine.recall(&query(&clauses), |_| true),
        ] {
            for pair in found.unwrap().hits.windows(2) {
                let similarity = similarity(&pair[0].snippet, &pair[1].snippet);
                prop_assert!(similarity <= SIMILAR, "{similarity}: {pair:?}");
            }
        }
    }
}

/// Results when a caller has no wish, as the settings of the test have it.
const DEFAULT: u32 = 7;
/// The most that the daemon gives.
const MOST: u32 = 50;

/// Feature: openclaw-mvp, Property 11: For any search query, the returned results
/// SHALL be ordered by relevance score (highest first) and limited to the requested
/// count. Here: by the daemon's door, where no count is the configured one, and no
/// count is too large to be asked for.
#[test]
fn property_11_daemon_orders_and_limits_results() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let running = runtime.block_on(async {
        let configuration = format!(
            "{{memory: {{search: {{provider: \"none\", query: {{maxResults: {DEFAULT}}}}}}}}}"
        );
        let folder = harness::state(&configuration, &[]);
        for number in 0..80 {
            // Every third says what another says with other words beside it.
            let text = WORDS[number % 3..].iter().step_by(number % 4 + 1);
            let text: Vec<&str> = text.copied().collect();
            let note = format!("note{number} {}", text.join(" "));
            harness::write(
                &folder.path().join(format!("workspace/memory/{number}.md")),
                &note,
            );
        }
        let running = harness::Running::start_in(folder);
        running.index(true).await;
        running
    });
    let limits = prop_oneof![
        3 => 1..MOST,
        1 => prop::sample::select(&[0, MOST, MOST + 1, 1_000_000, u32::MAX][..]),
    ];
    let strategy = (words(6), prop::collection::vec(words(6), 0..3), limits);
    let longest = std::cell::Cell::new(0);
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    };
    proptest::test_runner::TestRunner::new(config)
        .run(&strategy, |(text, others, limit)| {
            let question = openclaw_proto::memory::Question {
                others,
                ..harness::asked("main", &text, limit)
            };
            let found = runtime.block_on(running.client.search(&harness::origin(), question));
            let hits = found.unwrap().hits;
            let most = if limit == 0 { DEFAULT } else { limit.min(MOST) };
            prop_assert!(hits.len() <= most as usize, "{} of {most}", hits.len());
            prop_assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{:?}", hits);
            longest.set(longest.get().max(hits.len()));
            Ok(())
        })
        .unwrap();
    assert_eq!(longest.get(), MOST as usize, "as many as there can be");
    runtime.block_on(running.stop());
}
