//! The on-disk format of conversations: session keys, the session index and
//! the transcripts, as OpenClaw writes them (seeds 001 and 003).
//!
//! Everything here is synchronous file work for the one process that owns the
//! state directory; nothing is locked against a second writer and nothing is
//! logged: what was repaired or skipped is returned.

mod agent;
pub mod archive;
pub mod discovery;
mod disk;
mod error;
pub mod forgetting;
pub mod history;
pub mod home;
pub mod journal;
mod key;
pub mod reading;
pub mod store;
mod time;
pub mod transcript;
pub mod transfer;

pub use agent::{AgentId, InvalidAgentId};
pub use disk::{keep_copy, set_aside};
pub use error::Error;
pub use key::{
    Chat, DmScope, E164_DIGITS, IdentityLinks, InvalidKey, InvalidRoute, KEY_LIMIT, Route,
    SessionKey,
};
pub use openclaw_silence as silence;
pub use time::{iso_time, modified_ms, now_ms, unix_ms};
