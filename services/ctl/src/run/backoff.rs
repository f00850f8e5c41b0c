//! How long a daemon that died stays down.

use std::time::Duration;

/// The first wait; short enough that a client waiting for a reply hardly
/// notices a crash.
const FIRST: Duration = Duration::from_millis(100);
/// The longest wait: what a daemon that cannot start costs is bounded, and one
/// that can again is back soon.
const LONGEST: Duration = Duration::from_secs(5);
/// A daemon that lived this long did not die of its start.
const HEALTHY: Duration = Duration::from_secs(10);

/// Doubles from one death to the next.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Backoff {
    /// For a daemon that has not died yet.
    pub(super) fn new() -> Self {
        Self(FIRST)
    }

    /// The wait after a daemon died that lived for `lived`.
    pub(super) fn after(&mut self, lived: Duration) -> Duration {
        if lived >= HEALTHY {
            self.0 = FIRST;
        }
        let wait = self.0;
        self.0 = (wait * 2).min(LONGEST);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_a_bound_and_start_again_after_a_healthy_life() {
        let mut backoff = Backoff::new();
        let waits: Vec<u128> = (0..8)
            .map(|_| backoff.after(Duration::ZERO).as_millis())
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(backoff.after(HEALTHY), FIRST);
    }
}
