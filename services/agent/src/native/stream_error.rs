//! What a provider's stream may have that is not an answer.

use openclaw_turn::Code;

use super::{reply, status};
use crate::failure::Failure;

/// Longest piece of a malformed event in a message.
const MAX_SHOWN_CHARS: usize = 200;

/// What a decoder objects to.
#[derive(Debug)]
pub(super) enum StreamError {
    /// Not what the protocol says.
    Malformed(String),
    /// The provider's own error, in the middle of the stream.
    Provider(Failure),
}

impl StreamError {
    pub(super) fn malformed(data: &str, error: &serde_json::Error) -> Self {
        let shown: String = data.chars().take(MAX_SHOWN_CHARS).collect();
        Self::Malformed(format!("{error}, in: {shown}"))
    }

    pub(super) fn order(message: String) -> Self {
        Self::Malformed(message)
    }

    pub(super) fn too_many_parts() -> Self {
        Self::Malformed(format!("it has more than {} parts", reply::PARTS))
    }

    pub(super) fn provider(code: Code, message: &str) -> Self {
        let message = status::trimmed(message);
        let message = format!("the model provider broke off its answer: {message}");
        Self::Provider(Failure::new(code, message))
    }
}
