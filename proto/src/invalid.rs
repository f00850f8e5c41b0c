//! What is wrong with a message that came in.

use tonic::Status;

/// A message that does not say what it must.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}: field {field} {problem}")]
pub struct Invalid {
    message: &'static str,
    field: &'static str,
    problem: String,
}

impl Invalid {
    /// A field that must be there and is not.
    pub fn missing(message: &'static str, field: &'static str) -> Self {
        Self::because(message, field, "is missing")
    }

    /// A field whose value is not allowed.
    pub fn because(message: &'static str, field: &'static str, problem: impl Into<String>) -> Self {
        Self {
            message,
            field,
            problem: problem.into(),
        }
    }
}

impl From<Invalid> for Status {
    fn from(invalid: Invalid) -> Self {
        Self::invalid_argument(invalid.to_string())
    }
}
