use super::*;
use crate::document::Kind;
use crate::part::{Part, Unit};
use crate::segment::builder::Builder;
use openclaw_analysis::Language;

fn part(texts: &[&str], language: Language) -> Part {
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
        language,
        flows: true,
        hash: 0,
    }
}

/// A segment of parts with the numbers 10, 11 and so on, each of the document
/// with the last digit; those of the document 9 are gone.
fn live(texts: &[&[&str]], language: Language, file: Option<i64>) -> Live {
    let mut builder = Builder::new(None);
    for (texts, id) in texts.iter().zip(10..) {
        builder.add(id, &part(texts, language), None);
    }
    let owner = |id: i64| u32::try_from(id - 10).ok().filter(|owner| *owner != 9);
    Live::new(Arc::new(builder.finish().unwrap()), file, owner)
}

fn first() -> Live {
    live(
        &[&["fox hen", "river"], &["garden"], &["copper fox violin"]],
        Language::English,
        Some(1),
    )
}

fn size(parts: usize, units: usize, length: u64, window_length: u64) -> Size {
    Size {
        parts,
        units,
        length,
        window_length,
    }
}

#[test]
fn live_parts_have_their_documents_and_their_size() {
    let live = first();
    assert_eq!(live.size(), size(3, 4, 3 + 1 + 3, 6 + 1 + 3));
    assert_eq!(
        live.parts().collect::<Vec<_>>(),
        [(10, 0), (11, 1), (12, 2)]
    );
    assert_eq!(
        (live.owner(0), live.owner(2), live.owner(3)),
        (Some(0), Some(2), None)
    );
    assert!(live.is_alive(1) && !live.is_alive(3));
    let owner = |id: i64| (id != 11).then_some(7);
    let less = Live::new(Arc::clone(&live.segment), None, owner);
    assert_eq!(less.size(), size(2, 3, 6, 9));
    assert_eq!(less.parts().collect::<Vec<_>>(), [(10, 7), (12, 7)]);
    assert_eq!((less.owner(1), less.is_alive(1)), (None, false));
}

#[test]
fn parts_that_are_forgotten_are_gone_and_segments_with_them() {
    let mut snapshot = Snapshot {
        live: vec![first(), live(&[&["maison"]], Language::French, None)],
        ..Snapshot::default()
    };
    assert_eq!(snapshot.size(), size(4, 5, 8, 11));
    let both = Languages::default()
        .with(Language::English)
        .with(Language::French);
    assert_eq!(snapshot.languages().bits(), both.bits());
    let before = snapshot.clone();
    snapshot.forget(&HashSet::new());
    snapshot.forget(&HashSet::from([99]));
    assert_eq!(snapshot.size(), before.size());
    snapshot.forget(&HashSet::from([12]));
    assert_eq!(snapshot.live.len(), 2);
    assert_eq!(snapshot.size(), size(3, 4, 5, 8));
    // A segment in a file stays until it is merged; one in memory goes.
    snapshot.forget(&HashSet::from([10, 11]));
    assert_eq!(
        snapshot
            .live
            .iter()
            .map(|live| live.file)
            .collect::<Vec<_>>(),
        [Some(1)]
    );
    assert_eq!(snapshot.size(), Size::default());
    assert_eq!(
        before.size(),
        size(4, 5, 8, 11),
        "a search goes on with what was there"
    );
}

#[test]
fn document_is_as_old_as_its_day_or_its_last_change() {
    let row = |day_ms: Option<i64>| DocumentRow {
        id: 1,
        path: "a.md".to_owned(),
        source: Source::Extra,
        stamp: String::new(),
        modified_ms: 5,
        day_ms,
    };
    let entry = DocumentEntry::from(&row(Some(3)));
    assert_eq!((entry.timestamp_ms, entry.ages), (3, true));
    assert_eq!(
        (entry.source, entry.path),
        (Source::Extra, path_hash("a.md"))
    );
    let entry = DocumentEntry::from(&row(None));
    assert_eq!((entry.timestamp_ms, entry.ages), (5, false));
    assert_ne!(path_hash("a.md"), path_hash("b.md"));
}
