//! What the runner's answers to calls of host tools mean for the tools here.

use openclaw_tools::{FailureKind, HandlerError};
use openclaw_turn::HostAnswer;

/// The failure when the runner itself cannot be reached.
pub(crate) fn unreachable(message: String) -> HandlerError {
    HandlerError::new(FailureKind::custom("unavailable"), message)
}

/// What the tool said, or why it failed.
pub(crate) fn result(answer: HostAnswer) -> Result<String, HandlerError> {
    match (answer.ok, answer.error) {
        (true, _) => Ok(answer.output),
        (false, Some(failure)) => {
            let kind = FailureKind::custom(failure.kind);
            Err(HandlerError::new(kind, failure.message).with_output(answer.output))
        }
        (false, None) => Err(unreachable("the runner gave no reason".to_owned())),
    }
}
