//! The times that have come, and what is done about those that nobody was there
//! for.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;

/// A time that is later than this was missed: the machine was off or asleep, or
/// the clock was set. A gateway that is started for it takes less.
pub(super) const GRACE_MS: i64 = 60_000;

/// Runs that are caught up on when the job says `all` and not how many.
const CATCH_UP: u32 = 10;

/// The most that may be said.
const CATCH_UP_LIMIT: u32 = 50;

/// Why a time has no run of its own.
const STOOD_FOR: &str = "missed; a later run stands for it";
const NOT_CAUGHT_UP: &str = "missed; catchUp is skip";

/// What is done about times that were missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CatchUp {
    /// One run stands for all of them.
    #[default]
    Once,
    /// The last ones, so many as the job says.
    All,
    /// Nothing, with a note.
    Skip,
}

/// Why there is a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Its time came.
    Schedule,
    /// Its time was missed.
    CatchUp,
    /// Somebody wanted it.
    Hand,
}

impl Cause {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::CatchUp => "catch-up",
            Self::Hand => "hand",
        }
    }
}

/// A time of a job that has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The time, in Unix milliseconds.
    pub at_ms: i64,
    /// The end of those that it stands for, which is itself or later.
    pub until_ms: i64,
    /// Why it is run.
    pub cause: Cause,
    /// Why it is not run.
    pub skipped: Option<&'static str>,
}

impl CatchUp {
    /// What is done at `times`, the last ones of those that have come by `now`, of
    /// which `first` was the first. At most `limit` of those that were missed have a
    /// run of their own, where that is said.
    pub(crate) fn planned(
        self,
        first: i64,
        times: &VecDeque<i64>,
        now: i64,
        limit: Option<u32>,
    ) -> Vec<Planned> {
        let is_late = |at: i64| now.saturating_sub(at) > GRACE_MS;
        let last_is_late = times.back().is_none_or(|last| is_late(*last));
        let runs = match self {
            Self::Once => 1,
            Self::All => limit.unwrap_or(CATCH_UP) as usize,
            Self::Skip => usize::from(!last_is_late),
        };
        let skipped = times.len().saturating_sub(runs);
        let reason = match self {
            Self::Skip => NOT_CAUGHT_UP,
            Self::Once | Self::All => STOOD_FOR,
        };
        let earlier = times.front().filter(|kept| **kept > first);
        let earlier = earlier.map(|kept| Planned {
            at_ms: first,
            until_ms: kept - 1,
            cause: Cause::CatchUp,
            skipped: Some(reason),
        });
        let each = times.iter().enumerate().map(|(place, at)| Planned {
            at_ms: *at,
            until_ms: *at,
            cause: if is_late(*at) {
                Cause::CatchUp
            } else {
                Cause::Schedule
            },
            skipped: (place < skipped).then_some(reason),
        });
        earlier.into_iter().chain(each).collect()
    }
}

/// Whether a job may say so many.
pub(crate) fn checked_limit(limit: Option<u32>) -> Result<(), Invalid> {
    match limit {
        None | Some(1..=CATCH_UP_LIMIT) => Ok(()),
        Some(_) => Err(Invalid::field("catchUpLimit", "must be 1 to 50")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Job;

    /// 2026-11-21 09:00 UTC, a Saturday.
    const NOW: i64 = 1_795_251_600_000;
    const HOUR: i64 = 3_600_000;

    fn hourly(catch_up: Value) -> Job {
        let mut params = json!({
            "name": "n", "schedule": {"kind": "every", "everyMs": HOUR},
            "sessionTarget": "main", "wakeMode": "now",
            "payload": {"kind": "systemEvent", "text": "t"},
        });
        if let (Value::Object(params), Value::Object(more)) = (&mut params, catch_up) {
            params.extend(more);
        }
        Job::new("j".to_owned(), params, NOW).unwrap()
    }

    /// When each is due, and whether it is run.
    fn due(job: &mut Job, now: i64) -> Vec<(i64, bool)> {
        let due = job.fall_due(now, CatchUp::Once).into_iter();
        due.map(|it| ((it.at_ms - NOW) / HOUR, it.skipped.is_none()))
            .collect()
    }

    #[test]
    fn fall_due_gives_each_time_once() {
        let mut job = hourly(json!({}));
        assert_eq!(due(&mut job, NOW + HOUR - 1), []);
        let first = job.fall_due(NOW + HOUR + 5, CatchUp::Once);
        assert_eq!(
            (first.len(), first[0].at_ms, first[0].cause),
            (1, NOW + HOUR, Cause::Schedule)
        );
        assert_eq!(due(&mut job, NOW + HOUR + 5), []);
        // The clock went back.
        assert_eq!(due(&mut job, NOW - 9 * HOUR), []);
        assert_eq!(due(&mut job, NOW + 2 * HOUR), [(2, true)]);
    }

    #[test]
    fn fall_due_catches_up_as_the_job_says() {
        let late = NOW + 4 * HOUR + HOUR / 2;
        let missed = |catch_up: Value| due(&mut hourly(catch_up), late);
        let skipped = [(1, false), (2, false), (3, false)];
        assert_eq!(missed(json!({})), [&skipped[..], &[(4, true)]].concat());
        assert_eq!(
            missed(json!({"catchUp": "skip"})),
            [&skipped[..], &[(4, false)]].concat()
        );
        assert_eq!(
            missed(json!({"catchUp": "all", "catchUpLimit": 2})),
            [(1, false), (2, false), (3, true), (4, true)]
        );
        let all = missed(json!({"catchUp": "all"}));
        assert!(all.iter().all(|(_, runs)| *runs), "{all:?}");
        // Those are missed, too, that are before one that comes in time.
        let mut job = hourly(json!({"catchUp": "skip"}));
        let due_all = job.fall_due(NOW + 3 * HOUR + 900, CatchUp::Once);
        let reasons: Vec<_> = due_all.iter().map(|it| it.skipped).collect();
        assert_eq!(reasons, [Some(NOT_CAUGHT_UP), Some(NOT_CAUGHT_UP), None]);
        // What comes in time is no miss.
        let mut job = hourly(json!({"catchUp": "skip"}));
        assert_eq!(due(&mut job, NOW + HOUR + 900), [(1, true)]);
    }

    #[test]
    fn fall_due_stands_for_what_is_too_much_to_note() {
        let mut job = hourly(json!({}));
        let late = NOW + 5000 * HOUR;
        let due = job.fall_due(late, CatchUp::Once);
        assert_eq!(due.len(), 51);
        assert_eq!(
            (due[0].at_ms, due[0].until_ms),
            (NOW + HOUR, NOW + 4951 * HOUR - 1)
        );
        assert_eq!(due[1].at_ms, NOW + 4951 * HOUR);
        assert_eq!(due.iter().filter(|it| it.skipped.is_none()).count(), 1);
        assert_eq!(due[50].at_ms, late);
        assert_eq!(job.next_ms(), Some(late + HOUR));
    }

    #[test]
    fn fall_due_is_refused_a_limit_that_is_none() {
        let params = json!({
            "name": "n", "schedule": {"kind": "every", "everyMs": HOUR},
            "sessionTarget": "main", "wakeMode": "now",
            "payload": {"kind": "systemEvent", "text": "t"}, "catchUp": "all", "catchUpLimit": 0,
        });
        let refused = Job::new("j".to_owned(), params, NOW).unwrap_err();
        assert!(refused.to_string().contains("catchUpLimit"), "{refused}");
    }
}
