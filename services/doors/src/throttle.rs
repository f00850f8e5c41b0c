//! A limit for what somebody may do in a while.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often somebody may do something in [`WINDOW`], as in OpenClaw.
const LIMIT: usize = 30;

const WINDOW: Duration = Duration::from_secs(60);

/// Pairs of those who do something and what it is that are remembered. Only owners may, so there are few.
const REMEMBERED: usize = 256;

type Times = HashMap<(&'static str, String), VecDeque<Instant>>;

/// Who did what, and when.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<Times>);

impl Throttle {
    /// Counts that `who` does `what`.
    ///
    /// # Errors
    /// It was done too often: how long it is until it may be done again. It is not counted.
    pub fn count(&self, what: &'static str, who: String, now: Instant) -> Result<(), Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.retain(|_, times| times.back().is_some_and(|at| now - *at < WINDOW));
        }
        let times = all.entry((what, who)).or_default();
        while times.front().is_some_and(|at| now - *at >= WINDOW) {
            times.pop_front();
        }
        if times.len() >= LIMIT {
            let oldest = times.front().map_or(WINDOW, |at| WINDOW - (now - *at));
            return Err(oldest);
        }
        times.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttle_lets_through_so_many_a_minute() {
        let throttle = Throttle::default();
        let begin = Instant::now();
        let count = |at| throttle.count("config.set", String::new(), at);
        for _ in 0..LIMIT {
            count(begin).unwrap();
        }
        assert_eq!(count(begin + WINDOW / 2), Err(WINDOW / 2));
        count(begin + WINDOW).unwrap();
    }
}
