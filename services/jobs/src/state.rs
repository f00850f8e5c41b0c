//! How a job went so far.

use serde::{Deserialize, Serialize};

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
    /// What became of its result.
    pub delivered: Delivered,
    /// Nothing was to be done; `error` is none then.
    pub is_skipped: bool,
}

impl State {
    /// A run ended. Returns the failures in a row.
    pub(super) fn end(&mut self, ended: &Ended) -> u64 {
        self.last_run_at_ms = self.running_at_ms.take().or(Some(ended.at_ms));
        self.last_duration_ms = Some(ended.took_ms);
        let status = match &ended.error {
            Some(_) => "error",
            None if ended.is_skipped => "skipped",
            None => "ok",
        };
        self.last_run_status = Some(status.to_owned());
        self.last_error.clone_from(&ended.error);
        let before = self.consecutive_errors.unwrap_or(0);
        let failures = match ended.error {
            Some(_) => before + 1,
            None if ended.is_skipped => before,
            None => 0,
        };
        self.consecutive_errors = Some(failures);
        self.last_delivered = Some(ended.delivered == Delivered::Yes);
        self.last_delivery_status = Some(ended.delivered.status().to_owned());
        self.last_delivery_error = match &ended.delivered {
            Delivered::Failed(error) => Some(error.clone()),
            _ => None,
        };
        failures
    }

    /// What somebody is to be told who is told after so many failures in a row:
    /// once that it fails, and once that it does no more.
    pub(super) fn notice(&mut self, after: u64, now: i64) -> Option<String> {
        let failures = self.consecutive_errors.unwrap_or(0);
        match &self.last_error {
            Some(error) if failures == FAILURES_LIMIT => {
                self.last_failure_alert_at_ms = Some(now);
                Some(format!(
                    "This job failed {failures} times in a row and is switched off: {error}"
                ))
            }
            Some(error) if failures >= after && self.last_failure_alert_at_ms.is_none() => {
                self.last_failure_alert_at_ms = Some(now);
                Some(format!(
                    "This job failed {failures} times in a row: {error}"
                ))
            }
            None if failures == 0 && self.last_failure_alert_at_ms.take().is_some() => {
                Some("This job works again.".to_owned())
            }
            _ => None,
        }
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
            delivered: Delivered::NotRequested,
            is_skipped: false,
        }
    }

    #[test]
    fn failures_are_told_once_and_so_is_their_end() {
        let mut state = State::default();
        let mut told = Vec::new();
        for error in [Some("no"), Some("no"), Some("no"), None, None] {
            state.end(&ended(error));
            told.push(state.notice(2, 5));
        }
        assert_eq!(told[0], None);
        assert_eq!(
            told[1].as_deref(),
            Some("This job failed 2 times in a row: no")
        );
        assert_eq!(told[2], None);
        assert_eq!(told[3].as_deref(), Some("This job works again."));
        assert_eq!(told[4], None);
    }

    #[test]
    fn the_last_failure_is_told_too() {
        let mut state = State::default();
        let mut last = None;
        for _ in 0..FAILURES_LIMIT {
            state.end(&ended(Some("no")));
            last = state.notice(2, 5);
        }
        assert!(last.unwrap().contains("switched off"));
    }
}
