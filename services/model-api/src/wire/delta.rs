//! What an event of a stream says of the answer, in any API's words, found without parsing it:
//! most of a stream is such events.

use memchr::memmem;

/// Names that a piece of an answer has: text, thoughts, arguments of calls.
const NAMES: [&str; 10] = [
    "arguments",
    "content",
    "delta",
    "input",
    "partial_json",
    "reasoning",
    "reasoning_content",
    "refusal",
    "text",
    "thinking",
];
/// A piece in which there is nothing yet, or nothing more.
const EMPTY: [&[u8]; 3] = [b"\"content\":null", b"\"delta\":{}", b"\"content\":[]"];

/// How the name of an event ends that says once more what came in pieces (responses API).
const REPEATS: &[u8] = b".done";

/// Bytes of the answer's text in an event. `None`: it is none of those that have some.
pub(super) fn text_bytes(event: &[u8]) -> Option<usize> {
    const KIND: &[u8] = b"{\"type\":\"";
    let kind = event
        .strip_prefix(KIND)
        .map(|rest| &rest[..string_bytes(rest)]);
    if kind.is_some_and(|kind| kind.ends_with(REPEATS)) {
        return Some(0);
    }
    let mut found = EMPTY
        .iter()
        .any(|empty| memmem::find(event, empty).is_some())
        .then_some(0);
    for at in memmem::find_iter(event, b"\":") {
        let name = event[..at].rsplit(|byte| *byte == b'"').next();
        let is_piece = name.is_some_and(|name| NAMES.iter().any(|it| it.as_bytes() == name));
        let value = event[at + 2..].trim_ascii_start();
        if let (true, Some(text)) = (is_piece, value.strip_prefix(b"\"")) {
            *found.get_or_insert(0) += string_bytes(text);
        }
    }
    found
}

/// Up to the end of a string that has begun.
fn string_bytes(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(step) = memchr::memchr2(b'"', b'\\', &text[at..]) {
        at += step;
        if text[at] == b'"' {
            return at;
        }
        // What comes behind a backslash ends nothing.
        at = (at + 2).min(text.len());
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn bytes(event: &Value) -> Option<usize> {
        text_bytes(event.to_string().as_bytes())
    }

    #[test]
    fn delta_counts_the_text_of_every_api() {
        let id = "chatcmpl-".to_owned() + &"x".repeat(200);
        let chat = |delta: Value| {
            json!({"id": id, "object": "chat.completion.chunk", "model": "gpt-5.2",
            "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
        };
        assert_eq!(bytes(&chat(json!({"content": "four"}))), Some(4));
        assert_eq!(
            bytes(&chat(json!({"role": "assistant", "content": null}))),
            Some(0)
        );
        assert_eq!(bytes(&chat(json!({}))), Some(0));
        let call = json!([{"index": 0, "function": {"name": "f", "arguments": "{\"a\":1}"}}]);
        assert_eq!(bytes(&chat(json!({"tool_calls": call}))), Some(9));
        let text = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a\"b"}});
        assert_eq!(bytes(&text), Some(4));
        let response =
            json!({"type": "response.output_text.delta", "item_id": id, "delta": "five!"});
        assert_eq!(bytes(&response), Some(5));
        let again = json!({"type": "response.output_text.done", "item_id": id, "text": "five!"});
        assert_eq!(bytes(&again), Some(0));
        assert_eq!(bytes(&json!({"type": "ping"})), None);
    }

    #[test]
    fn delta_takes_no_name_within_a_text_for_one_outside() {
        let text = "say \"content\":\"more\" again";
        let event = json!({"delta": {"text": text}});
        let whole = serde_json::to_string(text).unwrap().len() - 2;
        assert_eq!(bytes(&event), Some(whole));
        assert_eq!(text_bytes(b"{\"text\":\"cut off \\"), Some(9));
    }
}
