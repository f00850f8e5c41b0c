//! What is said between the pool of servers and a turn's process: lines of JSON
//! over a pair of sockets.

use openclaw_handoff::servers::Pace;
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::output::Output;

/// Bytes of one line: what servers offer or answered, within its own bounds.
pub(super) const LINE_BYTES: usize = 32 * 1024 * 1024;

/// To the turn's process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum PoolMessage {
    /// What the servers are now. It is told at first, and whenever it changes.
    Servers(Vec<Known>),
    /// What came of a call.
    Answer { id: u64, result: CallResult },
}

/// The pool does not know of people's policies: its errors are the server's.
pub(super) type CallResult = Result<Output, CallFailure>;

/// From the turn's process: a call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) id: u64,
    pub(super) server: String,
    /// As the server calls it.
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// Whether it is only asked if the call would be made.
    #[serde(default)]
    pub(super) is_question: bool,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CallFailure {
    /// Nothing came within so many milliseconds.
    TooSlow(u64),
    /// It is not called, and why: there is no server, or no more, or it leaves
    /// calls unanswered.
    Gone(String),
    /// The server's own words.
    Tool(Output),
}

/// A server of the configuration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) name: String,
    /// Whether it is believed which of its tools only read.
    pub(super) trusted: bool,
    /// What it may reach, in words; empty: its process does not say.
    #[serde(default)]
    pub(super) reach: String,
    pub(super) status: Status,
}

/// What it is doing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Status {
    /// It is being started; `failed` is why it could not be the last time.
    Starting { pace: Pace, failed: Option<String> },
    /// It has these tools.
    Ready {
        tools: Vec<Tool>,
        /// Further tools that it has and that are too much to be told.
        more: usize,
        instructions: String,
    },
    /// It does not run, for this reason.
    Failed(String),
}

impl Status {
    /// Why the server cannot be called; `None`: it runs.
    pub(super) fn absence(&self) -> Option<String> {
        match self {
            Self::Ready { .. } => None,
            Self::Starting { failed: None, .. } => Some("it is still being started".to_owned()),
            Self::Failed(why)
            | Self::Starting {
                failed: Some(why), ..
            } => Some(why.clone()),
        }
    }
}
