use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::document::{Kind, Source};
use crate::part::{Part, Unit};
use crate::query::Query;
use crate::segment::builder::Builder;
use crate::snapshot::{DocumentEntry, Live, Snapshot, path_hash};
use crate::term;
use openclaw_analysis::Language;

fn part(units: &[(&str, &str)], flows: bool) -> Part {
    let unit = |(speaker, text): &(&str, &str)| Unit {
        text: (*text).to_owned(),
        context: String::new(),
        kind: Kind::Note,
        speaker: (*speaker).to_owned(),
        message: None,
        timestamp_ms: None,
        line: 0,
        last_line: 0,
    };
    Part {
        units: units.iter().map(unit).collect(),
        line: 0,
        language: Language::English,
        flows,
        hash: 0,
    }
}

/// A document of each part, in segments of two.
fn snapshot(parts: &[Part]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut documents = HashMap::new();
    for (segment, number) in parts.chunks(2).zip(0..) {
        let mut builder = Builder::new(None);
        for (part, index) in segment.iter().zip(0..) {
            builder.add(number * 2 + index, part, None);
        }
        let segment = Arc::new(builder.finish().unwrap());
        let owner = |id: i64| u32::try_from(id).ok();
        snapshot.live.push(Live::new(segment, None, owner));
    }
    for number in 0..parts.len() as u32 {
        let document = DocumentEntry {
            source: if number == 0 {
                Source::Extra
            } else {
                Source::Memory
            },
            path: path_hash(&number.to_string()),
            timestamp_ms: 0,
            ages: false,
        };
        documents.insert(number, document);
    }
    snapshot.documents = Arc::new(documents);
    snapshot
}

/// Two segments: units 0 to 4 in parts 0 and 1, units 5 to 7 in parts 2 and 3.
fn parts() -> Vec<Part> {
    vec![
        part(&[("", "fox"), ("Ada", "hen hen fox"), ("", "river")], true),
        part(&[("", "fox river"), ("", "garden")], false),
        part(
            &[("", "hen river copper fox"), ("Ada", "garden garden")],
            true,
        ),
        part(&[("", "copper")], true),
    ]
}

fn word(own: &[&str], related: &[&str], foreign: &[&str]) -> SearchWord {
    let keys = |words: &[&str]| words.iter().map(|word| term::key(word)).collect();
    SearchWord {
        keys: keys(own),
        related: keys(related),
        foreign: foreign.iter().map(|word| (term::key(word), None)).collect(),
        factor: 1.0,
        ..SearchWord::default()
    }
}

fn question(words: Vec<SearchWord>) -> Question {
    Question {
        words,
        speakers: vec![term::speaker_key("ada")],
        ..Question::new("", &Snapshot::default(), None)
    }
}

fn is_near(found: &[f32], expected: &[f32]) {
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{found:?} instead of {expected:?}");
}

/// BM25 by its formula.
fn bm25(all: f32, with: f32, count: f32, length: f32, average: f32) -> f32 {
    let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
    rarity * count / (count + 0.9 * (1.0 - 0.4 + 0.4 * length / average))
}

#[test]
fn word_counts_by_its_rarity_and_the_lengths_of_texts() {
    let snapshot = snapshot(&parts());
    let query = Query::new("x", 0);
    let space = Space::new(&snapshot, &query);
    let hen = question(vec![word(&["hen"], &[], &[])]);
    let scores = Scores::new(&space, &hen, Tables::default());
    // Lengths: 1 3 1, 2 1, 4 2, 1; with neighbours 4 5 4, 2 1, 6 6, 1. A unit
    // with a speaker has the name among its words.
    let lengths: Vec<f32> = (0..5)
        .map(|unit| snapshot.live[0].segment.lengths(unit).unit as f32)
        .collect();
    let more: Vec<f32> = (0..3)
        .map(|unit| snapshot.live[1].segment.lengths(unit).unit as f32)
        .collect();
    let all: f32 = lengths.iter().chain(&more).sum();
    let unit = |count: f32, length: f32| bm25(8.0, 2.0, count, length, all / 8.0);
    let expected = [
        0.0,
        unit(2.0, lengths[1]),
        0.0,
        0.0,
        0.0,
        unit(1.0, more[0]),
        0.0,
        0.0,
    ];
    is_near(&scores.tables.unit, &expected);
    let windows = [
        lengths[0] + lengths[1],
        lengths[0] + lengths[1] + lengths[2],
        lengths[1] + lengths[2],
        lengths[3],
        lengths[4],
        more[0] + more[1],
        more[0] + more[1],
        more[2],
    ];
    let average = windows.iter().sum::<f32>() / 8.0;
    let window = |count: f32, unit: usize| bm25(8.0, 5.0, count, windows[unit], average);
    let expected = [
        window(2.0, 0),
        window(2.0, 1),
        window(2.0, 2),
        0.0,
        0.0,
        window(1.0, 5),
        window(1.0, 6),
        0.0,
    ];
    is_near(&scores.tables.window, &expected);
    let of_part = |count: f32, length: f32| bm25(4.0, 2.0, count, length, all / 4.0);
    let first: f32 = lengths[..3].iter().sum();
    let expected = [
        of_part(2.0, first),
        0.0,
        of_part(1.0, more[0] + more[1]),
        0.0,
    ];
    is_near(&scores.tables.part, &expected);
    let rarity = idf(8, 2);
    assert!((rarity - (1.0_f32 + 6.5 / 2.5).ln()).abs() < 1e-6);
    is_near(
        &scores.tables.covered,
        &[rarity, rarity, rarity, 0.0, 0.0, rarity, rarity, 0.0],
    );
    is_near(&[scores.weight, scores.weights[0].1], &[rarity, rarity]);
    assert_eq!(
        scores.tables.named,
        [false, true, false, false, false, false, true, false]
    );
    assert!(!scores.cut_short);
    assert!(scores.tables.counts.iter().all(|count| *count == 0));
}

