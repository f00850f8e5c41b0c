//! One line of a transcript: the texts of its JSON, as they stand in it.

use std::ops::Range;

use crate::words::Words;

/// Values of these are what an entry is, not what was said.
const STRUCTURE: [&str; 25] = [
    "type",
    "role",
    "id",
    "parentId",
    "timestamp",
    "version",
    "cwd",
    "api",
    "provider",
    "model",
    "modelId",
    "responseId",
    "stopReason",
    "toolCallId",
    "toolName",
    "name",
    "customType",
    "runId",
    "sessionId",
    "sessionKey",
    "firstKeptEntryId",
    "mimeType",
    "textSignature",
    "thinkingSignature",
    "thoughtSignature",
];

/// Below these everything was said by somebody, whatever it is called.
const SAID: [&str; 3] = ["arguments", "input", "details"];

/// In a block the name of a tool, of an entry what somebody called the session.
const NAME: &str = "name";

/// What was signed is not what it was any more: without its signature it is left
/// out of requests.
const SIGNED: &str = "thinking";
const SIGNATURE: &str = "thinkingSignature";

/// A text between its quotes.
#[derive(Debug)]
struct Literal {
    range: Range<usize>,
    /// What it is the value of; empty in a list at the top.
    key: String,
    /// Whether it is below one of [`SAID`], or what the entry itself is called.
    is_said: bool,
}

/// Where the words are in `line`, in bytes. What is no JSON is taken as text.
pub fn found(line: &[u8], words: &Words) -> Vec<Range<usize>> {
    matches(line, words)
        .into_iter()
        .map(|(range, _)| range)
        .collect()
}

/// Puts stars in the place of the words; how often they were there.
pub fn cover(line: &mut [u8], words: &Words) -> usize {
    let found = matches(line, words);
    for (range, _) in &found {
        line[range.clone()].fill(b'*');
    }
    if found.iter().any(|(_, key)| key == SIGNED) {
        for literal in literals(line).iter().filter(|one| one.key == SIGNATURE) {
            line[literal.range.clone()].fill(b' ');
        }
    }
    found.len()
}

/// The characters around `at`, in one line.
pub fn around(line: &[u8], at: &Range<usize>, characters: usize) -> String {
    let mut whole = literals(line).into_iter().map(|one| one.range);
    let inside = |range: &Range<usize>| range.start <= at.start && at.end <= range.end;
    let range = whole.rfind(inside).unwrap_or(0..line.len());
    let text = decoded(line, range);
    let first = text.iter().position(|(_, place)| place.start >= at.start);
    let last = text.iter().rposition(|(_, place)| place.end <= at.end);
    let first = first.unwrap_or(0).saturating_sub(characters);
    let last = (last.unwrap_or(0) + characters + 1).min(text.len());
    let shown = text.get(first..last).unwrap_or_default();
    let shown: String = shown.iter().map(|(c, _)| *c).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn matches(line: &[u8], words: &Words) -> Vec<(Range<usize>, String)> {
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    let texts = if is_json {
        literals(line)
    } else {
        vec![Literal {
            range: 0..line.len(),
            key: String::new(),
            is_said: true,
        }]
    };
    let mut all = Vec::new();
    for text in texts {
        if !text.is_said && STRUCTURE.contains(&text.key.as_str()) {
            continue;
        }
        let decoded = if is_json {
            decoded(line, text.range)
        } else {
            plain(line)
        };
        let characters: Vec<char> = decoded.iter().map(|(c, _)| *c).collect();
        for range in words.find(&characters) {
            let bytes = decoded[range.start].1.start..decoded[range.end - 1].1.end;
            all.push((bytes, text.key.clone()));
        }
    }
    all
}

/// An object or a list that is not closed yet.
struct Open {
    is_object: bool,
    /// The next text in it is a key.
    wants_key: bool,
    key: String,
    is_said: bool,
}

/// The texts that are values in a valid JSON document.
fn literals(line: &[u8]) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => {
                let (key, was_said) = open
                    .last()
                    .map_or((String::new(), false), |one| (one.key.clone(), one.is_said));
                let is_said = was_said || SAID.contains(&key.as_str());
                let is_object = line[at] == b'{';
                open.push(Open {
                    is_object,
                    wants_key: is_object,
                    key: if is_object { String::new() } else { key },
                    is_said,
                });
            }
            b'}' | b']' => drop(open.pop()),
            b',' => {
                if let Some(top) = open.last_mut() {
                    top.wants_key = top.is_object;
                }
            }
            b'"' => {
                let range = at + 1..end_of_text(line, at + 1);
                at = range.end;
                let depth = open.len();
                match open.last_mut() {
                    Some(top) if top.wants_key => {
                        top.wants_key = false;
                        top.key = decoded(line, range).into_iter().map(|(c, _)| c).collect();
                    }
                    Some(top) => {
                        let is_title = depth == 1 && top.key == NAME;
                        found.push(Literal {
                            range,
                            key: top.key.clone(),
                            is_said: top.is_said || is_title,
                        });
                    }
                    None => found.push(Literal {
                        range,
                        key: String::new(),
                        is_said: true,
                    }),
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Where the quote is that ends the text which begins at `at`.
fn end_of_text(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && line[at] != b'"' {
        at += if line[at] == b'\\' { 2 } else { 1 };
    }
    at.min(line.len())
}

/// The characters of a text with the bytes that each stands in.
fn decoded(line: &[u8], range: Range<usize>) -> Vec<(char, Range<usize>)> {
    let mut characters = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let (c, length) = match line[at] {
            b'\\' => escaped(&line[at..range.end]),
            _ => first(&line[at..range.end]),
        };
        characters.push((c, at..(at + length).min(range.end)));
        at += length;
    }
    characters
}

fn plain(line: &[u8]) -> Vec<(char, Range<usize>)> {
    let mut characters = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let (c, length) = first(&line[at..]);
        characters.push((c, at..at + length));
        at += length;
    }
    characters
}

/// The first character and its length; a byte that is none stands for itself.
fn first(bytes: &[u8]) -> (char, usize) {
    let end = bytes.len().min(4);
    let text = match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let c = text.chars().next();
    c.map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, c.len_utf8()))
}

