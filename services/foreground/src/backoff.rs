//! How long a daemon that died stays down.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// The first wait; short enough that a client waiting for a reply hardly
/// notices a crash.
const FIRST: Duration = Duration::from_millis(100);
/// The longest wait: what a daemon that cannot start costs is bounded, and one
/// that can again is back soon.
const LONGEST: Duration = Duration::from_secs(5);
/// Deaths after a good start that are each followed by the first wait, as
/// StartLimitBurst= and StartLimitIntervalSec= of the daemons' units: more is a loop.
const BURST: usize = 120;
const BURST_TIME: Duration = Duration::from_secs(30);

/// Doubles from one death to the next, where a daemon does not get ready or
/// dies again and again.
#[derive(Debug)]
pub(crate) struct Backoff {
    wait: Duration,
    /// The last deaths of a daemon that had been ready.
    deaths: VecDeque<Instant>,
}

impl Backoff {
    /// For a daemon that has not died yet.
    pub(crate) fn new() -> Self {
        Self {
            wait: FIRST,
            deaths: VecDeque::with_capacity(BURST),
        }
    }

    /// The wait after a daemon died at `now`. One that `was_ready` did not die
    /// of its start.
    pub(crate) fn after(&mut self, was_ready: bool, now: Instant) -> Duration {
        if was_ready && !self.is_loop(now) {
            self.wait = FIRST;
        }
        let wait = self.wait;
        self.wait = (wait * 2).min(LONGEST);
        wait
    }

    fn is_loop(&mut self, now: Instant) -> bool {
        let oldest = if self.deaths.len() < BURST {
            None
        } else {
            self.deaths.pop_front()
        };
        self.deaths.push_back(now);
        oldest.is_some_and(|oldest| now.duration_since(oldest) < BURST_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_to_a_bound_and_start_again_after_a_good_start() {
        let mut backoff = Backoff::new();
        let now = Instant::now();
        let waits: Vec<u128> = (0..8)
            .map(|_| backoff.after(false, now).as_millis())
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(backoff.after(true, now), FIRST);
    }

    #[test]
    fn kills_of_a_daemon_that_works_do_not_keep_it_down_but_a_loop_does() {
        let mut backoff = Backoff::new();
        let start = Instant::now();
        let mut at = |millis: u64| backoff.after(true, start + Duration::from_millis(millis));
        assert!((0..500).all(|death| at(death * 501) == FIRST));
        assert!((0..200).any(|death| at(300_000 + death * 150) == LONGEST));
        assert_eq!(at(600_000), FIRST);
    }
}
