//! Documents to be looked into by tests.

use std::collections::HashMap;
use std::sync::Arc;

use crate::document::{Kind, Source};
use crate::part::{Part, Unit};
use crate::segment::builder::Builder;
use crate::snapshot::{DocumentEntry, Live, Snapshot, path_hash};
use openclaw_analysis::Language;

/// A note of each text, all in one language.
pub(super) fn snapshot(language: Language, texts: &[&str]) -> Snapshot {
    let texts: Vec<(Language, &str)> = texts.iter().map(|text| (language, *text)).collect();
    snapshot_of_many(&texts)
}

/// A note of each text, each in its language.
pub(super) fn snapshot_of_many(texts: &[(Language, &str)]) -> Snapshot {
    let mut builder = Builder::new(None);
    let mut documents = HashMap::new();
    for ((language, text), number) in texts.iter().zip(0..) {
        let unit = Unit {
            text: (*text).to_owned(),
            context: String::new(),
            kind: Kind::Note,
            speaker: String::new(),
            message: None,
            timestamp_ms: None,
            line: 0,
            last_line: 0,
        };
        let part = Part {
            units: vec![unit],
            line: 0,
            language: *language,
            flows: false,
            hash: 0,
        };
        builder.add(number, &part, None);
        let document = DocumentEntry {
            source: Source::Memory,
            path: path_hash(&number.to_string()),
            timestamp_ms: 0,
            ages: false,
        };
        documents.insert(u32::try_from(number).unwrap(), document);
    }
    let segment = Arc::new(builder.finish().unwrap());
    let owner = |id: i64| u32::try_from(id).ok();
    let mut snapshot = Snapshot::default();
    snapshot.live.push(Live::new(segment, None, owner));
    snapshot.documents = Arc::new(documents);
    snapshot
}
