//! What is said between the pool of servers and a turn's process: lines of JSON
//! over a pair of sockets.

use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Output;

/// Bytes of one line: what servers offer or answered, within its own bounds.
pub(super) const LINE_BYTES: usize = 32 * 1024 * 1024;

/// To the turn's process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Told {
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
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CallFailure {
    /// Nothing came in time.
    TooSlow,
    /// There is no server, or no more, and why.
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
    pub(super) status: Status,
}

/// What it is doing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Status {
    /// It is being started. It `is_awaited` as long as it may be there in a
    /// moment; `failed` is why it was not the last time.
    Starting {
        is_awaited: bool,
        failed: Option<String>,
    },
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
