//! What a crash leaves of a spool, and what is written after it.

use std::fs;

use openclaw_proto::event::Done;

use super::*;
use crate::fuzz::{assert_grows, folder, number};

/// Any bytes in place of a spool. Whenever they are looked at they say the same;
/// a line without its end says nothing; `seq` grows; and what is written after
/// them is read.
pub fn spool(bytes: &[u8]) {
    let folder = folder();
    let path = path(folder.path(), "r");
    let (cut, bytes) = number(bytes);
    let whole = Said::of(&path, [bytes, b""]);
    assert_grows(&whole.events);
    let (first, second) = bytes.split_at(cut % (bytes.len() + 1));
    assert_eq!(Said::of(&path, [first, second]), whole);
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let ended = &bytes[..end.map_or(0, |end| end + 1)];
    assert_eq!(Said::of(&path, [ended, b""]), whole);
    fs::write(&path, bytes).expect("write");
    close(&path, &whole);
    written(&folder.path().join("other.events"), bytes);
}

/// All that a reader has to say.
#[derive(Debug, PartialEq)]
struct Said {
    header: Option<Header>,
    begun: bool,
    reports: Vec<Report>,
    events: Vec<Event>,
}

impl Said {
    /// What is read after each of `pieces` was written.
    fn of(path: &Path, pieces: [&[u8]; 2]) -> Self {
        fs::write(path, b"").expect("write");
        let mut file = OpenOptions::new().append(true).open(path).expect("open");
        let mut reader = Reader::open(path).expect("open");
        let mut events = Vec::new();
        for piece in pieces {
            file.write_all(piece).expect("write");
            events.extend(reader.news().expect("read"));
        }
        Self {
            header: reader.header().cloned(),
            begun: reader.has_begun(),
            reports: reader.reports(),
            events,
        }
    }
}

/// Closes a spool whose process is gone, as the daemon does.
fn close(path: &Path, before: &Said) {
    let mut reader = Reader::open(path).expect("open");
    assert_eq!(reader.news().expect("read"), before.events);
    reader.repair(path).expect("repair");
    let seq = before.events.last().map_or(0, |event| event.seq);
    let spool = Spool::take_over(path, "r", seq).expect("take over");
    let spool = spool.expect("nobody writes it");
    let done = Kind::Done(Done::default());
    spool.end(Resources::default, done).expect("write");
    spool
        .push(Kind::Note {
            text: String::new(),
        })
        .expect("write");
    drop(spool);
    let events = Reader::open(path).and_then(|mut reader| reader.news());
    let events = events.expect("read");
    // A spool without its first line is forgotten and not closed.
    if before.header.is_some() && seq + 2 < EVENTS {
        assert_grows(&events);
        assert_eq!(events.len(), before.events.len() + 2);
        assert!(events.last().is_some_and(|event| event.kind.is_terminal()));
    }
}

/// What is written is what is read, and no more when a crash tears a line.
fn written(path: &Path, bytes: &[u8]) {
    let header = Header {
        run_id: String::from_utf8_lossy(bytes).into_owned(),
        agent_id: "main".to_owned(),
        pid: 1,
        unit: String::new(),
        memory_max: 0,
        own_limits: Vec::new(),
    };
    let spool = Spool::create(path, &header).expect("create");
    spool.begin().expect("begin");
    let pieces = bytes.split(|byte| *byte == b',');
    let kinds: Vec<Kind> = pieces
        .map(|piece| Kind::TextDelta {
            text: String::from_utf8_lossy(piece).into_owned(),
        })
        .collect();
    for kind in kinds.clone() {
        spool.push(kind).expect("write");
    }
    drop(spool);
    let torn: Vec<u8> = bytes
        .iter()
        .copied()
        .filter(|byte| *byte != b'\n')
        .collect();
    let mut file = OpenOptions::new().append(true).open(path).expect("open");
    file.write_all(&torn).expect("write");
    let mut reader = Reader::open(path).expect("open");
    let events = reader.news().expect("read");
    assert_eq!(reader.header(), Some(&header));
    assert!(reader.has_begun() && reader.reports().is_empty());
    assert!(
        events
            .iter()
            .map(|event| event.seq)
            .eq(1..=kinds.len() as u64)
    );
    assert!(events.into_iter().map(|event| event.kind).eq(kinds));
}
