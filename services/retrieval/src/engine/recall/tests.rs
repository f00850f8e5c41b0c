use super::*;
use crate::document::{Kind, Source};
use crate::query::{ANSWERS, Parts};

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
        snippet: path.to_owned(),
        answer: String::new(),
    }
}

fn paths(hits: &[Hit]) -> String {
    hits.iter().map(|hit| hit.path.as_str()).collect()
}

fn of_best(hits: Vec<Hit>) -> String {
    paths(&best(hits, &Query::new("x", 0)))
}

#[test]
fn best_are_those_that_answer_about_as_well() {
    let all = |evidence: &[(&str, f64)]| {
        let hits = evidence
            .iter()
            .map(|(path, evidence)| hit(path, *evidence, 0.5));
        of_best(hits.collect())
    };
    assert_eq!(all(&[("a", 1.0), ("b", 0.8), ("c", 0.79)]), "ab");
    assert_eq!(all(&[("a", 0.6), ("b", 0.65), ("c", ANSWERS)]), "bac");
    assert_eq!(all(&[("a", ANSWERS - 0.01), ("b", 0.1)]), "");
    let mut asked = hit("a", 1.0, 1.0);
    asked.kind = Kind::Asked;
    assert_eq!(of_best(vec![asked, hit("b", 0.6, 0.1)]), "b");
    let many = "abcdefghij"
        .chars()
        .map(|path| hit(&path.to_string(), 0.9, 0.5));
    assert_eq!(of_best(many.collect()), "abcdefgh");
}

#[test]
fn score_counts_beside_the_evidence() {
    // 0.3 of a score is what a third of evidence is.
    assert_eq!(
        of_best(vec![hit("a", 0.90, 0.0), hit("b", 0.85, 0.2)]),
        "ba"
    );
    assert_eq!(
        of_best(vec![hit("a", 0.90, 0.0), hit("b", 0.85, 0.1)]),
        "ab"
    );
}

#[test]
fn newer_note_stands_before_the_older_where_age_counts() {
    let both = |decay_floor: f64| {
        let mut query = Query::new("x", 0);
        query.ranking.decay_floor = decay_floor;
        let notes = [
            note("a", "the code is 1", 0),
            note("b", "the code is 2", 100_000),
        ];
        paths(&best(notes.into(), &query))
    };
    assert_eq!((both(0.9).as_str(), both(1.0).as_str()), ("ba", "ab"));
}

#[test]
fn lists_are_taken_in_turn_and_each_hit_once() {
    let list = |paths: &str| -> Vec<Hit> {
        paths
            .chars()
            .map(|path| hit(&path.to_string(), 1.0, 0.5))
            .collect()
    };
    let turns = |lists: &[&str]| paths(&in_turn(lists.iter().map(|paths| list(paths)).collect()));
    assert_eq!(turns(&["abc", "d", "", "ef"]), "adebfc");
    assert_eq!(turns(&["ab", "ba", "ac"]), "abc");
    assert_eq!(turns(&["abcde", "fghij"]), "afbgchdi");
    assert_eq!(turns(&[]), "");
    // What another place says in the same words is no second hit, and what the same
    // place says in others is.
    let mut second = hit("a", 1.0, 0.5);
    second.path = "b".to_owned();
    let mut third = hit("a", 1.0, 0.5);
    third.snippet = "else".to_owned();
    assert_eq!(paths(&in_turn(vec![list("a"), vec![second, third]])), "aa");
}

/// A note of a day.
fn note(path: &str, text: &str, timestamp_ms: i64) -> Hit {
    Hit {
        snippet: text.to_owned(),
        answer: text.to_owned(),
        timestamp_ms,
        ..hit(path, 0.9, 0.5)
    }
}

#[test]
fn successor_is_who_came_after_who_is_named() {
    let older = note("work.md", "El jefe de obra es Damián.", 0);
    let question = "¿Quién es el jefe de obra?";
    let names = named(&older, question);
    assert_eq!(names, ["Damián"]);
    assert!(named(&older, "¿Dónde está la obra?").is_empty());
    let follows =
        |path, text, timestamp_ms| succeeds(&note(path, text, timestamp_ms), (&older, &names));
    let left = "Damián se jubila, le sustituye Beatriz Cano";
    assert!(follows("new.md", left, 100_000));
    assert!(!follows("old.md", left, -100_000), "it was before");
    assert!(
        !follows("new.md", "Damián se jubila", 100_000),
        "nobody comes after him"
    );
    assert!(
        !follows("new.md", "A Luis le sustituye Ana", 100_000),
        "somebody else left"
    );
}

/// Notes with the day of each, and what of them answers.
fn recalled(
    notes: &[(&str, &str, i64)],
    question: &str,
    is_wanted: impl Fn(&Hit) -> bool,
) -> String {
    const NOW_MS: i64 = 1_772_625_600_000;
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), Options { table: None }).unwrap();
    let document = |(path, text, age): &(&str, &str, i64)| crate::document::Document {
        path: (*path).to_owned(),
        source: Source::Memory,
        stamp: String::new(),
        modified_ms: NOW_MS,
        day_ms: Some(NOW_MS - age * 86_400_000),
        topic: String::new(),
        body: crate::document::Body::Text((*text).to_owned()),
    };
    engine
        .put(&notes.iter().map(document).collect::<Vec<_>>())
        .unwrap();
    let query = Query::new(question, NOW_MS);
    paths(&engine.recall(&query, is_wanted).unwrap().hits)
}

#[test]
fn recall_who_came_after_who_is_named_is_recalled_first() {
    let notes = [
        ("a", "El jefe de obra es Damián.", 30),
        ("b", "Damián se jubila, le sustituye Beatriz Cano.", 2),
        ("c", "Beatriz tiene un perro.", 1),
    ];
    let question = "¿Quién es el jefe de obra?";
    assert_eq!(recalled(&notes, question, |_| true), "ba");
    assert_eq!(recalled(&notes, question, |hit| hit.path != "b"), "a");
    assert_eq!(recalled(&notes[..1], question, |_| true), "a");
    // Where it is asked for nobody, who came after is of no matter.
    assert_eq!(
        recalled(&notes, "¿Cuándo tiene obra el jefe?", |_| true),
        ""
    );
}

#[test]
fn recall_what_answers_all_of_several_questions_stands_before_what_answers_some() {
    let notes = [
        ("a", "The plumber is Doctor Holm.", 3),
        ("b", "The plumber costs 80 € an hour.", 3),
        (
            "c",
            "Holm the plumber, who lives in Linz, costs 90 € an hour.",
            3,
        ),
    ];
    let question = "What does the plumber cost and where does the plumber live?";
    assert_eq!(recalled(&notes, question, |_| true), "cb");
    assert_eq!(recalled(&notes, question, |hit| hit.path != "c"), "b");
}

#[test]
fn recall_what_is_said_before_a_question_keeps_no_answer_away() {
    let notes = [
        ("a", "The plumber lives in Linz.", 3),
        ("b", "The tent is in the attic.", 3),
    ];
    let question = "My grandmother wants her broken radiator exchanged on Friday, where does the plumber live?";
    assert_eq!(recalled(&notes, question, |_| true), "a");
    assert_eq!(recalled(&notes, question, |hit| hit.path != "a"), "");
}
