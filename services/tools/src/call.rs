//! A call of a tool and its outcome.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to run one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Chosen by the caller; comes back as [`ToolResult::call_id`].
    pub id: String,
    /// The registered name.
    pub name: String,
    /// The arguments object; `null` counts as the empty object.
    pub arguments: Value,
}

/// What came of a [`ToolCall`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// Whether the tool did what it was asked; `error` is `None` exactly then.
    pub success: bool,
    /// The tool's text. On failure, what there was before it failed.
    pub output: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

impl ToolResult {
    /// The outcome as one text for a model: the output, or the error followed
    /// by whatever output there was.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match &self.error {
            None => Cow::Borrowed(&self.output),
            Some(failure) if self.output.is_empty() => Cow::Owned(failure.to_string()),
            Some(failure) => Cow::Owned(format!("{failure}\n{}", self.output)),
        }
    }
}

/// A failed tool: which one, what kind of failure, and what to know about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{tool} failed ({kind}): {message}")]
pub struct ToolFailure {
    /// The name that was called, also when no such tool exists.
    pub tool: String,
    /// A stable word to match on.
    #[serde(rename = "type")]
    pub kind: FailureKind,
    /// One sentence for the model and the user.
    pub message: String,
}

/// A stable word for a kind of failure. Tools from elsewhere may bring their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FailureKind(Cow<'static, str>);

impl FailureKind {
    /// The arguments do not match the schema; nothing ran.
    pub const INVALID_ARGUMENTS: Self = Self(Cow::Borrowed("invalid_arguments"));
    /// The tool's own schema is broken; nothing ran.
    pub const INVALID_SCHEMA: Self = Self(Cow::Borrowed("invalid_schema"));
    /// No tool of that name.
    pub const UNKNOWN_TOOL: Self = Self(Cow::Borrowed("unknown_tool"));
    /// A policy does not let this agent have the tool; nothing ran.
    pub const NOT_ALLOWED: Self = Self(Cow::Borrowed("not_allowed"));
    /// Somebody was asked and said no, or nobody answered; nothing ran.
    pub const DENIED: Self = Self(Cow::Borrowed("denied"));
    /// What a change was to be made to is not there, or is there twice.
    pub(crate) const NO_MATCH: Self = Self(Cow::Borrowed("no_match"));
    /// A file or folder that is not there, or not visible from here.
    pub const NOT_FOUND: Self = Self(Cow::Borrowed("not_found"));
    /// Refused by file permissions or by the sandbox.
    pub(crate) const PERMISSION_DENIED: Self = Self(Cow::Borrowed("permission_denied"));
    /// A folder, device or pipe where a regular file is needed, or the reverse.
    pub(crate) const WRONG_FILE_TYPE: Self = Self(Cow::Borrowed("wrong_file_type"));
    /// A file that is not text.
    pub(crate) const BINARY_FILE: Self = Self(Cow::Borrowed("binary_file"));
    /// More than a named limit allows.
    pub(crate) const TOO_LARGE: Self = Self(Cow::Borrowed("too_large"));
    /// Stopped at its time limit.
    pub const TIMEOUT: Self = Self(Cow::Borrowed("timeout"));
    /// Any other error of the operating system.
    pub(crate) const IO: Self = Self(Cow::Borrowed("io"));
    /// The tool's code panicked.
    pub const CRASHED: Self = Self(Cow::Borrowed("crashed"));

    /// A kind of a tool's own.
    pub fn custom(kind: impl Into<Cow<'static, str>>) -> Self {
        Self(kind.into())
    }

    /// The word itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_is_told_with_its_error_before_its_output() {
        let failure = ToolFailure {
            tool: "t".to_owned(),
            kind: FailureKind::custom("odd"),
            message: "m".to_owned(),
        };
        for (error, output, text) in [
            (None, "", ""),
            (None, "out", "out"),
            (Some(failure.clone()), "", "t failed (odd): m"),
            (Some(failure), "out", "t failed (odd): m\nout"),
        ] {
            let result = ToolResult {
                call_id: "1".to_owned(),
                success: error.is_none(),
                output: output.to_owned(),
                error,
            };
            assert_eq!(result.to_text(), text);
        }
        assert_eq!(FailureKind::custom("odd").as_str(), "odd");
        assert_eq!(FailureKind::TIMEOUT.to_string(), "timeout");
    }
}
