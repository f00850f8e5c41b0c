//! Responses.

use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// The id in the answer to a frame that had none.
pub const NO_ID: &str = "invalid";

#[derive(Serialize)]
struct Frame<'a> {
    r#type: &'static str,
    id: &'a str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
}

/// The response to the request `id`, as text.
pub fn text(id: &str, result: Result<&Value, &Failure>) -> String {
    encode(id, result.ok(), result.err())
}

/// A failure that has a payload too: the second answer to `agent`.
pub fn failed_with_payload(id: &str, payload: &Value, failure: &Failure) -> String {
    encode(id, Some(payload), Some(failure))
}

fn encode(id: &str, payload: Option<&Value>, error: Option<&Failure>) -> String {
    let frame = Frame {
        r#type: "res",
        id,
        ok: error.is_none(),
        payload,
        error,
    };
    // Strings, numbers and maps with text keys always serialise.
    serde_json::to_string(&frame).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn response_has_a_payload_or_an_error() {
        assert_eq!(
            text("1", Ok(&json!({"ok": true}))),
            r#"{"type":"res","id":"1","ok":true,"payload":{"ok":true}}"#
        );
        assert_eq!(
            text("1", Err(&Failure::unknown_method("x"))),
            r#"{"type":"res","id":"1","ok":false,"error":{"code":"INVALID_REQUEST","message":"unknown method: x"}}"#
        );
    }
}
