use std::collections::HashMap;

use super::builder::Builder;
use super::merge::{self, Alive, Input};
use super::*;
use crate::document::Kind;
use crate::embed::spelling;
use crate::embed::table::Table;
use crate::embed::vector::{Quantised, norm};
use crate::part::{Part, Unit};
use crate::term;
use openclaw_analysis::Language;

#[derive(Debug)]
struct Kept(Vec<bool>);

impl Alive for Kept {
    fn is_alive(&self, index: usize) -> bool {
        self.0[index]
    }
}

fn part(texts: &[String]) -> Part {
    let unit = |text: &String| Unit {
        text: text.clone(),
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
        flows: true,
        hash: 0,
    }
}

/// How often each word is in each unit of a segment, by the texts it was made
/// of.
fn counted(segment: &Segment, words: &[&str]) -> HashMap<(String, u32), u32> {
    let mut counts = HashMap::new();
    for word in words {
        for posting in segment.postings(term::key(word)) {
            counts.insert(((*word).to_owned(), posting.unit), posting.count);
        }
    }
    counts
}

/// The last two are long.
const WORDS: [&str; 6] = ["fox", "hen", "river", "garden", "zeppelin", "platypus"];

proptest::proptest! {
    /// A merge of segments is what one segment of the parts that are left would
    /// be.
    #[test]
    fn merge_is_what_is_left(
        parts in proptest::collection::vec(
            (proptest::collection::vec(proptest::collection::vec(0usize..6, 1..8), 1..5), proptest::bool::ANY),
            1..12,
        )
    ) {
        let parts: Vec<(Part, bool)> = parts.into_iter().map(|(units, kept)| {
            let text = |unit: Vec<usize>| unit.into_iter().map(|w| WORDS[w]).collect::<Vec<_>>().join(" ");
            (part(&units.into_iter().map(text).collect::<Vec<_>>()), kept)
        }).collect();
        let mut whole = Builder::new(None);
        let mut segments = Vec::new();
        for (chunk, number) in parts.chunks(3).zip(0..) {
            let mut builder = Builder::new(None);
            for ((part, kept), position) in chunk.iter().zip(0..) {
                builder.add(number * 3 + position, part, None);
                if *kept {
                    whole.add(number * 3 + position, part, None);
                }
            }
            let kept = Kept(chunk.iter().map(|(_, kept)| *kept).collect());
            segments.push((builder.finish().unwrap(), kept));
        }
        let inputs: Vec<Input<'_>> = segments.iter()
            .map(|(segment, kept)| Input { segment, alive: kept })
            .collect();
        let merged = merge::in_memory(&inputs);
        let whole = whole.finish();
        proptest::prop_assert_eq!(merged.is_some(), whole.is_some());
        if let (Some(merged), Some(whole)) = (merged, whole) {
            proptest::prop_assert_eq!(counted(&merged, &WORDS), counted(&whole, &WORDS));
            proptest::prop_assert_eq!(&*merged.bytes, &*whole.bytes);
        }
    }

    /// Damaged bytes are refused or read as something else, and never more.
    #[test]
    fn damage_is_no_panic(at in 0usize..400, with in 0u8.., cut in 0usize..400) {
        let mut builder = Builder::new(None);
        builder.add(1, &part(&["fox hen".to_owned(), "river".to_owned()]), None);
        let mut bytes = builder.finish().unwrap().bytes.to_vec();
        let length = bytes.len();
        bytes[at % length] ^= with;
        bytes.truncate(length - cut % length);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segment-1.idx");
        std::fs::write(&path, &bytes).unwrap();
        let changed = with != 0 || cut % length != 0;
        proptest::prop_assert_eq!(Segment::open(&path).is_err(), changed);
        if let Some(segment) = Segment::in_memory(bytes) {
            counted(&segment, &WORDS);
            (0..4).for_each(|unit| drop(segment.spelled(unit).to_vec()));
        }
    }
}

