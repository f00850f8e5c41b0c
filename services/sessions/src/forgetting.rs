//! Taking words out of conversations for good: each letter gives way to stars where
//! it stands, so that whoever has a transcript open, or knows how far it was read,
//! goes on.

mod file;

pub use file::{Excerpt, Seen, files, look, redact};
pub use openclaw_redaction::{LIMIT, NotWords, Words};
