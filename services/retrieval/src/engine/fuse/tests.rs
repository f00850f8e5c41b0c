use super::*;
use crate::document::{Kind, Source};
use crate::query::Parts;

fn hit(path: &str, evidence: f64, score: f64) -> Hit {
    Hit {
        path: path.to_owned(),
        source: Source::Memory,
        start_line: 1,
        end_line: 1,
        message: None,
        kind: Kind::Note,
        context: Vec::new(),
        speaker: String::new(),
        timestamp_ms: 0,
        score,
        parts: Parts {
            evidence,
            ..Parts::default()
        },
        snippet: String::new(),
        answer: format!("of {evidence}"),
    }
}

#[test]
fn hit_of_several_questions_has_the_sum_and_the_best_answer() {
    let mut hits = vec![hit("a", 0.5, 0.4)];
    add(&mut hits, hit("a", 0.7, 0.5), 0.5);
    add(&mut hits, hit("a", 0.6, 0.5), 0.5);
    add(&mut hits, hit("b", 0.9, 0.5), 0.5);
    let mut other = hit("a", 0.1, 1.0);
    other.start_line = 2;
    add(&mut hits, other, 0.5);
    let mut message = hit("a", 0.1, 1.0);
    message.message = Some("m".to_owned());
    add(&mut hits, message, 0.5);
    let short = hits
        .iter()
        .map(|hit| (hit.path.as_str(), hit.score, hit.answer.as_str()));
    let expected = [
        ("a", 0.9, "of 0.7"),
        ("b", 0.25, "of 0.9"),
        ("a", 0.5, "of 0.1"),
        ("a", 0.5, "of 0.1"),
    ];
    assert_eq!(short.collect::<Vec<_>>(), expected);
    assert_eq!(hits[0].parts.evidence, 0.7);
}

fn engine(folder: &std::path::Path) -> Engine {
    let notes = [
        ("fox.md", "The fox lives in the forest."),
        ("hen.md", "The hen lives in the yard."),
        ("both.md", "The fox and the hen are friends."),
    ];
    engine_of(folder, &notes)
}

fn engine_of(folder: &std::path::Path, notes: &[(&str, &str)]) -> Engine {
    let (engine, _) = Engine::open(folder, Options { table: None }).unwrap();
    let note = |(path, text): &(&str, &str)| crate::document::Document {
        path: (*path).to_owned(),
        source: Source::Memory,
        stamp: String::new(),
        modified_ms: 0,
        day_ms: None,
        topic: String::new(),
        body: crate::document::Body::Text((*text).to_owned()),
    };
    engine
        .put(&notes.iter().map(note).collect::<Vec<_>>())
        .unwrap();
    engine
}

#[test]
fn questions_beside_the_first_count_a_fifth_and_scores_stay_within_one() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let query = Query::new("fox", 0);
    let scores = |found: &SearchResult| -> Vec<(String, f64)> {
        let hits = found.hits.iter();
        hits.map(|hit| (hit.path.clone(), hit.score)).collect()
    };
    let first = scores(&engine.search(&query).unwrap());
    let alone = engine.search_all(&query, &[]).unwrap();
    assert_eq!(scores(&alone), first);
    // The same question again changes no score.
    let others = vec!["fox".to_owned(); 3];
    let same = scores(&engine.search_all(&query, &others).unwrap());
    for ((path, score), (known, expected)) in same.iter().zip(&first) {
        assert_eq!(path, known);
        assert!(
            (score - expected).abs() < 1e-9,
            "{path}: {score} {expected}"
        );
    }
    assert_eq!(same.len(), first.len());
    let hen = Query::new("hen", 0);
    let second = scores(&engine.search(&hen).unwrap());
    let joined = scores(&engine.search_all(&query, &["hen".to_owned()]).unwrap());
    let of = |list: &[(String, f64)], wanted: &str| {
        let found = list.iter().find(|(path, _)| path == wanted);
        found.map_or(0.0, |(_, score)| *score)
    };
    for path in ["fox.md", "hen.md", "both.md"] {
        let expected = (of(&first, path) + 0.2 * of(&second, path)) / 1.2;
        let score = of(&joined, path);
        assert!(
            (score - expected).abs() < 1e-9,
            "{path}: {score} {expected}"
        );
    }
    assert!(joined.is_sorted_by(|a, b| a.1 >= b.1));
    let few = Query { limit: 1, ..query };
    let found = engine.search_all(&few, &["hen".to_owned()]).unwrap();
    assert_eq!(found.hits.len(), 1);
}

#[test]
fn fuse_what_is_second_for_each_question_may_be_first_for_both() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_of(
        folder.path(),
        &[
            ("both", "The valve is new, and so is the gate by the river."),
            ("valve", "The valve is new."),
            ("gate", "The gate by the river."),
        ],
    );
    let query = |limit| Query {
        limit,
        ..Query::new("new valve", 0)
    };
    let first = |limit| {
        let found = engine.search_all(&query(limit), &["gate by the river".to_owned()]);
        found.unwrap().hits[0].path.clone()
    };
    assert_eq!(engine.search(&query(1)).unwrap().hits[0].path, "valve");
    assert_eq!((first(1).as_str(), first(6).as_str()), ("both", "both"));
}

#[test]
fn warning_of_several_questions_is_given_once() {
    let folder = tempfile::tempdir().unwrap();
    let table = Some(folder.path().join("missing"));
    let (engine, _) = Engine::open(folder.path(), Options { table }).unwrap();
    let others = ["gate".to_owned(), "river".to_owned()];
    let found = engine.search_all(&Query::new("valve", 0), &others).unwrap();
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
}
