//! What is to be done.

use std::time::Duration;

/// How the suite is tortured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Decides what is sent and what is killed.
    pub seed: u64,
    /// Processes that are killed.
    pub kills: usize,
    /// Senders at once, each with its own session.
    pub talkers: usize,
    /// The longest wait between two kills; each is a random part of it.
    pub pause: Duration,
}

impl Plan {
    /// The usual torture.
    pub fn new(seed: u64, kills: usize) -> Self {
        Self {
            seed,
            kills,
            talkers: 6,
            pause: Duration::from_millis(400),
        }
    }
}