#[test]
fn words_of_nearly_the_same_meaning_count_less() {
    let snapshot = snapshot(&parts());
    let query = Query::new("x", 0);
    let space = Space::new(&snapshot, &query);
    let found = |word: SearchWord| {
        let question = question(vec![word]);
        let scores = Scores::new(&space, &question, Tables::default());
        (
            scores.tables.unit[5],
            scores.tables.covered[5],
            scores.weight,
        )
    };
    let (own, covered, weight) = found(word(&["copper"], &[], &[]));
    let (related, share, known) = found(word(&["zebra"], &["copper"], &[]));
    is_near(&[related, share], &[own * 0.8 * 0.5, idf(8, 1) * 0.8]);
    assert_eq!(known, idf(8, 1), "texts have another word for it");
    let (foreign, share, _) = found(word(&["zebra"], &[], &["copper"]));
    is_near(&[foreign, share], &[own * 0.5 * 0.5, idf(8, 1) * 0.5]);
    assert_eq!((covered, weight), (idf(8, 2), idf(8, 2)));
    let (none, _, unknown) = found(word(&["zebra"], &[], &[]));
    assert_eq!((none, unknown), (0.0, idf(8, 0)));
    let mut half = word(&["copper"], &[], &[]);
    half.factor = 0.5;
    let (score, covered, weight) = found(half);
    is_near(
        &[score, covered, weight],
        &[own / 2.0, idf(8, 2) / 2.0, idf(8, 2) / 2.0],
    );
    for (related, foreign, share) in [("copper", "", 0.8), ("", "copper", 0.5)] {
        let mut half = word(&["zebra"], &[related], &[foreign]);
        half.factor = 0.5;
        let (score, covered, weight) = found(half);
        let expected = [own * share / 4.0, idf(8, 1) * share / 2.0, idf(8, 1) / 2.0];
        is_near(&[score, covered, weight], &expected);
    }
    // One word in several forms is one word, and covers a unit once.
    let forms = found(word(&["copper", "hen"], &["hen"], &[]));
    assert_eq!((forms.1, forms.2), (idf(8, 3), idf(8, 3)));
    let twice = word(&["copper", "copper"], &[], &[]);
    is_near(&[found(twice).1], &[idf(8, 2)]);
}

#[test]
fn keywords_only_what_is_asked_for_is_scored() {
    let snapshot = snapshot(&parts());
    let mut query = Query::new("x", 0);
    query.sources = vec![Source::Memory];
    query.without = vec!["2".to_owned()];
    let space = Space::new(&snapshot, &query);
    let fox = question(vec![word(&["fox"], &[], &[])]);
    let scores = Scores::new(&space, &fox, Tables::default());
    let found =
        |table: &[f32]| -> Vec<usize> { (0..table.len()).filter(|at| table[*at] > 0.0).collect() };
    assert_eq!(found(&scores.tables.unit), [3]);
    assert_eq!(found(&scores.tables.window), [3]);
    assert_eq!(found(&scores.tables.part), [1]);
    assert!(scores.tables.named.iter().all(|named| !named));
    // Tables are used again, and nothing of before is left in them.
    let none = question(vec![word(&["zebra"], &[], &[])]);
    let scores = Scores::new(&space, &none, scores.tables);
    assert_eq!(found(&scores.tables.unit), [0_usize; 0]);
    assert_eq!(found(&scores.tables.covered), [0_usize; 0]);
    query.deadline = Some(std::time::Instant::now());
    let space = Space::new(&snapshot, &query);
    let scores = Scores::new(&space, &fox, Tables::default());
    assert!(scores.cut_short);
    assert_eq!(found(&scores.tables.unit), [0_usize; 0]);
}

#[test]
fn keywords_of_many_words_the_rarest_are_looked_for() {
    let snapshot = snapshot(&parts());
    let query = Query::new("x", 0);
    let space = Space::new(&snapshot, &query);
    let words = |count: usize| {
        let mut words = vec![word(&["fox"], &[], &[])];
        words.extend((1..count).map(|number| word(&[&format!("none{number}")], &[], &[])));
        question(words)
    };
    let fox = term::key("fox");
    let has_fox = |question: &Question| {
        let words = rarest(&space, question);
        (words.len(), words.iter().any(|word| word.keys == [fox]))
    };
    assert_eq!(has_fox(&words(64)), (64, true));
    assert_eq!(has_fox(&words(65)), (64, false));
}

