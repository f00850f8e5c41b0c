//! Whether a silent turn is silent for a reason.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// Until when nothing need be heard of the agent: it waits for a model that is
/// waited for.
#[derive(Debug, Default)]
pub(crate) struct Activity(Mutex<Option<Instant>>);

impl Activity {
    /// Nothing need be heard before `end`.
    pub(crate) fn quiet_until(&self, end: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }

    /// The end of the last such time.
    pub(crate) fn last_quiet(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
