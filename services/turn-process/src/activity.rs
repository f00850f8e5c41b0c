//! The activity of a turn beside its words: whether it is silent for a reason, and what is logged
//! of it.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::turn_log::TurnLog;

/// The activity of a turn.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Until when nothing need be heard of the agent: it waits for a model that is waited for.
    quiet: Mutex<Option<Instant>>,
    /// The lines for the log.
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
