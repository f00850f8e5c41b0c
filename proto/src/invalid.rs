//! What is wrong with a message that came in.

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

#[expect(clippy::disallowed_types, reason = "what a server answers")]
impl From<Invalid> for tonic::Status {
    fn from(invalid: Invalid) -> Self {
        Self::invalid_argument(invalid.to_string())
    }
}
