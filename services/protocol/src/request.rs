//! Requests, as they come from clients nobody knows anything about.

use serde::Deserialize;
use serde_json::Value;

/// Longest request id. Clients use UUIDs and counters, and every byte of it
/// is sent back.
const ID_LIMIT: usize = 512;

/// Longest method name that is looked up, and repeated in an error.
const METHOD_LIMIT: usize = 128;

/// The protocol's own limit for `traceparent`, in characters.
const TRACEPARENT_LIMIT: usize = 128;

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Chosen by the client; its response carries it.
    pub id: String,
    /// What is asked for.
    pub method: String,
    /// `null` when the client sent none.
    pub params: Value,
}

/// A frame that is not a request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("invalid request frame: {problem}")]
pub struct Malformed {
    /// The frame's id, when it has a usable one.
    pub id: Option<String>,
    problem: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Frame {
    r#type: String,
    id: String,
    method: String,
    #[serde(default)]
    params: Value,
    traceparent: Option<String>,
    #[serde(rename = "expectedProfileId")]
    _expected_profile_id: Option<String>,
}

impl Request {
    /// Reads a text frame. Whatever the text is, the answer is a request or an
    /// error; nesting is limited by the JSON reader.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| Malformed::new(None, error.to_string()))?;
        let id = id_of(&value);
        // An array would be taken for the fields in their order.
        if !value.is_object() {
            return Err(Malformed::new(id, "must be object".to_owned()));
        }
        match Frame::deserialize(value) {
            Ok(frame) => Self::check(frame).map_err(|problem| Malformed::new(id, problem)),
            Err(error) => Err(Malformed::new(id, error.to_string())),
        }
    }

    fn check(frame: Frame) -> Result<Self, String> {
        if frame.r#type != "req" {
            return Err("at /type: must be equal to constant".to_owned());
        }
        check_length("id", &frame.id, ID_LIMIT)?;
        check_length("method", &frame.method, METHOD_LIMIT)?;
        if let Some(trace) = &frame.traceparent
            && trace.chars().count() > TRACEPARENT_LIMIT
        {
            return Err(too_long("traceparent", TRACEPARENT_LIMIT));
        }
        Ok(Self {
            id: frame.id,
            method: frame.method,
            params: frame.params,
        })
    }
}

impl Malformed {
    fn new(id: Option<String>, problem: String) -> Self {
        Self { id, problem }
    }
}

fn id_of(value: &Value) -> Option<String> {
    let id = value.get("id")?.as_str()?;
    (!id.is_empty() && id.len() <= ID_LIMIT).then(|| id.to_owned())
}

fn check_length(field: &str, text: &str, limit: usize) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!(
            "at /{field}: must NOT have fewer than 1 characters"
        ));
    }
    if text.len() > limit {
        return Err(too_long(field, limit));
    }
    Ok(())
}

fn too_long(field: &str, limit: usize) -> String {
    format!("at /{field}: must NOT have more than {limit} characters")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn request_is_read() {
        let text = r#"{"type":"req","id":"1","method":"health","params":{"a":1},"traceparent":"00-1-2-01"}"#;
        let request = Request::parse(text).unwrap();
        assert_eq!(request.id, "1");
        assert_eq!(request.method, "health");
        assert_eq!(request.params, json!({"a": 1}));
        let bare = Request::parse(r#"{"type":"req","id":"1","method":"health"}"#).unwrap();
        assert_eq!(bare.params, Value::Null);
    }

    #[test]
    fn request_what_is_wrong_is_named_and_the_id_kept() {
        for (text, id, words) in [
            ("", None, "EOF"),
            ("[]", None, "must be object"),
            (
                r#"["req","1","health",null,null,null]"#,
                None,
                "must be object",
            ),
            ("null", None, "must be object"),
            (r#"{"type":"req","id":"","method":"x"}"#, None, "/id"),
            (
                r#"{"type":"req","id":"7","method":""}"#,
                Some("7"),
                "/method",
            ),
            (
                r#"{"type":"res","id":"7","method":"x"}"#,
                Some("7"),
                "/type",
            ),
            (r#"{"type":"req","id":"7"}"#, Some("7"), "method"),
            (
                r#"{"type":"req","id":7,"method":"x"}"#,
                None,
                "invalid type",
            ),
            (
                r#"{"type":"req","id":"7","method":"x","extra":1}"#,
                Some("7"),
                "extra",
            ),
        ] {
            let malformed = Request::parse(text).unwrap_err();
            assert_eq!(malformed.id.as_deref(), id, "{text}");
            assert!(malformed.to_string().contains(words), "{text}: {malformed}");
        }
        let deep = "[".repeat(100_000);
        assert!(Request::parse(&deep).is_err());
    }

    proptest! {
        #[test]
        fn request_any_text_is_a_request_or_an_error(text in ".{0,400}") {
            if let Err(malformed) = Request::parse(&text) {
                prop_assert!(!malformed.to_string().is_empty());
            }
        }

        #[test]
        fn broken_request_is_a_request_or_an_error(cut in 0usize..80, junk in any::<char>()) {
            let mut text = r#"{"type":"req","id":"req-1","method":"chat.send","params":{"sessionKey":"main"}}"#.to_owned();
            text.insert(cut.min(text.len()), junk);
            let _ = Request::parse(&text);
        }
    }
}
