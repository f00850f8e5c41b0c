//! A limit for what changes the configuration.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use openclaw_protocol::Failure;

use super::client::Client;

/// Writes of one method by one client in [`WINDOW`], as in OpenClaw.
const LIMIT: usize = 30;

const WINDOW: Duration = Duration::from_secs(60);

/// Clients that are remembered. Only owners write, so there are few.
const REMEMBERED: usize = 256;

type Writes = HashMap<(&'static str, String), VecDeque<Instant>>;

/// Who wrote when.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<Writes>);

impl Throttle {
    /// Counts a write; an error when there were too many.
    pub(super) fn take(
        &self,
        method: &'static str,
        client: &Client,
        now: Instant,
    ) -> Result<(), Failure> {
        let device = client.identity.device_id.clone();
        self.count(method, device.unwrap_or_default(), now)
    }

    fn count(&self, method: &'static str, who: String, now: Instant) -> Result<(), Failure> {
        let mut writes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if writes.len() >= REMEMBERED {
            writes.retain(|_, times| times.back().is_some_and(|at| now - *at < WINDOW));
        }
        let times = writes.entry((method, who)).or_default();
        while times.front().is_some_and(|at| now - *at >= WINDOW) {
            times.pop_front();
        }
        if times.len() >= LIMIT {
            let oldest = times.front().map_or(WINDOW, |at| WINDOW - (now - *at));
            let wait = u64::try_from(oldest.as_millis()).unwrap_or(u64::MAX);
            let message = format!("rate limit exceeded for {method}; retry later");
            return Err(Failure::unavailable(message).retry_after(wait));
        }
        times.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_writes_a_minute() {
        let throttle = Throttle::default();
        let begin = Instant::now();
        let count = |at| throttle.count("config.set", String::new(), at);
        for _ in 0..LIMIT {
            count(begin).unwrap();
        }
        let failure = count(begin + WINDOW / 2).unwrap_err();
        assert_eq!(failure.retry_after_ms, Some(30_000));
        count(begin + WINDOW).unwrap();
    }
}
