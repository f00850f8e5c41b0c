use super::*;
use crate::document::{Body, Message};

const NOW_MS: i64 = 1_772_625_600_000;

fn document(path: &str, body: Body) -> Document {
    Document {
        path: path.to_owned(),
        source: Source::Memory,
        stamp: "1".to_owned(),
        modified_ms: NOW_MS,
        day_ms: None,
        topic: String::new(),
        body,
    }
}

/// As many messages as are in several parts, two lines of the transcript each.
fn messages() -> Vec<Message> {
    let message = |number: u32| Message {
        id: format!("m{number}"),
        speaker: ["Ada", "Bob"][number as usize % 2].to_owned(),
        text: format!("This is number {number}."),
        timestamp_ms: NOW_MS + i64::from(number),
        line: 2 * number + 5,
        is_echo: false,
    };
    (0..150).map(message).collect()
}

#[test]
fn put_what_was_put_is_read_with_its_lines_and_who_said_it_when() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(folder.path(), Options::default()).unwrap();
    let text = "# Garden\n\nThe hen is brown\nand lays.\n\n- corn\n- oats\n";
    let note = document("note.md", Body::Text(text.to_owned()));
    let said = document("said.jsonl", Body::Messages(messages()));
    engine.put(&[note, said]).unwrap();
    let passages = engine.passages("said.jsonl").unwrap().unwrap();
    assert_eq!(passages.len(), 150);
    for (passage, message) in passages.iter().zip(messages()) {
        let lines = (passage.line, passage.last_line);
        assert_eq!(lines, (message.line, message.line), "{passage:?}");
        assert_eq!(passage.message.as_deref(), Some(message.id.as_str()));
        assert_eq!(passage.speaker, message.speaker);
        assert_eq!(passage.timestamp_ms, Some(message.timestamp_ms));
        assert_eq!(passage.text, message.text);
    }
    let passages = engine.passages("note.md").unwrap().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for passage in &passages {
        let range = passage.line as usize - 1..passage.last_line as usize;
        let there = lines[range].join("\n");
        assert_eq!(there.trim(), passage.text.trim(), "{passage:?}");
    }
    assert!(passages.iter().any(|it| (it.line, it.last_line) == (3, 4)));
    assert!(passages.iter().any(|it| (it.line, it.last_line) == (7, 7)));
}
