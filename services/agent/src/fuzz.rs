//! Entry points of the fuzz targets in `tests/fuzz`: each takes what comes in
//! at a boundary, and asserts what has to hold whatever that is. Built for
//! fuzzing alone; what they look into stays private.

pub use crate::mcp::fuzz::mcp_server;
pub use crate::mcp::pipe_fuzz::pipe_answers;
pub use crate::native::fuzz::{anthropic_stream, openai_stream};
pub use crate::socket::fuzz::socket_answers;

/// A number from the first two bytes, and the bytes after them.
pub(crate) fn number(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes {
        [low, high, rest @ ..] => (usize::from(*low) | usize::from(*high) << 8, rest),
        _ => (0, &[]),
    }
}

/// What runs the asynchronous ones.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}