/// Parts of which some flow, with units of their own kinds and times.
fn parts() -> Vec<Part> {
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let mut parts = vec![
        part(&texts(&["fox fox hen", "river", "garden fox fox fox"])),
        part(&texts(&["hen", "hen river", "zeppelin platypus"])),
        part(&texts(&["copper labyrinth"])),
    ];
    parts[1].flows = false;
    parts[1].units[1].kind = Kind::Asked;
    parts[2].units[0].timestamp_ms = Some(1_772_625_600_000);
    parts[2].units[0].kind = Kind::Told;
    parts[2].language = Language::German;
    parts
}

fn built(table: Option<&Table>, parts: &[Part]) -> Segment {
    let mut builder = Builder::new(table);
    for (part, number) in parts.iter().zip(1..) {
        builder.add(number * 10, part, None);
    }
    builder.finish().unwrap()
}

fn table() -> Table {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/share/embedding");
    Table::open(&folder).unwrap()
}

#[test]
fn segment_has_the_parts_and_the_units_that_were_put_into_it() {
    let segment = built(None, &parts());
    assert_eq!(
        (segment.parts(), segment.units(), segment.table()),
        (3, 7, 0)
    );
    let entries: Vec<_> = (0..3).map(|index| segment.part(index)).collect();
    let ids = entries
        .iter()
        .map(|part| (part.id, part.first, part.units, part.flows));
    let expected = [(10, 0, 3, true), (20, 3, 3, false), (30, 6, 1, true)];
    assert_eq!(ids.collect::<Vec<_>>(), expected);
    assert_eq!(range(&entries[1]), 3..6);
    let units: Vec<UnitEntry> = (0..7).map(|index| segment.unit(index)).collect();
    assert!(segment.unit_entries().eq(units.iter().copied()));
    let numbers = units.iter().map(|unit| unit.part).collect::<Vec<_>>();
    assert_eq!(numbers, [0, 0, 0, 1, 1, 1, 2]);
    assert_eq!(units[4].kind, Kind::Asked);
    assert_eq!(units[0].kind, Kind::Note);
    assert_eq!(
        (units[0].timestamp_ms, units[6].timestamp_ms),
        (None, Some(1_772_625_600_000))
    );
    let lengths = units.iter().map(|unit| unit.length).collect::<Vec<_>>();
    // The words, and of the one with a time the four names of its day.
    assert_eq!(lengths, [3, 1, 4, 1, 2, 2, 2 + 4]);
    assert_eq!(
        entries.iter().map(|part| part.length).collect::<Vec<_>>(),
        [8, 5, 6]
    );
    let windows = (0..7)
        .map(|unit| segment.window_length(unit))
        .collect::<Vec<_>>();
    assert_eq!(
        windows,
        [4, 8, 5, 1, 2, 2, 6],
        "neighbours of what flows count"
    );
    assert_eq!(
        segment.lengths(2),
        Lengths {
            part: 0,
            unit: 4,
            window: 5
        }
    );
    assert_eq!(segment.lengths(7), Lengths::default());
    assert_eq!(segment.unit(1 << 40 >> 8), UnitEntry::default());
    assert_eq!(segment.part(1 << 30), PartEntry::default());
    assert!(segment.vectors().iter().all(|x| *x == 0));
    assert_eq!(segment.vectors().len(), 7 * DIMENSIONS);
    let english = Languages::default().with(Language::English);
    assert_eq!(
        segment.languages().bits(),
        english.with(Language::German).bits()
    );
}

#[test]
fn segment_has_its_terms_in_order_with_where_they_are() {
    let segment = built(None, &parts());
    let keys: Vec<Key> = (0..segment.terms())
        .map(|index| segment.key(index))
        .collect();
    assert!(keys.is_sorted() && keys.len() == 8 + 4, "{}", keys.len());
    assert_eq!(segment.key(keys.len() + 1000), 0);
    let found = |word: &str| {
        let all = segment.postings(term::key(word));
        all.map(|posting| (posting.unit, posting.count))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("fox"), [(0, 2), (2, 3)]);
    assert_eq!(found("hen"), [(0, 1), (3, 1), (4, 1)]);
    assert_eq!(found("river"), [(1, 1), (4, 1)]);
    assert_eq!(found("zebra"), []);
    assert_eq!(
        segment.postings(0).count() + segment.postings(u64::MAX).count(),
        0
    );
    for (index, key) in keys.iter().enumerate() {
        let there: Vec<_> = segment.postings_at(index).collect();
        assert!(!there.is_empty() && there.into_iter().eq(segment.postings(*key)));
    }
}

