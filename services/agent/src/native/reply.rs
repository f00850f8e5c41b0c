//! A model's answer, whichever protocol it came in.

use openclaw_turn::{StopReason, Usage};
use serde_json::{Map, Value};

/// Texts, thoughts and calls of one answer. Each is looked for among all that came before.
pub(super) const PARTS: usize = 2048;

/// A complete answer. Its text has been emitted already, as it came.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) text: String,
    /// Anthropic thinking blocks, which must come back unchanged with the
    /// results of the tool calls that follow them.
    pub(super) thinking: Vec<Value>,
    /// Reasoning text of OpenAI-compatible servers, sent back the same way.
    pub(super) reasoning: String,
    pub(super) calls: Vec<RawCall>,
    pub(super) stop: StopReason,
    /// The provider ended it for its content.
    pub(super) declined: bool,
    pub(super) usage: Usage,
    /// As the server names it.
    pub(super) model: Option<String>,
}

/// A tool call as the model wrote it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct RawCall {
    /// Empty when the server gives none.
    pub(super) id: String,
    pub(super) name: String,
    /// Meant to be a JSON object.
    pub(super) arguments: String,
}

/// Longest piece of broken arguments that is shown back to the model.
const MAX_SHOWN_BYTES: usize = 200;

impl RawCall {
    /// The arguments as an object; the error is a sentence for the model.
    pub(super) fn parse(&self) -> Result<Value, String> {
        if self.arguments.trim().is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(object)) => Ok(Value::Object(object)),
            Ok(Value::Null) => Ok(Value::Object(Map::new())),
            // Some models encode twice.
            Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
                Ok(Value::Object(object)) => Ok(Value::Object(object)),
                _ => Err(self.complaint("they are a string, not an object")),
            },
            Ok(_) => Err(self.complaint("they are not an object")),
            Err(error) if error.is_eof() => {
                Err(self.complaint("they break off; write less in one call"))
            }
            Err(error) => Err(self.complaint(&error.to_string())),
        }
    }

    fn complaint(&self, why: &str) -> String {
        let shown: String = self.arguments.chars().take(MAX_SHOWN_BYTES).collect();
        format!("the arguments must be one JSON object: {why}; got: {shown}")
    }
}

/// A piece of an answer to pass on at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delta {
    Text(String),
    Thinking(String),
    /// The thinking before it is whole.
    Signed(Signed),
}

/// What makes thinking fit to be sent back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) signature: String,
    /// It is all there is of the thinking.
    pub(super) redacted: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(arguments: &str) -> Result<Value, String> {
        RawCall {
            arguments: arguments.to_owned(),
            ..RawCall::default()
        }
        .parse()
    }

    #[test]
    fn reply_what_models_mean_by_an_object_is_one() {
        assert_eq!(parse(""), Ok(json!({})));
        assert_eq!(parse("null"), Ok(json!({})));
        assert_eq!(parse(r#"{"a":1}"#), Ok(json!({"a": 1})));
        assert_eq!(parse(r#""{\"a\":1}""#), Ok(json!({"a": 1})));
    }

    #[test]
    fn anything_else_is_shown_back() {
        for broken in [r#"{"a":"#, "[1]", "path=x", r#""x""#] {
            let message = parse(broken).unwrap_err();
            assert!(message.contains(broken), "{message}");
        }
        assert!(parse(r#"{"a":"#).unwrap_err().contains("break off"));
    }
}
