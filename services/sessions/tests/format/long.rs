//! Lines that are longer than any entry.

use std::collections::HashSet;
use std::fs;
use std::time::Instant;

use openclaw_sessions::history::{self, Tail};
use openclaw_sessions::reading;
use openclaw_sessions::transcript::{
    self, AssistantMessage, Block, CORRUPT_LIMIT, Content, LINE_LIMIT, Message, UserMessage,
    aside_path, keep_aside,
};

use crate::{NOW, open, user};

/// A line of `length` bytes with its end, and no entry.
fn rubbish(length: usize) -> Vec<u8> {
    let mut line = vec![b'x'; length];
    line[length - 1] = b'\n';
    line
}

#[test]
fn line_that_is_too_long_is_passed_over_and_what_is_around_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    open(&path)
        .transcript
        .append([user("before")], NOW)
        .unwrap();
    let before = fs::read(&path).unwrap();
    for more in [0, 1] {
        let long = rubbish(LINE_LIMIT + more);
        fs::write(&path, [&before[..], &long].concat()).unwrap();
        open(&path).transcript.append([user("after")], NOW).unwrap();

        let read = transcript::read(&path).unwrap();
        assert_eq!(read.lines.len(), 4, "header, key and two messages");
        let [corrupt] = &read.corrupt[..] else {
            panic!("{:?}", read.corrupt);
        };
        assert_eq!((corrupt.number, corrupt.offset), (4, before.len() as u64));
        assert_eq!(corrupt.reason.contains("longer than"), more > 0);

        let wanted = reading::Wanted {
            skip: 0,
            limit: 9,
            all: true,
        };
        let page = reading::page(&path, wanted).unwrap();
        assert_eq!(page.entries.len(), 2);
        assert_eq!(page.corrupt.len(), 1);
        let history = history::load(&path, 1000, &HashSet::new()).unwrap();
        assert_eq!(history.messages.len(), 2);
        assert_eq!(history.corrupt.len(), 1);
    }
}

#[test]
fn line_that_is_too_long_and_has_no_end_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    open(&path).transcript.append([user("one")], NOW).unwrap();
    let none = HashSet::new();
    let kept = Tail::read(&path, 1000, &none).unwrap();
    let whole = fs::read(&path).unwrap();
    for length in [LINE_LIMIT - 1, LINE_LIMIT] {
        let unended = &rubbish(length + 1)[..length];
        fs::write(&path, [&whole[..], unended].concat()).unwrap();
        let read = transcript::read(&path).unwrap();
        assert_eq!((read.lines.len(), read.corrupt.len()), (3, 0));
        let caught_up = kept.clone().caught_up(&path).unwrap();
        assert_eq!(caught_up.is_some(), length < LINE_LIMIT, "{length}");
    }
}

#[test]
fn entry_that_would_be_too_long_is_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    transcript.append([user("")], NOW).unwrap();
    let before = fs::read(&path).unwrap();
    transcript.append([user("")], NOW).unwrap();
    let empty = transcript.length() as usize - before.len();
    let whole = fs::read(&path).unwrap();
    let longest = "x".repeat(LINE_LIMIT - empty);
    let error = transcript.append([user("short"), user(&format!("{longest}x"))], NOW);
    let error = error.unwrap_err().to_string();
    assert!(error.contains(&(LINE_LIMIT + 1).to_string()), "{error}");
    assert_eq!(fs::read(&path).unwrap(), whole);
    transcript.append([user(&longest)], NOW).unwrap();
    let length = fs::metadata(&path).unwrap().len() as usize;
    assert_eq!(length, whole.len() + LINE_LIMIT);
}

#[test]
fn corrupt_lines_are_copied_beside_the_transcript_whatever_their_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let lines = [rubbish(5), rubbish(70_000), rubbish(3)].concat();
    fs::write(&path, &lines).unwrap();
    let read = transcript::read(&path).unwrap();
    let offsets: Vec<u64> = read.corrupt.iter().map(|line| line.offset).collect();
    assert_eq!(offsets, [0, 5, 70_005]);
    assert_eq!(keep_aside(&path, &offsets).unwrap(), 3);
    assert_eq!(fs::read(aside_path(&path)).unwrap(), lines);
    fs::write(&path, rubbish(2).repeat(CORRUPT_LIMIT + 5)).unwrap();
    let history = history::load(&path, 1000, &HashSet::new()).unwrap();
    assert_eq!(history.corrupt.len(), CORRUPT_LIMIT);
}

/// A tool that was given a megabyte is read and counted once, and not with every later message.
#[test]
fn large_arguments_are_counted_when_they_are_read() {
    let given = serde_json::json!({ "content": "fn main() {}\n".repeat(80_000) });
    let mut call = Message::Assistant(AssistantMessage {
        content: Content::Blocks(vec![Block::tool_call("c", "write_file", given)]),
        ..AssistantMessage::default()
    });
    call.set_run_id("1");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let said = vec![
        Message::User(UserMessage::of_run("1", "write it", NOW)),
        call,
    ];
    open(&path).transcript.append(said, NOW).unwrap();
    let nobody = HashSet::new();
    let begun = Instant::now();
    let tail = Tail::read(&path, 1 << 20, &nobody).unwrap();
    let read = begun.elapsed();
    let begun = Instant::now();
    for _ in 0..10 {
        let history = tail.history(1 << 20, &nobody).unwrap();
        assert_eq!(history.messages.len(), 2);
    }
    let told = begun.elapsed();
    assert!(told < read, "10 times in {told:?}, read in {read:?}");
    // One that does not fit is left out, and its question is told.
    let history = tail.history(1000, &nobody).unwrap();
    assert_eq!(history.messages.len(), 1);
}