#[test]
fn segment_has_its_long_words_in_order() {
    let segment = built(None, &parts());
    let words = std::str::from_utf8(segment.words()).unwrap();
    let words: Vec<&str> = words.lines().collect();
    assert!(words.is_sorted());
    assert!(
        words.iter().all(|word| word.len() >= 8) && words.contains(&"zeppelin"),
        "{words:?}"
    );
    for word in words {
        assert_eq!(segment.words_from(word).next(), Some(word));
    }
    let bytes = b"one\ntwo\nthree";
    for (at, line) in [
        (0, 0..4),
        (3, 0..4),
        (4, 4..8),
        (7, 4..8),
        (8, 8..13),
        (12, 8..13),
    ] {
        assert_eq!(line_at(bytes, at), line, "{at}");
    }
}

#[test]
fn segment_of_a_table_has_the_vectors_of_its_units() {
    let table = table();
    let mut parts = parts();
    parts[0].units[1].context = "about a garden".to_owned();
    let segment = built(Some(&table), &parts);
    assert_eq!(segment.table(), table.identity());
    assert_ne!(segment.table(), 0);
    assert_eq!(segment.vectors().len(), 7 * DIMENSIONS);
    let sums: Vec<[f32; DIMENSIONS]> = parts
        .iter()
        .flat_map(|part| &part.units)
        .map(|unit| table.sum(&format!("{} {}", unit.context, unit.text)))
        .collect();
    let joined = |units: &[usize]| {
        let mut sum = [0.0; DIMENSIONS];
        for unit in units {
            sum.iter_mut()
                .zip(sums[*unit])
                .for_each(|(sum, x)| *sum += x);
        }
        norm(&sum)
    };
    let near = [&[0, 1][..], &[0, 1, 2], &[1, 2], &[3], &[4], &[5], &[6]];
    for (unit, near) in near.into_iter().enumerate() {
        let quantised = Quantised::new(&sums[unit]);
        assert_eq!(segment.vector(unit), quantised.values, "{unit}");
        let entry = segment.unit(unit);
        let is_near = |a: f32, b: f32| (a - b).abs() < 1e-3 * b.abs();
        assert!(is_near(entry.scale, quantised.scale), "{unit}");
        assert!(is_near(entry.norm, norm(&sums[unit])), "{unit}");
        assert!(is_near(entry.window_norm, joined(near)), "{unit}");
    }
    assert_eq!(segment.vector(7), [0_i8; 0]);
}

/// `text` as the table spells it.
fn spelled(table: &Table, text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    spelling::spell(table, text, Language::English, &mut bytes);
    bytes
}

#[test]
fn segment_of_a_table_has_the_words_of_what_was_said() {
    let table = table();
    let segment = built(Some(&table), &parts());
    let nothing: &[u8] = &[];
    for (unit, text) in [(4, "hen river"), (6, "copper labyrinth")] {
        assert_eq!(segment.spelled(unit), spelled(&table, text), "{unit}");
    }
    for unit in [0, 1, 2, 3, 5, 7, 1 << 30] {
        assert_eq!(segment.spelled(unit), nothing, "{unit}");
    }
    assert_eq!(built(None, &parts()).spelled(4), nothing);
}

#[test]
fn segment_in_a_file_is_the_same_and_every_byte_of_it_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segment-1.idx");
    // Longer than what is checked at once.
    let many: Vec<Part> = (0..1200).map(|n| part(&[format!("word{n} fox")])).collect();
    let segment = built(None, &many);
    assert!(segment.bytes.len() > CHECKED_AT_ONCE);
    std::fs::write(&path, &*segment.bytes).unwrap();
    let opened = Segment::open(&path).unwrap();
    assert_eq!(
        (&*opened.bytes, &opened.header),
        (&*segment.bytes, &segment.header)
    );
    assert_eq!(opened.lengths, segment.lengths);
    for at in [
        0,
        70,
        CHECKED_AT_ONCE - 1,
        CHECKED_AT_ONCE,
        segment.bytes.len() - 1,
    ] {
        let mut damaged = segment.bytes.to_vec();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let error = Segment::open(&path).unwrap_err().to_string();
        assert!(error.contains("segment-1.idx"), "{at}: {error}");
    }
    for length in [0, 7, 8, segment.bytes.len() - 8] {
        std::fs::write(&path, &segment.bytes[..length]).unwrap();
        Segment::open(&path).unwrap_err();
    }
    Segment::open(&folder.path().join("none")).unwrap_err();
}

