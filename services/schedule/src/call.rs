//! Calls of agents' tools for jobs, and how often there may be some.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use openclaw_jobs::Maker;
use serde_json::Value;

/// Jobs that an agent may make in [`HOUR_MS`].
pub(crate) const ADD_LIMIT: usize = 20;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A call of one of the tools.
#[derive(Debug)]
pub struct Call {
    /// The agent and the session of its turn.
    pub caller: Maker,
    /// `cron` or `remind`.
    pub tool: String,
    /// A JSON object.
    pub arguments: Value,
    /// Whether somebody allowed it.
    pub is_approved: bool,
}

/// What came of a call.
#[derive(Debug)]
pub enum Answer {
    /// For the agent.
    Done(Value),
    /// Somebody is to be asked first, and why.
    Ask(String),
}

/// When agents added jobs, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Added(Mutex<HashMap<String, VecDeque<i64>>>);

impl Added {
    /// Notes one more; false when there were too many.
    pub(crate) fn note(&self, agent: &str, now: i64) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = all.entry(agent.to_owned()).or_default();
        // A clock that was set back keeps nobody from adding for longer.
        times.retain(|at| (now - HOUR_MS..=now).contains(at));
        if times.len() >= ADD_LIMIT {
            return false;
        }
        times.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_jobs_have_a_rate() {
        let added = Added::default();
        for _ in 0..ADD_LIMIT {
            assert!(added.note("main", HOUR_MS));
        }
        assert!(!added.note("main", HOUR_MS + 1));
        assert!(added.note("other", HOUR_MS + 1));
        assert!(added.note("main", 2 * HOUR_MS + 1));
    }
}
