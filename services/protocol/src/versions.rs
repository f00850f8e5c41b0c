//! The versions of the snapshot that clients keep.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::StateVersion;

/// Counts the changes of both parts of the snapshot.
#[derive(Debug, Default)]
pub struct Versions {
    presence: AtomicU64,
    health: AtomicU64,
}

impl Versions {
    /// Who is there has changed.
    pub fn count_presence(&self) {
        self.presence.fetch_add(1, Ordering::Relaxed);
    }

    /// There is a new snapshot of the health.
    pub fn count_health(&self) {
        self.health.fetch_add(1, Ordering::Relaxed);
    }

    /// As clients are told.
    pub fn current(&self) -> StateVersion {
        StateVersion {
            presence: self.presence.load(Ordering::Relaxed) + 1,
            health: self.health.load(Ordering::Relaxed) + 1,
        }
    }
}
