//! Entries that are no messages, counting, and times.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use openclaw_sessions::transcript::{self, Compaction, Count, Draft, Marker, Repair};
use openclaw_sessions::{iso_time, now_ms, unix_ms};
use serde_json::{Value, json};

use crate::{NOW, open, user};

#[test]
fn marks_are_written_in_openclaws_form() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let compaction = |details: Option<Value>| {
        Marker::Compaction(Compaction {
            summary: "short".to_owned(),
            first_kept_entry_id: "k".to_owned(),
            tokens_before: 7,
            details,
        })
    };
    let cases = [
        (
            Marker::Reset {
                reason: "daily".to_owned(),
            },
            json!({ "type": "reset", "reason": "daily" }),
        ),
        (
            compaction(None),
            json!({ "type": "compaction", "summary": "short", "firstKeptEntryId": "k", "tokensBefore": 7 }),
        ),
        (
            compaction(Some(json!([1]))),
            json!({ "type": "compaction", "summary": "short", "firstKeptEntryId": "k", "tokensBefore": 7, "details": [1] }),
        ),
        (
            Marker::ModelChange {
                provider: "p".to_owned(),
                model_id: "m".to_owned(),
            },
            json!({ "type": "model_change", "provider": "p", "modelId": "m" }),
        ),
        (
            Marker::ThinkingLevelChange {
                thinking_level: "low".to_owned(),
            },
            json!({ "type": "thinking_level_change", "thinkingLevel": "low" }),
        ),
        (
            Marker::SessionInfo {
                name: "Trip".to_owned(),
            },
            json!({ "type": "session_info", "name": "Trip" }),
        ),
        (
            Marker::Custom {
                custom_type: "x".to_owned(),
                data: json!({ "a": 1 }),
            },
            json!({ "type": "custom", "customType": "x", "data": { "a": 1 } }),
        ),
    ];
    let mut transcript = open(&path).transcript;
    let drafts = cases.iter().map(|(marker, _)| Draft::from(marker.clone()));
    let ids = transcript.append(drafts, NOW).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut parent = lines[1]["id"].clone();
    for ((line, (_, expected)), id) in lines[2..].iter().zip(&cases).zip(&ids) {
        let mut expected = expected.clone();
        expected["id"] = json!(id);
        expected["parentId"] = parent;
        expected["timestamp"] = json!("2026-11-21T00:00:00.000Z");
        assert_eq!(*line, expected);
        parent = json!(id);
    }
    assert_eq!(ids.len(), cases.len());
}

#[test]
fn messages_alone_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let message = |role: &str| json!({ "type": "message", "id": "a", "message": { "role": role } });
    let lines = [
        json!({ "type": "session", "id": "s" }).to_string(),
        message("user").to_string(),
        message("assistant").to_string(),
        message("toolResult").to_string(),
        message("bashExecution").to_string(),
        json!({ "type": "message", "message": { "role": "user" } }).to_string(),
        json!({ "type": "message", "id": "a" }).to_string(),
        json!({ "type": "custom", "id": "a", "message": { "role": "user" } }).to_string(),
        r#"{"id":"a","type":"message","message":{"role":"user"}}"#.to_owned(),
        r#"{ "type": "message", "id": "a", "message": {"role": "user"} }"#.to_owned(),
        r#"{ "type": "custom", "id": "a", "message": {"role": "user"} }"#.to_owned(),
        "rubbish".to_owned(),
        String::new(),
    ];
    let text = format!("{}\n", lines.join("\n"));
    fs::write(&path, format!("{text}{}", message("user"))).unwrap();
    let count = transcript::count(&path, Count::default()).unwrap();
    assert_eq!(
        (count.messages, count.bytes),
        (5, text.len() as u64),
        "but the unfinished"
    );
    let again = transcript::count(&path, count).unwrap();
    assert_eq!(again, count);
    let known = Count {
        bytes: fs::metadata(&path).unwrap().len(),
        messages: 99,
    };
    assert_eq!(
        transcript::count(&path, known).unwrap(),
        known,
        "nothing is new"
    );
}

#[test]
fn corrupt_line_is_told_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, b"{\"type\":\"message\"\n\xff\n{\"x\":1}\n").unwrap();
    let read = transcript::read(&path).unwrap();
    let reasons: Vec<&str> = read
        .corrupt
        .iter()
        .map(|line| line.reason.as_str())
        .collect();
    for (reason, part) in
        reasons
            .iter()
            .zip(["line 1 column", "invalid utf-8", "missing field `type`"])
    {
        assert!(
            reason.starts_with("the line is") && reason.contains(part),
            "{reason}"
        );
    }
    assert_eq!(reasons.len(), 3);
}

#[test]
fn transcript_goes_on_after_its_last_named_entry() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"","cwd":""}"#;
    let parent = |before: &str| {
        fs::write(&path, format!("{header}\n{before}")).unwrap();
        let mut opened = open(&path);
        opened.transcript.append([user("hi")], NOW).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        (last["parentId"].as_str().map(str::to_owned), opened.repair)
    };
    let named = r#"{"type":"custom","id":"a"}"#;
    let nameless = r#"{"type":"custom"}"#;
    let id = Some("a".to_owned());
    assert_eq!(parent(""), (None, None));
    assert_eq!(
        parent(&format!("{named}\n{nameless}\nrubbish\n")),
        (id.clone(), None)
    );
    assert_eq!(parent(&format!("{nameless}\n")), (None, None));
    assert_eq!(parent(named), (id.clone(), Some(Repair::LineEnd)));
    let torn = Repair::TornLine { bytes: 7 };
    assert_eq!(parent(&format!("{named}\n{{\"type\"")), (id, Some(torn)));
    // Longer than what is read at once.
    let long = "x".repeat(9000);
    let torn = Repair::TornLine { bytes: 9000 };
    assert_eq!(parent(&format!("{named}\n{long}")).1, Some(torn));
}

#[test]
fn times_are_those_of_the_clock_and_of_the_calendar() {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_millis() as i64;
    assert!((now_ms() - since).abs() < 60_000);
    assert_eq!(iso_time(i64::MAX), "1970-01-01T00:00:00.000Z");
    assert_eq!(unix_ms("soon"), None);
    assert_eq!(unix_ms("2026-11-21T01:00:00+01:00"), Some(NOW));
}
