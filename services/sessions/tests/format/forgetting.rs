//! Words that are taken out of conversations.

use std::fs;

use openclaw_sessions::archive::{self, Why};
use openclaw_sessions::forgetting::{self, LIMIT, NotWords, Words};
use openclaw_sessions::transcript::LINE_LIMIT;
use proptest::prelude::*;
use serde_json::{Value, json};

fn words(text: &str) -> Words {
    Words::new(text).unwrap()
}

#[test]
fn words_are_three_letters_to_a_thousand_characters() {
    assert!(Words::new("abc").is_ok() && Words::new("a-b-c").is_ok());
    assert!(Words::new(&"a".repeat(LIMIT)).is_ok());
    assert_eq!(Words::new(&"a".repeat(LIMIT + 1)), Err(NotWords::Long));
    assert_eq!(Words::new("東"), Err(NotWords::Short));
    let told = [NotWords::Short, NotWords::Long].map(|error| error.to_string());
    assert!(told[0].contains("at least 3"), "{}", told[0]);
    assert!(told[1].contains("at most 1000"), "{}", told[1]);
}

#[test]
fn words_are_covered_in_plain_text_byte_for_byte() {
    for (text, looked_for, expected) in [
        ("die Ärzte {", "ärzte", "die ****** {"),
        ("über 東京 {", "東京", "über ****** {"),
        ("an abc", "abc", "an ***"),
        ("a 😀 smile {", "😀 smile", "a ********** {"),
    ] {
        assert_eq!(words(looked_for).cover(text).as_deref(), Some(expected));
        assert_eq!(words(looked_for).count(text), 1);
    }
    assert_eq!(words("abc").cover("nothing"), None);
    assert_eq!(words("abc").count("nothing"), 0);
}

