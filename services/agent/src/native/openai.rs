//! Chat completions, as OpenAI and everyone compatible with it offer them.

mod body;
mod stream;

pub(super) use body::{Dialect, body};
pub(super) use stream::Stream;

/// Where requests go, through the runner.
pub(super) const PATH: &str = "/model/v1/chat/completions";
