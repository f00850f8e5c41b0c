use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::document::{Kind, Source};
use crate::embed::table::Table;
use crate::embed::vector::norm;
use crate::part::{Part, Unit};
use crate::query::Query;
use crate::segment::builder::Builder;
use crate::snapshot::{DocumentEntry, Live, Snapshot};
use openclaw_analysis::Language;

fn table() -> Table {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
    Table::open(&folder).unwrap()
}

fn part(texts: &[&str], flows: bool) -> Part {
    let unit = |text: &&str| Unit {
        text: (*text).to_owned(),
        context: String::new(),
        kind: Kind::Note,
        speaker: String::new(),
        message: None,
        timestamp_ms: None,
        line: 0,
        last_line: 0,
    };
    Part {
        units: texts.iter().map(unit).collect(),
        line: 0,
        language: Language::English,
        flows,
        hash: 0,
    }
}

const FIRST: [&str; 3] = ["the fox in the forest", "a river", "taxes and money"];
const SECOND: [&str; 2] = ["my garden", "an old violin"];
const THIRD: [&str; 1] = ["a boat on the lake"];

/// A segment of the first two parts, the second of which does not flow, and one
/// of the third.
fn snapshot(table: &Table) -> Snapshot {
    let segment = |parts: &[(i64, Part)]| {
        let mut builder = Builder::new(Some(table));
        for (id, part) in parts {
            builder.add(*id, part, None);
        }
        let owner = |id: i64| u32::try_from(id).ok();
        Live::new(Arc::new(builder.finish().unwrap()), None, owner)
    };
    let entry = |source| DocumentEntry {
        source,
        path: 0,
        timestamp_ms: 0,
        ages: false,
    };
    let sources = [Source::Memory, Source::Sessions, Source::Memory];
    let documents = (0..).zip(sources.map(entry)).collect();
    Snapshot {
        live: vec![
            segment(&[(0, part(&FIRST, true)), (1, part(&SECOND, false))]),
            segment(&[(2, part(&THIRD, true))]),
        ],
        documents: Arc::new(documents),
    }
}

/// The cosine of the question's vector and the sum of those of texts.
fn cosine(table: &Table, question: &str, texts: &[&str]) -> f32 {
    let sum = table.sum(&texts.join(" "));
    let question = table.sum(question);
    let dot: f32 = sum.iter().zip(question).map(|(a, b)| a * b).sum();
    dot / norm(&sum) / norm(&question)
}

fn is_near(found: &[f32], expected: &[f32]) {
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 0.02;
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{found:?} instead of {expected:?}");
}

#[test]
fn cosines_are_of_units_and_of_what_is_around_them() {
    let table = table();
    let snapshot = snapshot(&table);
    let query = Query::new("x", 0);
    let space = Space::new(&snapshot, &query);
    let question = "where do foxes live?";
    let vector = Quantised::new(&table.sum(question));
    let scores = Scores::new(&space, &vector, table.identity(), Tables::default());
    let of = |texts: &[&str]| cosine(&table, question, texts);
    let all = [&FIRST[..], &SECOND, &THIRD].concat();
    let units: Vec<f32> = all.iter().map(|text| of(&[text])).collect();
    is_near(&scores.tables.unit, &units);
    let windows = [
        of(&FIRST[..2]),
        of(&FIRST),
        of(&FIRST[1..]),
        units[3],
        units[4],
        units[5],
    ];
    is_near(&scores.tables.window, &windows);
    assert!(!scores.cut_short);
    // The nearest has the highest place, and the farthest the lowest.
    let places = units
        .iter()
        .map(|cosine| scores.units.range().place(f64::from(*cosine)));
    let places: Vec<f64> = places.collect();
    assert!(
        places[0] > 0.9 && places.iter().any(|place| *place < 0.1),
        "{places:?}"
    );
}

#[test]
fn meaning_what_is_not_searched_and_what_another_table_made_has_no_cosine() {
    let table = table();
    let snapshot = snapshot(&table);
    let mut query = Query::new("x", 0);
    let vector = Quantised::new(&table.sum("an old violin in the forest"));
    let found = |query: &Query, identity: u64| {
        let space = Space::new(&snapshot, query);
        let scores = Scores::new(&space, &vector, identity, Tables::default());
        let is_there = |cosine: &f32| *cosine != 0.0;
        let there: Vec<bool> = scores.tables.unit.iter().map(is_there).collect();
        assert!(
            scores
                .tables
                .window
                .iter()
                .map(is_there)
                .eq(there.iter().copied())
        );
        (there, scores.cut_short)
    };
    let same = table.identity();
    query.sources = vec![Source::Sessions];
    assert_eq!(
        found(&query, same),
        (vec![false, false, false, true, true, false], false)
    );
    query.sources = Vec::new();
    assert_eq!(found(&query, same).0, [true; 6]);
    assert_eq!(found(&query, same + 1), (vec![false; 6], false));
    query.deadline = Some(std::time::Instant::now());
    assert_eq!(found(&query, same), (vec![false; 6], true));
    let space = Space::new(&snapshot, &query);
    let short = Quantised::new(&[1.0]);
    let scores = Scores::new(&space, &short, same, Tables::default());
    assert_eq!(scores.tables.unit, [0.0; 6]);
}
