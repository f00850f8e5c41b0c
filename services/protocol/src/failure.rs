//! Errors as a response carries them.

use serde::Serialize;
use serde_json::{Value, json};

/// The top-level codes that clients know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// The device has to be paired first.
    NotPaired,
    /// The run did not end in time.
    AgentTimeout,
    /// The request is wrong, or what it asks for cannot be done.
    InvalidRequest,
    /// The client may not do this.
    Forbidden,
    /// No such approval waits.
    ApprovalNotFound,
    /// Not now.
    Unavailable,
}

/// Why a request is not done.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// For programs.
    pub code: Code,
    /// For people; never empty.
    pub message: String,
    /// More for programs; `details.code` tells one cause from another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether trying again can help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// When it can, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl Failure {
    /// A failure with `code`, in words.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            // Clients refuse an error without words.
            message: if message.is_empty() {
                "failed".to_owned()
            } else {
                message
            },
            details: None,
            retryable: None,
            retry_after_ms: None,
        }
    }

    /// The request is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }

    /// It cannot be done now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    /// The parameters of `method` are wrong; `problem` says where.
    pub fn params(method: &str, problem: &str) -> Self {
        Self::invalid(format!("invalid {method} params: {problem}"))
    }

    /// There is no such method.
    pub fn unknown_method(method: &str) -> Self {
        Self::invalid(format!("unknown method: {method}"))
    }

    /// The client's role does not have the method.
    pub fn role(role: &str) -> Self {
        Self::invalid(format!("unauthorized role: {role}"))
    }

    /// The client lacks `scope`.
    pub fn scope(scope: &str) -> Self {
        Self::new(Code::Forbidden, format!("missing scope: {scope}")).with_details(json!({
            "code": "MISSING_SCOPE",
            "missingScope": scope,
            "requiredScopes": [scope],
        }))
    }

    /// With `details`, which should have a `code`.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Trying again helps, after `ms` milliseconds.
    #[must_use]
    pub fn retry_after(mut self, ms: u64) -> Self {
        self.retryable = Some(true);
        self.retry_after_ms = Some(ms);
        self
    }
}
