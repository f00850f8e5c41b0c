//! What runs make of a job.

use crate::Job;
use crate::alert::{self, Alerts};
use crate::delivery::Delivered;
use crate::state::{Ended, FAILURES_LIMIT};

impl Job {
    /// A run begins.
    pub fn begin(&mut self, now: i64) {
        self.state.running_at_ms = Some(now);
    }

    /// A run that nobody knows of any more is over.
    pub fn forget_run(&mut self) {
        self.state.running_at_ms = None;
    }

    /// A run ended. Ten failures in a row switch the job off. Returns what
    /// somebody is to be told of that.
    /// `alerts` hold where the job does not say when.
    pub fn end(&mut self, ended: &Ended, alerts: &Alerts, now: i64) -> Option<String> {
        let failures = self.state.end(ended, self.needs_delivery());
        // What it does may be wanted although nobody can be told of it.
        let has_failed = ended.error.is_some() || ended.over_budget.is_some();
        let is_lost = has_failed && failures >= FAILURES_LIMIT;
        if is_lost || (self.schedule.is_once() && self.next_ms().is_none()) {
            self.enabled = false;
        }
        let own = self.rest.get("failureAlert");
        let policy = alert::policy(own, self.delivery.as_ref(), alerts);
        self.state.notice(policy, is_lost, now)
    }

    /// Notes what became of the result of its run that began `at_ms`, where that is the
    /// last one and ended before it was known. Returns what somebody is to be told.
    pub fn delivered(
        &mut self,
        at_ms: i64,
        delivered: &Delivered,
        alerts: &Alerts,
        now: i64,
    ) -> Option<String> {
        if !self
            .state
            .delivered(at_ms, delivered, self.needs_delivery())
        {
            return None;
        }
        let own = self.rest.get("failureAlert");
        let policy = alert::policy(own, self.delivery.as_ref(), alerts);
        self.state.notice(policy, false, now)
    }

    /// Whether it was there for one run, which `ended` and did what it was to do. Where
    /// that is to be told, that is part of it.
    pub fn is_done_with(&self, ended: &Ended) -> bool {
        let is_told = match &ended.delivered {
            Delivered::Failed(_) | Delivered::Waiting => !self.needs_delivery(),
            _ => true,
        };
        let has_failed = ended.error.is_some() || ended.over_budget.is_some();
        self.is_over() && is_told && !has_failed && !ended.is_skipped
    }

    /// Whether it was there for one run, which is the last that it had and began `at_ms`.
    pub fn is_over_since(&self, at_ms: i64) -> bool {
        self.is_over() && !self.is_running() && self.state.is_last(at_ms)
    }

    fn is_over(&self) -> bool {
        self.ends_with_its_run() && self.next_ms().is_none()
    }
}
