use openclaw_sessions::AgentId;

use super::*;

struct Newest {
    entries: Vec<Entry>,
    total: u64,
    has_more: bool,
}

impl Newest {
    fn page(&self) -> Page<'_> {
        Page {
            entries: &self.entries,
            total: self.total,
            has_more: self.has_more,
        }
    }
}

/// The newest of `total` messages, named by their places: those from `first` on.
fn newest(first: u64, total: u64) -> Newest {
    let entry = |seq: u64| -> Entry {
        let message = json!({"role": "user", "content": "hello", "timestamp": 1,
            "idempotencyKey": format!("run-{seq}:user")});
        serde_json::from_value(json!({"id": format!("id-{seq}"), "message": message})).unwrap()
    };
    Newest {
        entries: (first..=total).map(entry).collect(),
        total,
        has_more: first > 1,
    }
}

fn after(newest: &Newest, waiting: &[&str]) -> Option<Cursor> {
    let key = SessionKey::main(&AgentId::main());
    let waiting: Vec<String> = waiting.iter().map(|run| (*run).to_owned()).collect();
    Cursor::after((&key, "session"), newest.page(), &waiting)
}

fn missed(cursor: &Cursor, newest: Newest) -> Option<Vec<String>> {
    let told = cursor.told(newest.page())?;
    let missed = newest.entries.into_iter().skip(told);
    Some(missed.map(|entry| entry.id).collect())
}

#[test]
fn cursor_tells_what_came_since() {
    let cursor = after(&newest(3, 5), &[]).unwrap();
    assert_eq!((cursor.last_seq, cursor.generation.as_str()), (5, "id-5"));
    assert_eq!(missed(&cursor, newest(1, 5)), Some(vec![]));
    let two = vec!["id-6".to_owned(), "id-7".to_owned()];
    assert_eq!(missed(&cursor, newest(4, 7)), Some(two.clone()));
    assert_eq!(missed(&cursor, newest(5, 7)), Some(two));
    let of_none = after(&newest(1, 0), &[]).unwrap();
    assert_eq!(
        missed(&of_none, newest(1, 1)),
        Some(vec!["id-1".to_owned()])
    );
}

#[test]
fn cursor_begins_before_a_message_that_waits() {
    let cursor = after(&newest(3, 6), &["run-5"]).unwrap();
    assert_eq!((cursor.last_seq, cursor.generation.as_str()), (4, "id-4"));
    let first = after(&newest(1, 2), &["run-1"]).unwrap();
    assert_eq!((first.last_seq, first.generation.as_str()), (0, ""));
    // What stands before the page is not known.
    assert_eq!(after(&newest(3, 4), &["run-3"]), None);
}

#[test]
fn cursor_of_what_did_not_simply_go_on_is_none_to_go_on_with() {
    let cursor = after(&newest(1, 5), &[]).unwrap();
    assert_eq!(missed(&cursor, newest(1, 4)), None, "taken back");
    assert_eq!(missed(&cursor, newest(6, 7)), None, "begun anew");
    let other = Cursor {
        generation: "id-4".to_owned(),
        ..cursor
    };
    assert_eq!(missed(&other, newest(1, 7)), None, "another message");
    let begun = after(&newest(1, 0), &[]).unwrap();
    let most = MESSAGES as u64;
    assert_eq!(
        missed(&begun, newest(1, most)).map(|it| it.len()),
        Some(MESSAGES)
    );
    assert_eq!(missed(&begun, newest(1, most + 1)), None, "too many");
    assert_eq!(missed(&begun, newest(2, 2)), None, "more than is known");
}

#[test]
fn cursor_is_read_as_it_was_written() {
    let cursor = after(&newest(1, 2), &[]).unwrap();
    assert_eq!(Cursor::read(&cursor.write()), Some(cursor));
    let other =
        json!({"agentId": "main", "generation": "", "lastSeq": 0, "sessionId": "s", "version": 2});
    for text in [
        "",
        "before-3",
        "eyJ2IjoxfQ",
        &URL_SAFE_NO_PAD.encode(other.to_string()),
    ] {
        assert_eq!(Cursor::read(text), None, "{text}");
    }
}

#[test]
fn cursor_is_of_one_conversation() {
    let key = SessionKey::main(&AgentId::main());
    let cursor = after(&newest(1, 2), &[]).unwrap();
    assert!(cursor.is_of(&key, "session") && !cursor.is_of(&key, "other"));
    let other = SessionKey::parse("agent:ops:main", &AgentId::main()).unwrap();
    assert!(!cursor.is_of(&other, "session"));
}
