//! Appending, and what a crash leaves.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use openclaw_sessions::transcript::{self, Count, Line, Repair};
use openclaw_sessions::{Error, home, reading};

use crate::{NOW, open, user};

#[test]
fn transcript_new_transcript_has_header_key_and_message_and_is_private() {
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
fn torn_last_line_is_cut_off_wherever_it_was_torn() {
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
fn torn_first_write_leaves_a_new_transcript() {
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
fn corrupt_middle_line_is_skipped_reported_and_left() {
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
fn error_names_operation_and_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file/s.jsonl");
    fs::write(dir.path().join("file"), b"").unwrap();
    let error = transcript::read(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot open {}", path.display()));
    assert!(matches!(error, Error::Io { .. }));
    assert!(!error.is_disk_full());
}

#[test]
fn transcript_that_is_not_there_is_empty_and_one_that_cannot_be_read_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let (none, below) = (dir.path().join("none"), file.join("below"));
    let wanted = || reading::Wanted {
        skip: 0,
        limit: 9,
        all: true,
    };
    assert_eq!(
        reading::page(&none, wanted()).unwrap(),
        reading::Page::default()
    );
    reading::page(&below, wanted()).unwrap_err();
    assert_eq!(transcript::of_run(&none, "run-1").unwrap(), []);
    transcript::of_run(&below, "run-1").unwrap_err();
    assert_eq!(transcript::since(&none, 0).unwrap(), []);
    transcript::since(&below, 0).unwrap_err();
    let count = transcript::Count::default();
    assert_eq!(transcript::count(&none, count).unwrap(), count);
    transcript::count(&below, count).unwrap_err();
    assert!(matches!(
        transcript::cut_back(&none, 0, 1),
        Ok(transcript::CutBack::Gone)
    ));
    transcript::cut_back(&below, 0, 1).unwrap_err();
    assert_eq!(home::Document::read(&none).unwrap(), None);
    home::Document::read(&below).unwrap_err();
    let mut view = home::View::new(none);
    view.forget().unwrap();
    let mut view = home::View::new(below);
    view.forget().unwrap_err();
}

#[test]
fn entries_of_a_run_are_its_own_from_its_message_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    let asked = |run: &str, text: &str| {
        transcript::Message::User(transcript::UserMessage::of_run(run, text, NOW))
    };
    let messages = [
        asked("run-1", "before"),
        asked("run-2", "of run-1"),
        asked("run-1", "first"),
    ];
    transcript.append(messages, NOW).unwrap();
    let texts = |run: &str| {
        let entries = transcript::of_run(&path, run).unwrap().into_iter();
        let texts = entries.map(|entry| match entry.message {
            transcript::Message::User(user) => user.content.to_text(),
            other => panic!("{other:?}"),
        });
        texts.collect::<Vec<_>>()
    };
    assert_eq!(texts("run-1"), ["first"]);
    assert_eq!(texts("run-2"), ["of run-1"]);
    assert_eq!(texts("run"), [""; 0]);
}

#[test]
fn pages_of_a_transcript_follow_each_other_from_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let mut transcript = open(&path).transcript;
    for number in 0..5 {
        transcript.append([user(&number.to_string())], NOW).unwrap();
    }
    let page = |skip: usize, limit: usize| {
        let wanted = reading::Wanted {
            skip,
            limit,
            all: false,
        };
        let page = reading::page(&path, wanted).unwrap();
        let texts = page.entries.iter().map(|entry| match entry {
            reading::Paged::Message(entry) => match &entry.message {
                transcript::Message::User(user) => user.content.to_text(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
        (texts.collect::<Vec<_>>().concat(), page.has_more)
    };
    for (skip, limit, texts, has_more) in [
        (0, 2, "34", true),
        (2, 2, "12", true),
        (4, 2, "0", false),
        (0, 4, "1234", true),
        (0, 5, "01234", false),
        (0, 0, "", true),
        (5, 2, "", false),
        (1, 4, "0123", false),
    ] {
        assert_eq!(
            page(skip, limit),
            (texts.to_owned(), has_more),
            "{skip} {limit}"
        );
    }
}

#[test]
fn transcripts_are_made_durable_however_many_there_are() {
    let dir = tempfile::tempdir().unwrap();
    for count in [0, 1, 2, 40] {
        let mut all: Vec<transcript::Transcript> = (0..count)
            .map(|number| open(&dir.path().join(format!("{count}-{number}.jsonl"))).transcript)
            .collect();
        let done = transcript::sync_all(all.iter_mut().collect());
        assert!(
            done.len() == count && done.iter().all(Result::is_ok),
            "{count}"
        );
    }
}
