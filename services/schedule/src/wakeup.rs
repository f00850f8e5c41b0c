//! What starts a gateway for the job that is due next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A job that is due in less than this many milliseconds is waited for.
const SOON_MS: i64 = 30_000;

/// The state of the timer as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Wakeup(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The plan for which the times below hold.
    plan: Option<u64>,
    /// When the next job is due.
    next_ms: Option<i64>,
    /// When the timer starts the gateway.
    timer_ms: Option<i64>,
}

impl Wakeup {
    /// When the next job is due, and when the timer starts the gateway for it.
    pub(crate) fn note(&self, next_ms: Option<i64>, timer_ms: Option<i64>) {
        let mut state = self.lock();
        state.next_ms = next_ms;
        state.timer_ms = timer_ms;
    }

    /// What was noted is so while `plan` holds.
    pub(crate) fn settle(&self, plan: u64) {
        self.lock().plan = Some(plan);
    }

    /// Whether a gateway has to be there at `now_ms` already, while `plan` holds.
    pub(crate) fn needs_gateway(&self, plan: u64, now_ms: i64) -> bool {
        let state = self.lock();
        let is_needed = |next_ms| state.timer_ms != Some(next_ms) || next_ms - now_ms < SOON_MS;
        state.plan != Some(plan) || state.next_ms.is_some_and(is_needed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gateway_is_needed_for_a_job_that_is_due_soon_or_that_no_timer_knows() {
        let wakeup = Wakeup::default();
        let is_needed = |next_ms, timer_ms| {
            wakeup.note(next_ms, timer_ms);
            wakeup.needs_gateway(7, 0)
        };
        assert!(is_needed(None, None), "nobody has looked yet");
        wakeup.settle(7);
        assert!(!is_needed(None, None));
        assert!(is_needed(Some(SOON_MS), None));
        assert!(!is_needed(Some(SOON_MS), Some(SOON_MS)));
        assert!(is_needed(Some(SOON_MS - 1), Some(SOON_MS - 1)));
        assert!(is_needed(Some(2 * SOON_MS), Some(SOON_MS)));
        wakeup.note(None, None);
        assert!(
            wakeup.needs_gateway(8, 0),
            "a job came, and nobody has looked"
        );
    }
}