/// What an escape means (RFC 8259 §7), and its length.
fn escaped(bytes: &[u8]) -> (char, usize) {
    let simple = |c| (c, 2);
    match bytes.get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'u') => {
            let high = unit(bytes);
            let low = bytes
                .get(6..)
                .filter(|rest| rest.starts_with(b"\\u"))
                .map(unit);
            let both = low.map(|low| [high, low]);
            let pair = both.and_then(|units| char::decode_utf16(units).next()?.ok());
            match (char::from_u32(high.into()), pair) {
                (Some(c), _) => (c, 6),
                (None, Some(c)) => (c, 12),
                (None, None) => (char::REPLACEMENT_CHARACTER, 6),
            }
        }
        Some(other) => simple(char::from(*other)),
        None => (char::REPLACEMENT_CHARACTER, 1),
    }
}

/// The four digits of `\uXXXX`.
fn unit(bytes: &[u8]) -> u16 {
    let digits = bytes
        .get(2..6)
        .and_then(|digits| std::str::from_utf8(digits).ok());
    let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    unit.unwrap_or(0xfffd)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn covered(line: &str, words: &str) -> (String, usize) {
        let mut bytes = line.as_bytes().to_vec();
        let count = cover(&mut bytes, &Words::new(words).unwrap());
        (String::from_utf8(bytes).unwrap(), count)
    }

    #[test]
    fn line_keeps_what_an_entry_is() {
        let line = r#"{"type":"message","id":"user","message":{"role":"user","content":[{"type":"text","text":"the user said user"}]}}"#;
        let (after, count) = covered(line, "user");
        assert_eq!(count, 2);
        assert_eq!(
            after,
            line.replace("the user said user", "the **** said ****")
        );
    }

    #[test]
    fn line_of_a_tool_call_is_covered_whatever_its_arguments_are_called() {
        let line = r#"{"content":[{"type":"toolCall","name":"write","arguments":{"name":"Ann Example","rows":[{"id":"Ann Example"}]}}]}"#;
        let (after, count) = covered(line, "ann example");
        assert_eq!(count, 2);
        assert!(!after.contains("Ann"), "{after}");
        assert!(after.contains(r#""name":"write""#), "{after}");
    }

    #[test]
    fn line_that_names_the_session_is_covered() {
        let line = r#"{"type":"session_info","id":"a","name":"the blue talk"}"#;
        assert_eq!(
            covered(line, "blue talk").0,
            line.replace("blue talk", "*********")
        );
    }

    #[test]
    fn line_with_escapes_is_covered_in_place() {
        let line = r#"{"text":"caf\u00e9\nnoir, \ud83d\ude00 CAFÉ  noir and \"café noir\""}"#;
        let (after, count) = covered(line, "café noir");
        assert_eq!(count, 3);
        assert_eq!(after.len(), line.len());
        let value: Value = serde_json::from_str(&after).unwrap();
        assert!(
            !value["text"]
                .as_str()
                .unwrap()
                .to_lowercase()
                .contains("noir")
        );
        assert!(value["text"].as_str().unwrap().contains('😀'));
    }

    #[test]
    fn line_of_signed_thinking_loses_its_signature() {
        let line = r#"{"content":[{"type":"thinking","thinking":"the secret is 4711","thinkingSignature":"abc"}]}"#;
        let (after, _) = covered(line, "secret");
        assert!(after.contains(r#""thinkingSignature":"   ""#), "{after}");
        let (same, count) = covered(line, "nothing");
        assert_eq!((same.as_str(), count), (line, 0));
    }

    #[test]
    fn line_that_is_no_json_is_text() {
        assert_eq!(
            covered(r#"{"text":"the secr"#, "the secr").0,
            r#"{"text":"********"#
        );
    }

    #[test]
    fn line_is_shown_around_the_words() {
        let line = br#"{"text":"before the blue\nflowerpot after"}"#;
        let at = found(line, &Words::new("blue flowerpot").unwrap());
        assert_eq!(around(line, &at[0], 4), "the blue flowerpot aft");
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            "[a-zé \\\\\"\n😀]{0,12}".prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-z]{1,9}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn line_stays_json_of_the_same_length_without_the_words(value in value(), at in "[a-z]{3}") {
            let line = json!({"said": value, "text": format!("x {at} y")}).to_string();
            let (after, count) = covered(&line, &at);
            prop_assert!(count >= 1);
            prop_assert_eq!(after.len(), line.len());
            prop_assert!(serde_json::from_str::<Value>(&after).is_ok());
            prop_assert!(found(after.as_bytes(), &Words::new(&at).unwrap()).is_empty());
        }
    }
}
