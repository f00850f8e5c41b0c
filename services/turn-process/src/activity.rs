//! What a turn does beside what it says: whether it is silent for a reason, and
//! what of it the log is told.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::turn_log::TurnLog;

/// What a turn does.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Until when nothing need be heard of the agent: it waits for a model that
    /// is waited for.
    quiet: Mutex<Option<Instant>>,
    /// What the log is told.
    pub(crate) log: TurnLog,
}

impl Activity {
    /// `has_content`: whether the log may say what is said.
    pub(crate) fn new(has_content: bool) -> Self {
        Self {
            quiet: Mutex::default(),
            log: TurnLog::new(has_content),
        }
    }

    /// Nothing need be heard before `end`.
    pub(crate) fn quiet_until(&self, end: Instant) {
        *self.quiet.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }

    /// The end of the last such time.
    pub(crate) fn last_quiet(&self) -> Option<Instant> {
        *self.quiet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
