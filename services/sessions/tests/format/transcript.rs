//! Appending, and what a crash leaves.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use openclaw_sessions::Error;
use openclaw_sessions::transcript::{self, Count, Line, Repair};

use crate::{NOW, open, user};

#[test]
fn a_new_transcript_has_header_key_and_message_and_is_private() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agents/main/sessions/s.jsonl");
    let mut transcript = open(&path).transcript;
    assert!(!path.exists(), "opening creates nothing");
    transcript.append(vec![user("hello")], NOW).unwrap();
    assert!(transcript.is_unsynced());
    transcript.sync().unwrap();
    assert!(!transcript.is_unsynced());

    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        text.lines().next().unwrap(),
        r#"{"type":"session","version":3,"id":"33333333-3333-4333-8333-333333333333","timestamp":"2026-11-21T00:00:00.000Z","cwd":"/home/user/.openclaw/workspace"}"#
    );
    assert_eq!(lines[1]["data"]["sessionKey"], "agent:main:main");
    assert_eq!(lines[2]["parentId"], lines[1]["id"]);
    let id = lines[2]["id"].as_str().unwrap();
    let parent = lines[1]["id"].as_str().unwrap();
    assert_eq!(
        text.lines().nth(2).unwrap(),
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-11-21T00:00:00.000Z","message":{{"role":"user","content":"hello","timestamp":1795219200000,"idempotencyKey":"run-1:user"}}}}"#
        )
    );
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&dir.path().join("agents")), 0o700);
}

#[test]
fn a_torn_last_line_is_cut_off_wherever_it_was_torn() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    transcript.append(vec![user("one")], NOW).unwrap();
    let whole = fs::read(&path).unwrap();
    transcript.append(vec![user("two")], NOW).unwrap();
    let both = fs::read(&path).unwrap();
    for end in whole.len() + 1..both.len() - 1 {
        fs::write(&path, &both[..end]).unwrap();
        let opened = open(&path);
        let bytes = (end - whole.len()) as u64;
        assert_eq!(
            opened.repair,
            Some(Repair::TornLine { bytes }),
            "torn at {end}"
        );
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    fs::write(&path, &both[..both.len() - 1]).unwrap();
    assert_eq!(open(&path).repair, Some(Repair::LineEnd));
    assert_eq!(fs::read(&path).unwrap(), both);
    assert_eq!(open(&path).repair, None);
}

#[test]
fn a_torn_first_write_leaves_a_new_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, b"{\"type\":\"session\",\"ver").unwrap();
    let mut transcript = open(&path).transcript;
    transcript.append(vec![user("one")], NOW).unwrap();
    let reading = transcript::read(&path).unwrap();
    assert_eq!(reading.lines.len(), 3);
    assert!(matches!(reading.lines[0], Line::Header(_)));
}

#[test]
fn a_corrupt_middle_line_is_skipped_reported_and_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    transcript.append(vec![user("one")], NOW).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"\xff\xfe\n{\"type\":\"mess\n\n").unwrap();
    let mut transcript = open(&path).transcript;
    transcript.append(vec![user("two")], NOW).unwrap();

    let reading = transcript::read(&path).unwrap();
    assert_eq!(reading.lines.len(), 4);
    let numbers: Vec<_> = reading.corrupt.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [4, 5], "an empty line is nothing to report");
    let Line::Message(second) = &reading.lines[3] else {
        panic!("the second message is lost");
    };
    assert_eq!(second.parent_id.as_deref(), reading.lines[2].id());
}

#[test]
fn counting_goes_on_where_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let none = Count::default();
    assert_eq!(transcript::count(&path, none).unwrap(), none);
    let mut transcript = open(&path).transcript;
    transcript
        .append(vec![user("one"), user("two")], NOW)
        .unwrap();
    let first = transcript::count(&path, none).unwrap();
    assert_eq!(first.messages, 2);
    transcript.append(vec![user("three")], NOW).unwrap();
    assert_eq!(transcript::count(&path, first).unwrap().messages, 3);
    let wrong = Count {
        bytes: 1 << 40,
        messages: 9,
    };
    assert_eq!(transcript::count(&path, wrong).unwrap().messages, 3);
}

#[test]
fn an_error_names_operation_and_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file/s.jsonl");
    fs::write(dir.path().join("file"), b"").unwrap();
    let error = transcript::read(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot open {}", path.display()));
    assert!(matches!(error, Error::Io { .. }));
    assert!(!error.is_disk_full());
}
