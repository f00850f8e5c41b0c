use super::*;
use crate::document::Kind;
use crate::part::{Part, Unit};
use openclaw_analysis::Language;

fn part(units: usize) -> Part {
    let unit = |number: usize| Unit {
        text: format!("fox number {number}"),
        context: String::new(),
        kind: Kind::Note,
        speaker: String::new(),
        message: None,
        timestamp_ms: None,
        line: 0,
        last_line: 0,
    };
    Part {
        units: (0..units).map(unit).collect(),
        line: 0,
        language: Language::English,
        flows: true,
        hash: 0,
    }
}

/// A segment of one part with so many units, which is there or gone.
fn live(units: usize, file: Option<i64>, is_there: bool) -> Live {
    let mut builder = Builder::new(None);
    builder.add(1, &part(units), None);
    let segment = Arc::new(builder.finish().unwrap());
    Live::new(segment, file, |_| is_there.then_some(1))
}

/// The files that are merged, and those that stay; 0 is one in memory.
fn merged(mut all: Vec<Live>) -> (Vec<i64>, Vec<i64>) {
    let files = |live: &[Live]| {
        live.iter()
            .map(|live| live.file.unwrap_or_default())
            .collect()
    };
    let chosen = chosen(&mut all);
    (files(&chosen), files(&all))
}

#[test]
fn files_are_merged_as_long_as_they_are_no_larger_than_what_is_merged() {
    let files = |sizes: &[usize]| {
        let mut all = vec![live(2, None, true)];
        let files = sizes.iter().zip(1..);
        all.extend(files.map(|(units, file)| live(*units, Some(file), true)));
        merged(all)
    };
    assert_eq!(files(&[3, 9]), (vec![0], vec![2, 1]));
    assert_eq!(files(&[2, 9]), (vec![0, 1], vec![2]));
    // Two and two are four, and four more are eight.
    assert_eq!(files(&[9, 4, 2]), (vec![0, 3, 2], vec![1]));
    assert_eq!(files(&[8, 4, 2]), (vec![0, 3, 2, 1], vec![]));
    assert_eq!(files(&[]), (vec![0], vec![]));
}

#[test]
fn files_of_which_nothing_is_left_are_merged_away() {
    let all = vec![live(5, Some(1), false), live(5, Some(2), true)];
    assert_eq!(merged(all), (vec![1], vec![2]));
    let all = vec![
        live(1, None, true),
        live(2, None, true),
        live(3, Some(1), true),
    ];
    assert_eq!(merged(all), (vec![0, 0, 1], vec![]));
    assert_eq!(merged(Vec::new()), (vec![], vec![]));
}

#[test]
fn fallback_is_emptied_when_everything_is_in_a_segment_again() {
    use crate::document::{Body, Document};
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), Options::default()).unwrap();
    let fox = Document {
        path: "fox.md".to_owned(),
        source: Source::Memory,
        stamp: "1".to_owned(),
        modified_ms: 0,
        day_ms: None,
        topic: String::new(),
        body: Body::Text("A fox sleeps.".to_owned()),
    };
    engine.put(&[fox]).unwrap();
    let waiting = engine.writer().fill_fallback().unwrap();
    engine.waiting.store(waiting, Ordering::Relaxed);
    let found = || engine.reader().search_fallback(&["fox".to_owned()], 9);
    assert_eq!((waiting, found().unwrap().len()), (1, 1));
    engine.maintain().unwrap();
    assert!(found().unwrap().is_empty());
    assert_eq!(engine.status().waiting, 0);
}
