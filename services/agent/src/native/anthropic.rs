//! The Anthropic Messages API.

mod body;
mod stream;

pub(super) use body::body;
pub(super) use stream::Stream;

/// Where requests go, through the runner.
pub(super) const PATH: &str = "/model/v1/messages";
