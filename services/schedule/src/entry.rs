//! How a run ended, as it is kept and as clients are told of it.

use openclaw_sessions::SessionKey;
use serde_json::{Value, json};

use crate::perform::{Outcome, Run};
use openclaw_jobs::{Delivered, Job};

/// Characters of a run's summary. All of it is in the session.
const SUMMARY_LIMIT: usize = 2000;

/// What a webhook is told of a run, in OpenClaw's fields.
pub(crate) fn event(run: &Run, ended_ms: i64, outcome: &Outcome) -> Value {
    json!({
        "action": "finished",
        "jobId": run.job.id(),
        "jobName": run.job.name,
        "runId": run.id,
        "runAtMs": run.started_ms,
        "durationMs": (ended_ms - run.started_ms).max(0),
        "ts": ended_ms,
        "status": outcome.status(),
        "summary": outcome.summary(),
        "error": outcome.error(),
    })
}

/// What one is told of a job that fails, or does so no more.
pub(crate) fn alert(job: &Job, text: &str, now: i64) -> Value {
    json!({
        "action": "failure-alert", "jobId": job.id(), "jobName": job.name, "ts": now,
        "text": text, "lastStatus": job.last_status(),
    })
}

/// The entry of a run in OpenClaw's fields, of the job as it is when that is
/// written, and of how it passed its budget.
pub(crate) fn of(
    run: &Run,
    ended_ms: i64,
    key: Option<&SessionKey>,
    outcome: &Outcome,
    delivered: &Delivered,
) -> impl FnOnce(&Job, Option<&str>) -> Value + Send + use<> {
    let (run_id, started_ms) = (run.id.clone(), run.started_ms);
    let status = outcome.status();
    let (key, delivered) = (key.map(|key| json!(key.as_str())), delivered.clone());
    let summary = outcome.summary().map(|text| {
        let cut: String = text.chars().take(SUMMARY_LIMIT).collect();
        cut
    });
    let failed = matches!(outcome, Outcome::Failed(_));
    let error = outcome.error().map(str::to_owned);
    move |job: &Job, over_budget: Option<&str>| {
        let undelivered = matches!(delivered, Delivered::Failed(_)) && job.needs_delivery();
        let failed = failed || undelivered || over_budget.is_some();
        let error = error.or_else(|| over_budget.map(str::to_owned));
        let mut entry = json!({
            "ts": ended_ms,
            "jobId": job.id(),
            "action": "finished",
            "status": status,
            "completionStatus": if failed { "failed" } else { "succeeded" },
            "runId": run_id,
            "runAtMs": started_ms,
            "durationMs": (ended_ms - started_ms).max(0),
            "delivered": delivered == Delivered::Yes,
            "deliveryStatus": delivered.status(),
            "jobName": job.name,
        });
        let delivery_error = match &delivered {
            Delivered::Failed(error) => Some(error.as_str()),
            _ => None,
        };
        let reason = match delivered {
            Delivered::Suppressed(reason) => Some(reason),
            _ => None,
        };
        for (name, value) in [
            ("summary", summary.map(Value::from)),
            ("error", error.map(Value::from)),
            ("deliveryError", delivery_error.map(Value::from)),
            ("deliverySuppressionReason", reason.map(Value::from)),
            ("sessionKey", key),
            ("nextRunAtMs", job.next_ms().map(Value::from)),
        ] {
            if let Some(value) = value {
                entry[name] = value;
            }
        }
        entry
    }
}