#[test]
fn merge_in_a_file_is_the_same_as_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("merged");
    let segment = built(Some(&table()), &parts());
    let inputs = |kept: &'static [bool]| Box::leak(Box::new(Kept(kept.to_vec())));
    let merged = |alive: &'static [bool]| {
        let alive: &Kept = inputs(alive);
        [Input {
            segment: &segment,
            alive,
        }]
    };
    assert!(!merge::to_file(&merged(&[false; 3]), &path).unwrap());
    assert!(!path.exists());
    assert!(merge::to_file(&merged(&[true, false, true]), &path).unwrap());
    let opened = Segment::open(&path).unwrap();
    let in_memory = merge::in_memory(&merged(&[true, false, true])).unwrap();
    assert_eq!(&*opened.bytes, &*in_memory.bytes);
    assert_eq!((opened.parts(), opened.units()), (2, 4));
    assert_eq!(opened.part(1).id, 30);
    assert_eq!(opened.table(), segment.table());
    for (new, old) in [(0, 0), (1, 1), (2, 2), (3, 6)] {
        assert_eq!(opened.vector(new), segment.vector(old));
        assert_eq!(opened.spelled(new), segment.spelled(old));
        let (new, old) = (opened.unit(new), segment.unit(old));
        assert_eq!(
            (new.length, new.norm, new.kind),
            (old.length, old.norm, old.kind)
        );
    }
    assert_eq!(
        opened.spelled(3),
        spelled(&table(), "copper labyrinth"),
        "what is gone before it leaves nothing"
    );
    assert_eq!(opened.words(), segment_words(&[&parts()[0], &parts()[2]]));
    merge::to_file(&merged(&[true; 3]), folder.path()).unwrap_err();
}

fn segment_words(parts: &[&Part]) -> Vec<u8> {
    let parts: Vec<Part> = parts.iter().map(|part| (*part).clone()).collect();
    built(None, &parts).words().to_vec()
}

proptest::proptest! {
    /// Words from one on are those that are not before it.
    #[test]
    fn words_begin_where_they_are_wanted(
        words in proptest::collection::vec("[a-d]{8,10}", 0..12),
        first in "[a-e]{0,10}",
    ) {
        let segment = built(None, &[part(&[words.join(" "), "fox".to_owned()])]);
        let all: Vec<String> = std::str::from_utf8(segment.words()).unwrap().lines().map(str::to_owned).collect();
        let found: Vec<&str> = segment.words_from(&first).filter(|word| !word.is_empty()).collect();
        let expected: Vec<&String> = all.iter().filter(|word| word.as_str() >= first.as_str()).collect();
        proptest::prop_assert_eq!(found, expected);
    }

    /// What is written of parts and units is read.
    #[test]
    fn entries_are_read_as_they_were_written(
        numbers in proptest::array::uniform4(0u32..), id in 0i64.., flows: bool,
        scales in proptest::array::uniform3(0.0f32..9.0), kind in 0u8..5, traits in 0u8..,
        timestamp_ms in proptest::option::of(-9i64..9_000_000_000_000),
    ) {
        let part = PartEntry { id, first: numbers[0], units: numbers[1], length: numbers[2], flows };
        let mut bytes = Vec::new();
        part.write(&mut bytes);
        proptest::prop_assert_eq!(PartEntry::read(bytes[..].try_into().unwrap()), part);
        let unit = UnitEntry {
            part: numbers[0],
            length: numbers[3],
            scale: scales[0],
            norm: scales[1],
            window_norm: scales[2],
            kind: Kind::numbered(kind),
            traits: openclaw_analysis::Traits::from_bits(traits),
            timestamp_ms,
        };
        let mut bytes = Vec::new();
        unit.write(&mut bytes);
        proptest::prop_assert_eq!(UnitEntry::read(bytes[..].try_into().unwrap()), unit);
    }
}
