//! The Anthropic Messages API.

mod body;
mod stream;

pub(super) use body::body;
pub(super) use stream::Stream;

/// Whether the model refuses a request for what it is said to have thought: the
/// signature is another provider's, or is no longer known there. `complaint` is
/// the body of its answer.
pub(super) fn refuses_thinking(complaint: &str) -> bool {
    complaint.contains("thinking") && complaint.contains("signature")
}

/// Where requests go, through the runner.
pub(super) const PATH: &str = "/model/v1/messages";
