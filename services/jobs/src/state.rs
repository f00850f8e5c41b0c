//! How a job went so far.

use serde::{Deserialize, Serialize};

use crate::alert::Policy;
use crate::delivery::Delivered;

/// Failures in a row after which a job is not run any more.
pub(super) const FAILURES_LIMIT: u64 = 10;

/// In OpenClaw's fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_run_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) running_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_run_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_duration_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consecutive_errors: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_delivered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_delivery_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_delivery_error: Option<String>,
    /// Somebody was told of the failures that go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_failure_alert_at_ms: Option<i64>,
}

/// How a run of a job ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// When, in Unix milliseconds.
    pub at_ms: i64,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
    /// Why it came to nothing.
    pub error: Option<String>,
    /// That it cost more than it might, in words.
    pub over_budget: Option<String>,
    /// What became of its result.
    pub delivered: Delivered,
    /// Nothing was to be done; `error` is none then.
    pub is_skipped: bool,
}

impl State {
    /// A run ended. It failed also when it `needs` delivery and was not delivered, and
    /// when it cost too much. Returns the number of failures in a row.
    pub(super) fn end(&mut self, ended: &Ended, needs: bool) -> u64 {
        let undelivered = match &ended.delivered {
            Delivered::Failed(why) if needs => Some(format!("not delivered: {why}")),
            _ => None,
        };
        let error = ended.error.clone().or(undelivered);
        let error = error.or_else(|| ended.over_budget.clone());
        self.last_run_at_ms = self.running_at_ms.take().or(Some(ended.at_ms));
        self.last_duration_ms = Some(ended.took_ms);
        let status = match &ended.error {
            Some(_) => "error",
            None if ended.is_skipped => "skipped",
            None => "ok",
        };
        self.last_run_status = Some(status.to_owned());
        let before = self.consecutive_errors.unwrap_or(0);
        let failures = match error {
            Some(_) => before + 1,
            None if ended.is_skipped => before,
            None => 0,
        };
        self.last_error = error;
        self.consecutive_errors = Some(failures);
        self.last_delivered = Some(ended.delivered == Delivered::Yes);
        self.last_delivery_status = Some(ended.delivered.status().to_owned());
        self.last_delivery_error = match &ended.delivered {
            Delivered::Failed(error) => Some(error.clone()),
            _ => None,
        };
        failures
    }

    /// What became of the result of the last run, if that began `at_ms`, is known now;
    /// whether it is such a failure as [`State::end`] says.
    pub(super) fn delivered(&mut self, at_ms: i64, delivered: &Delivered, needs: bool) -> bool {
        if !self.is_last(at_ms) {
            return false;
        }
        self.last_delivered = Some(*delivered == Delivered::Yes);
        self.last_delivery_status = Some(delivered.status().to_owned());
        let Delivered::Failed(why) = delivered else {
            return false;
        };
        self.last_delivery_error = Some(why.clone());
        if needs {
            self.last_error = Some(format!("not delivered: {why}"));
            self.consecutive_errors = Some(self.consecutive_errors.unwrap_or(0) + 1);
        }
        needs
    }

    /// Whether the last run began `at_ms`.
    pub(super) fn is_last(&self, at_ms: i64) -> bool {
        self.last_run_at_ms == Some(at_ms)
    }

    /// Whether a run began `at_ms` or later.
    pub(super) fn has_run_since(&self, at_ms: i64) -> bool {
        self.last_run_at_ms.is_some_and(|last| last >= at_ms)
    }

    /// The job is switched on: what went wrong before does not count.
    pub(super) fn forgive(&mut self) {
        self.consecutive_errors = None;
        self.last_failure_alert_at_ms = None;
    }

    /// What somebody is to be told who is told as `policy` says: that it fails, now
    /// and then while it does, and once that it does no more. That it `is_lost` is
    /// told whatever that says.
    pub(super) fn notice(
        &mut self,
        policy: Option<Policy>,
        is_lost: bool,
        now: i64,
    ) -> Option<String> {
        let failures = self.consecutive_errors.unwrap_or(0);
        // A clock that was set back does not silence it.
        let has_rested = |policy: Policy| {
            let last = self.last_failure_alert_at_ms.filter(|last| *last <= now);
            last.is_none_or(|last| now - last >= policy.cooldown_ms)
        };
        let is_told = policy.is_some_and(|it| failures >= it.after && has_rested(it));
        match &self.last_error {
            Some(error) if is_lost => {
                self.last_failure_alert_at_ms = Some(now);
                let failed = failed(failures);
                Some(format!("{failed} and is switched off: {error}"))
            }
            Some(error) if is_told => {
                self.last_failure_alert_at_ms = Some(now);
                Some(format!("{}: {error}", failed(failures)))
            }
            None if failures == 0 && self.last_failure_alert_at_ms.take().is_some() => {
                Some("This job works again.".to_owned())
            }
            _ => None,
        }
    }
}

fn failed(failures: u64) -> String {
    match failures {
        0 | 1 => "This job failed".to_owned(),
        failures => format!("This job failed {failures} times in a row"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(error: Option<&str>) -> Ended {
        Ended {
            at_ms: 1,
            took_ms: 1,
            error: error.map(str::to_owned),
            over_budget: None,
            delivered: Delivered::NotRequested,
            is_skipped: false,
        }
    }

    const POLICY: Option<Policy> = Some(Policy {
        after: 2,
        cooldown_ms: 100,
    });

    #[test]
    fn failures_are_told_now_and_then_and_so_is_their_end() {
        let mut state = State::default();
        let mut told = Vec::new();
        let no = Some("no");
        for (error, now) in [
            (no, 5),
            (no, 6),
            (no, 105),
            (no, 106),
            (None, 107),
            (None, 108),
        ] {
            state.end(&ended(error), true);
            told.push(state.notice(POLICY, false, now).unwrap_or_default());
        }
        let expected = [
            "",
            "This job failed 2 times in a row: no",
            "",
            "This job failed 4 times in a row: no",
            "This job works again.",
            "",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn first_failure_is_no_row() {
        let mut state = State::default();
        state.end(&ended(Some("no")), true);
        let first = Some(Policy {
            after: 1,
            cooldown_ms: 100,
        });
        let told = state.notice(first, false, 5);
        assert_eq!(told.as_deref(), Some("This job failed: no"));
    }

    #[test]
    fn failure_is_told_after_the_clock_was_set_back() {
        let mut state = State::default();
        for (now, is_told) in [(1000, false), (1000, true), (500, true), (501, false)] {
            state.end(&ended(Some("no")), true);
            assert_eq!(state.notice(POLICY, false, now).is_some(), is_told, "{now}");
        }
    }

    #[test]
    fn last_failure_is_told_whoever_wants_none() {
        let mut state = State::default();
        for _ in 0..FAILURES_LIMIT {
            state.end(&ended(Some("no")), true);
        }
        assert_eq!(state.notice(None, false, 5), None);
        let last = state.notice(None, true, 5);
        assert!(last.unwrap().contains("switched off"));
    }
}
