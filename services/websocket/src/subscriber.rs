//! Events of the core, translated for clients.

use std::sync::{Arc, Weak};

use openclaw_protocol::scope::Scope;
use openclaw_runs::approval::{Approval, Outcome};
use openclaw_runs::{DomainEvent, JobAction, Subscriber};
use openclaw_schedule::job::Job;
use openclaw_sessions::now_ms;
use serde_json::{Value, json};

use super::audience::Audience;
use super::hub::Hub;
use super::injected;
use super::run_report::RunReporter;

/// The clients, which are told whatever happens.
pub(crate) struct Clients {
    hub: Weak<Hub>,
    reporter: Weak<RunReporter>,
}

impl Clients {
    pub(crate) fn new(hub: &Arc<Hub>, reporter: &Arc<RunReporter>) -> Self {
        Self {
            hub: Arc::downgrade(hub),
            reporter: Arc::downgrade(reporter),
        }
    }
}

impl Subscriber for Clients {
    fn take(&self, event: &DomainEvent<'_>) {
        let (Some(hub), Some(reporter)) = (self.hub.upgrade(), self.reporter.upgrade()) else {
            return;
        };
        let approvers = Audience::Holders(Scope::Approvals);
        match *event {
            DomainEvent::RunBegan(run) => reporter.begun(run),
            DomainEvent::JobChanged {
                job_id,
                action,
                job,
                entry,
            } => hub.tell(Audience::Readers, "cron", || {
                changed(job_id, action, job, entry)
            }),
            DomainEvent::HeartbeatEnded(payload) => {
                hub.tell(Audience::Readers, "heartbeat", || payload);
            }
            DomainEvent::ApprovalRequested(approval) => {
                hub.tell(approvers, "exec.approval.requested", || approval.to_json());
            }
            DomainEvent::ApprovalResolved {
                approval,
                outcome,
                by,
            } => hub.tell(approvers, "exec.approval.resolved", || {
                resolved(approval, outcome, by)
            }),
            DomainEvent::SessionChanged { key, reason } => reporter.session_changed(key, reason),
            DomainEvent::Recorded(_)
            | DomainEvent::RunSaid { .. }
            | DomainEvent::SystemEvent { .. } => {}
            DomainEvent::Said {
                key,
                message_id,
                text,
            } => {
                let run_id = format!("inject-{message_id}");
                injected::tell(&hub, key, &run_id, 0, injected::said(text, None));
                reporter.said(key, message_id);
            }
        }
    }
}

fn changed(job_id: &str, action: JobAction, job: Option<&Job>, entry: Option<&Value>) -> Value {
    let mut event = json!({ "jobId": job_id, "action": action.as_str() });
    if let Some(job) = job {
        event["job"] = job.to_json();
        event["nextRunAtMs"] = json!(job.next_ms());
    }
    if let (Value::Object(event), Some(Value::Object(entry))) = (&mut event, entry) {
        for (name, value) in entry {
            event.entry(name).or_insert_with(|| value.clone());
        }
    }
    event
}

fn resolved(approval: &Approval, outcome: Outcome, by: &str) -> Value {
    let decision = match outcome {
        Outcome::Decided(decision) => decision.as_str(),
        Outcome::Expired => "deny",
    };
    json!({
        "id": approval.id,
        "decision": decision,
        "expired": outcome == Outcome::Expired,
        "resolvedBy": by,
        "ts": now_ms(),
        "request": approval.to_json()["request"],
    })
}