#[test]
fn things_of_the_kind_that_is_asked_for_are_marked() {
    let snapshot = snapshot(&parts());
    let mut query = Query::new("x", 0);
    let kind = SearchWord {
        things: ["garden", "copper", "hen"].map(term::key).to_vec(),
        ..word(&["animal"], &[], &[])
    };
    // A word of the question is no answer to it.
    let asked = question(vec![kind, word(&["hen"], &[], &[])]);
    let of_kind = |query: &Query| {
        let space = Space::new(&snapshot, query);
        Scores::new(&space, &asked, Tables::default())
            .tables
            .of_kind
    };
    let all = [false, false, false, false, true, true, true, true];
    assert_eq!(of_kind(&query), all);
    query.sources = vec![Source::Extra];
    assert_eq!(of_kind(&query), [false; 8]);
}

/// The scores of all units, of them with their neighbours, of parts, and what is covered.
fn levels(words: Vec<SearchWord>) -> [Vec<f32>; 4] {
    let snapshot = snapshot(&parts());
    let query = Query::new("x", 0);
    let space = Space::new(&snapshot, &query);
    let question = question(words);
    let Tables {
        unit,
        window,
        part,
        covered,
        ..
    } = Scores::new(&space, &question, Tables::default()).tables;
    [unit, window, part, covered]
}

#[test]
fn word_counts_at_every_level_by_its_factor() {
    let fox = |factor| SearchWord {
        factor,
        ..word(&["fox"], &["hen"], &["river"])
    };
    let (whole, half) = (levels(vec![fox(1.0)]), levels(vec![fox(0.5)]));
    for (whole, half) in whole.iter().zip(&half) {
        let expected: Vec<f32> = whole.iter().map(|score| score * 0.5).collect();
        is_near(half, &expected);
    }
}

#[test]
fn scores_of_several_words_are_the_sum_of_theirs() {
    let words = || {
        [
            word(&["fox"], &["hen"], &["river"]),
            word(&["copper"], &[], &[]),
            word(&["garden"], &["copper"], &["hen"]),
        ]
    };
    let each = words().map(|word| levels(vec![word]));
    for (level, found) in levels(words().into()).iter().enumerate() {
        let sum = |at: usize| each.iter().map(|one| one[level][at]).sum();
        let expected: Vec<f32> = (0..found.len()).map(sum).collect();
        is_near(found, &expected);
    }
}

/// Of a word that is found by several stems each counts, and the unit is one of those that have it.
#[test]
fn stems_of_a_word_count_together_in_units_and_parts() {
    let snapshot = snapshot(&parts());
    let query = Query::new("x", 0);
    let space = Space::new(&snapshot, &query);
    let both = question(vec![word(&["fox", "river"], &[], &[])]);
    let scores = Scores::new(&space, &both, Tables::default());
    let segments = [(0, 5, 2), (1, 3, 2)];
    let of_units = segments.iter().flat_map(|&(live, units, _)| {
        let segment = &snapshot.live[live].segment;
        (0..units).map(move |unit| segment.lengths(unit).unit as f32)
    });
    let lengths: Vec<f32> = of_units.collect();
    let of_parts = segments.iter().flat_map(|&(live, _, parts)| {
        let segment = &snapshot.live[live].segment;
        (0..parts).map(move |part| segment.part(part).length as f32)
    });
    let of_parts: Vec<f32> = of_parts.collect();
    let all: f32 = lengths.iter().sum();
    // fox, hen hen fox, river; fox river, garden; hen river copper fox, garden; copper.
    let counts = [1.0, 1.0, 1.0, 2.0, 0.0, 2.0, 0.0, 0.0];
    let expected = counts.iter().zip(&lengths);
    let expected = expected.map(|(&count, &length)| bm25(8.0, 5.0, count, length, all / 8.0));
    is_near(&scores.tables.unit, &expected.collect::<Vec<_>>());
    let expected = [3.0, 2.0, 2.0, 0.0].iter().zip(&of_parts);
    let expected = expected.map(|(&count, &length)| bm25(4.0, 3.0, count, length, all / 4.0));
    is_near(&scores.tables.part, &expected.collect::<Vec<_>>());
}

#[test]
fn last_unit_of_a_segment_has_neighbours_before_it_alone() {
    let last = part(&[("", "hen"), ("", "river fox"), ("", "garden")], true);
    let snapshot = snapshot(&[part(&[("", "copper")], false), last]);
    let query = Query::new("x", 0);
    let space = Space::new(&snapshot, &query);
    let garden = question(vec![word(&["garden"], &[], &[])]);
    let window = Scores::new(&space, &garden, Tables::default())
        .tables
        .window;
    let near: Vec<bool> = window.iter().map(|score| *score > 0.0).collect();
    assert_eq!(near, [false, false, true, true]);
}