#[test]
fn words_are_covered_behind_every_escape() {
    for (escape, meant) in [
        (r"\n", "\n"),
        (r"\t", "\t"),
        (r"\r", "\r"),
        (r"\b", "\u{8}"),
        (r"\f", "\u{c}"),
        (r"\/", "/"),
        (r"\\", "\\"),
        (r#"\""#, "\""),
        (r"\u00e4", "ä"),
        (r"\u20AC", "€"),
        (r"\ud83d\ude00", "😀"),
    ] {
        let line = format!(r#"{{"text":"before{escape}after, the end"}}"#);
        let looked_for = words(&format!("before{meant}after"));
        assert_eq!(looked_for.count(&line), 1, "{line}");
        let covered = looked_for.cover(&line).unwrap();
        let stars = "*".repeat("before".len() + escape.len() + "after".len());
        assert_eq!(covered, format!(r#"{{"text":"{stars}, the end"}}"#));
        let after = words("the end").cover(&line).unwrap();
        assert_eq!(after, line.replace("the end", "*******"));
    }
}

#[test]
fn forgetting_what_an_entry_is_stays_and_what_was_said_in_a_call_goes() {
    let structure = [
        "type",
        "role",
        "id",
        "parentId",
        "timestamp",
        "cwd",
        "api",
        "provider",
        "model",
        "stopReason",
        "toolCallId",
        "toolName",
        "customType",
        "runId",
        "sessionId",
        "sessionKey",
        "firstKeptEntryId",
        "mimeType",
    ];
    for key in structure {
        let kept = json!({ key: "secret", "list": [{ key: "secret" }] }).to_string();
        assert_eq!(words("secret").cover(&kept), None, "{key}");
        for said in ["arguments", "input", "details"] {
            let gone = json!({ said: { key: ["secret", { key: "secret" }] } }).to_string();
            assert_eq!(words("secret").count(&gone), 2, "{said} {key}");
        }
    }
    // What somebody called the session, and what a tool is called.
    assert_eq!(words("secret").count(r#"{"name":"secret"}"#), 1);
    assert_eq!(
        words("secret").count(r#"{"content":[{"name":"secret"}]}"#),
        0
    );
    assert_eq!(
        words("secret").count(r#"["secret",{"text":"secret"},"secret"]"#),
        3
    );
    assert_eq!(words("secret").count(r#""secret""#), 1);
    // A key is no text, and neither is what follows it in another object.
    assert_eq!(
        words("secret").count(r#"{"secret":{"id":"x"},"text":"secret"}"#),
        1
    );
    assert_eq!(
        words("secret").count(r#"{"id":["a"],"text":["b","secret"]}"#),
        1
    );
}

#[test]
fn places_are_shown_with_forty_characters_on_each_side_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let around = "x".repeat(60);
    let entry = |id: &str, time: Value, text: &str| {
        let message = json!({ "role": "assistant", "content": text });
        json!({ "type": "message", "id": id, "timestamp": time, "message": message })
    };
    let lines = [
        entry("a", json!(7), &format!("{around} secret {around}")),
        entry("b", json!("then"), "a secret and a secret"),
        json!("secret"),
    ];
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let seen = forgetting::look(&path, &words("secret"), 10).unwrap();
    assert_eq!((seen.matches, seen.excerpts.len()), (4, 4));
    let first = &seen.excerpts[0];
    assert_eq!(
        (first.entry_id.as_str(), first.role.as_str(), first.at_ms),
        ("a", "assistant", 7)
    );
    let half = "x".repeat(39);
    assert_eq!(first.text, format!("{half} secret {half}"));
    assert_eq!(seen.excerpts[1].text, "a secret and a secret");
    assert_eq!(seen.excerpts[1].at_ms, 0);
    let last = &seen.excerpts[3];
    assert_eq!(
        (
            last.entry_id.as_str(),
            last.role.as_str(),
            last.text.as_str()
        ),
        ("", "", "secret")
    );
    for (limit, shown) in [(0, 0), (2, 2), (3, 3)] {
        let seen = forgetting::look(&path, &words("secret"), limit).unwrap();
        assert_eq!((seen.matches, seen.excerpts.len()), (4, shown));
    }
    assert_eq!(forgetting::redact(&path, &words("secret")).unwrap(), 4);
    let after = fs::read_to_string(&path).unwrap();
    assert!(!after.contains("secret"));
    assert_eq!(after.lines().count(), 3);
}

#[test]
fn forgetting_what_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    fs::create_dir(folder.path().join("folder.jsonl")).unwrap();
    forgetting::files(&file).unwrap_err();
    assert_eq!(
        forgetting::files(folder.path()).unwrap(),
        [""; 0].map(std::path::PathBuf::from)
    );
    let below = file.join("below.jsonl");
    forgetting::look(&below, &words("secret"), 1).unwrap_err();
    forgetting::redact(&below, &words("secret")).unwrap_err();
    let damaged = folder.path().join("x.zst");
    fs::write(&damaged, b"\x28\xb5\x2f\xfdx").unwrap();
    forgetting::look(&damaged, &words("secret"), 1).unwrap_err();
    forgetting::redact(&damaged, &words("secret")).unwrap_err();
    assert_eq!(fs::read(&damaged).unwrap(), b"\x28\xb5\x2f\xfdx");
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "no temporary file stays"
    );
}

proptest! {
    /// Words are found where they are words of their own, and only there.
    #[test]
    fn words_are_found_as_often_as_they_are_said(
        before in "[a-z]{0,2}",
        count in 0usize..4,
        space in "[ \n\t]{1,3}",
    ) {
        let said = format!("blue{space}Pot ");
        let text = format!("{before}blue pot {}", said.repeat(count));
        let whole = usize::from(before.is_empty());
        prop_assert_eq!(words("BLUE pot").count(&text), count + whole);
        let line = json!({ "text": text }).to_string();
        prop_assert_eq!(words("BLUE pot").count(&line), count + whole);
    }
}

/// A line that is longer than any entry is looked through in pieces of that length.
#[test]
fn words_are_covered_once_where_pieces_of_a_long_line_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let looked_for = words("blue flowerpot");
    let said = "Blue \n Flowerpot".replace('\n', "\t");
    // Around the end of the first piece, and around where the second one takes up again.
    let places = [
        LINE_LIMIT - (1 << 20) - 9,
        LINE_LIMIT - (1 << 20) + 40,
        LINE_LIMIT - 9,
        LINE_LIMIT + 4000,
    ];
    let mut text = b"- ".repeat(LINE_LIMIT / 2 + 4000);
    for place in places {
        text[place..place + said.len()].copy_from_slice(said.as_bytes());
        // A part of longer words is none, wherever the pieces meet.
        text[place + 100..place + 119].copy_from_slice(b"skyblue flowerpots ");
    }
    text.extend_from_slice(b"\nhello\n");
    let mut covered = text.clone();
    for place in places {
        covered[place..place + said.len()].fill(b'*');
    }
    fs::write(&path, &text).unwrap();
    let seen = forgetting::look(&path, &looked_for, 2).unwrap();
    assert_eq!((seen.matches, seen.excerpts.len()), (4, 2));
    assert!(
        seen.excerpts[0].text.contains("Blue Flowerpot -"),
        "{}",
        seen.excerpts[0].text
    );
    assert_eq!(forgetting::redact(&path, &looked_for).unwrap(), 4);
    assert!(fs::read(&path).unwrap() == covered, "covered in place");

    fs::write(&path, &text).unwrap();
    let archive = archive::put_away(&path, Why::Reset, 1).unwrap().unwrap();
    assert_eq!(
        forgetting::look(&archive, &looked_for, 0).unwrap().matches,
        4
    );
    assert_eq!(forgetting::redact(&archive, &looked_for).unwrap(), 4);
    archive::unpack(&archive, &path, 1 << 30).unwrap();
    assert!(fs::read(&path).unwrap() == covered, "packed again");
}
