//! Transcripts: one JSON Lines file per session, a header line and then
//! entries that name their parent (OpenClaw session format, version 3; version
//! 4 differs only in longer ids and is read and continued too).

mod append;
mod aside;
mod backward;
mod chain;
mod content;
mod count;
mod cut_back;
mod entry;
mod group;
mod id;
mod marker;
mod message;
mod open;
mod read;
mod run;
mod since;

pub use append::{Origin, Transcript};
pub use aside::{CORRUPT_LIMIT, aside_path, keep_aside};
pub use content::{Block, Content};
pub use count::{Count, count};
pub use cut_back::{CutBack, cut_back};
pub use entry::{Entry, Header, Line, MalformedLine, OtherEntry};
pub use group::sync_all;
pub use marker::{Compaction, Draft, Marker};
pub use message::{
    AssistantMessage, GATEWAY, Message, SYSTEM, StopReason, TURN_OPTIONS, ToolResultMessage,
    USER_SUFFIX, Usage, UserMessage,
};
pub use open::{Opened, Repair};
pub use read::{CorruptLine, LineRead, Lines, Reading, head, read};
pub use run::of_run;
pub use since::since;

pub(crate) use aside::noted;
pub(crate) use backward::Backward;
pub(crate) use chain::{Chain, Parent};

/// Longest line in bytes, written or read. A message is at most 16 MiB on the
/// wire, and escaping rarely doubles it; without a bound one broken file could
/// take all memory.
pub const LINE_LIMIT: usize = 32 * 1024 * 1024;

/// The custom entry that takes back what the user had set of a session: the
/// entries that set it have no word for that.
pub(crate) const CLEARED_ENTRY: &str = "openclaw:cleared";

/// The custom entry after the header of files written here. It makes the index
/// rebuildable: the header names the session but not its key.
pub(crate) const KEY_ENTRY: &str = "openclaw:session-key";
