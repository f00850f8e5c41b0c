//! What a turn's process learns of a key, for the turns to come: a line in its
//! spool, which the daemon reads there.

use serde::{Deserialize, Serialize};

/// How a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// Well.
    Answered,
    /// There were too many requests, or there is too much work.
    Busy,
    /// The key is not accepted, or the account is empty.
    Refused,
}

/// The use of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whose key it is.
    pub agent_id: String,
    /// The key's name.
    pub id: String,
    /// What came of using it.
    pub used: Use,
    /// Unix time in milliseconds.
    pub at_ms: u64,
    /// The wait that the provider asked for; 0: none.
    pub retry_after_ms: u64,
}
