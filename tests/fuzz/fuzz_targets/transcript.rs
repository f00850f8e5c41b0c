//! The transcript readers: any bytes are read, counted, continued and put away;
//! what was appended is always read back.
#![no_main]

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use openclaw_sessions::archive::{self, Why};
use openclaw_sessions::discovery::{Digest, Matched};
use openclaw_sessions::history;
use openclaw_sessions::home;
use openclaw_sessions::reading::{self, Paged, Wanted};
use openclaw_sessions::transcript::{
    self, Count, Draft, Line, Marker, Message, Origin, Transcript, UserMessage,
};
use openclaw_sessions::{AgentId, SessionKey};

thread_local! {
    // In memory where there is such a folder: a sync is not what is tested.
    static FOLDER: tempfile::TempDir = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .expect("a temporary folder");
}

fuzz_target!(|bytes: &[u8]| {
    let folder = FOLDER.with(|folder| folder.path().to_owned());
    let path = folder.join("s.jsonl");
    fs::write(&path, bytes).expect("write the input");
    read(&path);
    append(&path);
    let archive = archive::put_away(&path, Why::Deleted, 0)
        .expect("put away")
        .expect("an archive");
    let back = folder.join("back.jsonl");
    archive::unpack(&archive, &back, u64::MAX - 1).expect("unpack");
    fs::remove_file(archive).expect("remove");
    fs::remove_file(back).expect("remove");
});

fn read(path: &PathBuf) {
    let reading = transcript::read(path).expect("read");
    for line in &reading.lines {
        // Written once, a name that a block has twice is there once (RFC 8259 §4 lets
        // readers choose), and what was not understood for it may be understood.
        let written = rewritten(line);
        assert_eq!(rewritten(&written), written);
        if let Line::Message(entry) = line {
            reading::items(&entry.message);
        }
    }
    let count = transcript::count(path, Count::default()).expect("count");
    assert!(count.bytes <= fs::metadata(path).expect("metadata").len());
    assert_eq!(transcript::count(path, count).expect("count on"), count);
    let waiting = HashSet::from(["r".to_owned()]);
    for tokens in [0, 10, 100_000] {
        history::load(path, tokens, &waiting).expect("load");
    }
    let page = Wanted {
        skip: 1,
        limit: 3,
        all: true,
    };
    let page = reading::page(path, page).expect("page");
    let messages = page
        .entries
        .iter()
        .filter(|entry| matches!(entry, Paged::Message(_)));
    assert!(messages.count() <= 3);
    transcript::of_run(path, "r").expect("the entries of a run");
    home::exchanges(path, |_| false).expect("exchanges");
    Digest::of("main", path, Matched::Cwd).expect("digest");
}

/// The line as it is read after it was written.
fn rewritten(line: &Line) -> Line {
    let mut written = Vec::new();
    line.encode(&mut written).expect("encode");
    written.pop();
    Line::parse(&written).expect("what was written is read")
}

fn append(path: &PathBuf) {
    let origin = Origin {
        session_id: "s".to_owned(),
        key: SessionKey::main(&AgentId::main()),
        cwd: PathBuf::from("/w"),
    };
    let mut transcript = Transcript::open(path, origin).expect("open").transcript;
    let reset = Draft::from(Marker::Reset {
        reason: "new".to_owned(),
    });
    let message = Message::User(UserMessage::of_run("r", "x", 1));
    let ids = transcript
        .append([reset, message.into()], 1)
        .expect("append");
    let reading = transcript::read(path).expect("read");
    assert_eq!(
        reading.lines.last().and_then(Line::id),
        Some(ids[1].as_str())
    );
    let history = history::load(path, 1000, &HashSet::new()).expect("load");
    assert_eq!(history.messages.len(), 1);
    assert_eq!(transcript::of_run(path, "r").expect("of run").len(), 1);
}
