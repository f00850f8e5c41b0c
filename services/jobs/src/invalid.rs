//! Why a job is none.

use std::borrow::Cow;

/// What is wrong with a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// A field has a value that it may not have.
    #[error("at /{path}: {problem}")]
    Field {
        /// Where it is, as a JSON pointer without the first slash.
        path: Cow<'static, str>,
        /// What is wrong with it.
        problem: String,
    },
    /// It is no job at all; with the reason.
    #[error("{0}")]
    Shape(String),
}

impl Invalid {
    /// What is wrong with the field at `path`.
    pub fn field(path: impl Into<Cow<'static, str>>, problem: &str) -> Self {
        Self::Field {
            path: path.into(),
            problem: problem.to_owned(),
        }
    }
}
