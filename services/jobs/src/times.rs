//! The times of a job.

use std::collections::VecDeque;

use ring::digest::{SHA256, digest};

use crate::timing::Timing;

/// Times that are told apart of those that have come.
const APART: usize = 50;

/// Times to come of a calendar that are looked at for two that are close: those of two
/// whole days, where one comes every five minutes, and of more where it comes more
/// seldom. The times of the day are the same on each day of an expression.
const LOOKED_AT: usize = 600;

/// A schedule with how much later each of its times is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times<'a> {
    schedule: &'a Timing,
    later_ms: i64,
}

impl<'a> Times<'a> {
    /// Those of the job `id`.
    pub(super) fn of(schedule: &'a Timing, id: &str) -> Self {
        Self {
            schedule,
            later_ms: later_ms(id, schedule.stagger_ms()),
        }
    }

    /// The first time after `now`; None when there is none.
    pub(super) fn next(&self, now: i64) -> Option<i64> {
        let next = self.schedule.next(now.checked_sub(self.later_ms)?)?;
        next.checked_add(self.later_ms)
    }

    /// The last times until `now` of those that have come, `first` and what is
    /// after it; the first one first.
    pub(super) fn due(&self, first: i64, now: i64) -> VecDeque<i64> {
        let mut times = VecDeque::from([first]);
        while let Some(next) = self.next(*times.back().unwrap_or(&first)) {
            if next > now {
                return times;
            }
            times.push_back(next);
            if times.len() > APART {
                return self.last(first, now);
            }
        }
        times
    }

    /// The last times from `first` until `now`, when there are many.
    fn last(&self, first: i64, now: i64) -> VecDeque<i64> {
        let mut times = VecDeque::new();
        let mut until = now;
        while times.len() < APART {
            let Some(before) = self.before(first, until) else {
                break;
            };
            times.push_front(before);
            until = before - 1;
        }
        times
    }

    /// The last time until `until`, which is not before `first`.
    fn before(&self, first: i64, until: i64) -> Option<i64> {
        let is_until = |at: i64| self.next(at).is_some_and(|next| next <= until);
        let (mut low, mut high) = (first - 1, until);
        if !is_until(low) {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_until(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.next(low)
    }

    /// Whether two of the next [`LOOKED_AT`] times are less than `period_ms` apart.
    pub(super) fn comes_within(&self, period_ms: i64, now: i64) -> bool {
        if let Some(every) = self.schedule.every_ms() {
            return every < period_ms;
        }
        let mut times = std::iter::successors(self.next(now), |at| self.next(*at));
        let Some(mut before) = times.next() else {
            return false;
        };
        times.take(LOOKED_AT).any(|at| {
            let between = at - before;
            before = at;
            between < period_ms
        })
    }
}

/// By how much the job `id` is later of so many milliseconds: always the same, and as in
/// OpenClaw.
fn later_ms(id: &str, stagger_ms: i64) -> i64 {
    if stagger_ms <= 1 {
        return 0;
    }
    let digest = digest(&SHA256, id.as_bytes());
    let first = digest.as_ref().first_chunk().copied().unwrap_or_default();
    i64::from(u32::from_be_bytes(first)) % stagger_ms
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// 2026-11-21 09:00 UTC, a Saturday.
    const NOW: i64 = 1_795_251_600_000;

    fn cron(expr: &str, stagger_ms: Option<i64>) -> Timing {
        let timing = json!({"kind": "cron", "expr": expr, "tz": "UTC", "staggerMs": stagger_ms});
        let timing: Timing = serde_json::from_value(timing).unwrap();
        timing.checked(NOW).unwrap()
    }

    #[test]
    fn later_is_the_same_as_in_openclaw() {
        // crypto.createHash("sha256").update(id).digest().readUInt32BE(0) % stagger
        for (id, stagger, expected) in [
            ("job-a", 300_000, 252_637),
            ("0b8c3f0e-6d7e-4a51-9f7e-2f1f6f5a1c11", 300_000, 74_678),
            ("job-a", 30_000, 12_637),
            ("", 7, 1),
            ("\u{e9}", 1 << 32, 1_251_562_878),
        ] {
            assert_eq!(later_ms(id, stagger), expected, "{id} {stagger}");
        }
        for stagger in [-1, 0, 1] {
            assert_eq!(later_ms("a", stagger), 0);
        }
    }

    #[test]
    fn times_are_as_much_later_each() {
        let exact = cron("*/10 * * * *", Some(0));
        let spread = cron("*/10 * * * *", Some(300_000));
        let later = later_ms("job-a", 300_000);
        assert!((1..300_000).contains(&later));
        let (exact, spread) = (Times::of(&exact, "job-a"), Times::of(&spread, "job-a"));
        for now in [NOW - 1, NOW, NOW + later - 1, NOW + later, NOW + 599_999] {
            let before = exact.next(now - later).unwrap();
            assert_eq!(spread.next(now), Some(before + later), "{now}");
            assert!(spread.next(now) > Some(now));
        }
        let first = spread.next(NOW).unwrap();
        let due = spread.due(first, NOW + 3_600_000);
        assert!(due.iter().all(|at| (at - later) % 600_000 == 0), "{due:?}");
        assert_eq!(due.len(), 6);
        let unsaid = cron("0 * * * *", None);
        assert_eq!(Times::of(&unsaid, "job-a").next(NOW), Some(NOW + 3_600_000));
        // A window may be longer than the time between two.
        let long = cron("* * * * *", Some(90_000_000));
        let long = Times::of(&long, "job-a");
        let first = long.next(NOW).unwrap();
        assert!(first > NOW && first <= NOW + 60_000);
        assert_eq!(long.next(first), Some(first + 60_000));
    }
}
