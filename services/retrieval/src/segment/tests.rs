use std::collections::HashMap;

use super::builder::Builder;
use super::merge::{self, Alive, Input};
use super::*;
use crate::analysis::Language;
use crate::document::Kind;
use crate::part::{Part, Unit};
use crate::term;

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

const WORDS: [&str; 6] = ["fox", "hen", "river", "garden", "copper", "violin"];

proptest::proptest! {
    /// A merge of segments is what one segment of the parts that are left would
    /// be.
    #[test]
    fn a_merge_is_what_is_left(
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
        }
    }
}
