//! What happens in the core, as the clients are told of it.

use std::sync::{Arc, Weak};

use openclaw_protocol::scope::Scope;
use openclaw_runs::approvals::{Approval, Outcome};
use openclaw_runs::schedule::Job;
use openclaw_runs::{DomainEvent, JobAction, Subscriber};
use openclaw_sessions::now_ms;
use serde_json::{Value, json};

use super::audience::Audience;
use super::methods::injected;
use super::narrator;
use crate::server::Server;

/// Tells the clients of `server` whatever happens from now on.
pub(crate) fn subscribe(server: &Arc<Server>) {
    let clients = Clients(Arc::downgrade(server));
    server.core.bus.subscribe(Box::new(clients));
}

struct Clients(Weak<Server>);

impl Subscriber for Clients {
    fn take(&self, event: &DomainEvent<'_>) {
        let Some(server) = self.0.upgrade() else {
            return;
        };
        let hub = &server.hub;
        let approvers = Audience::Holders(Scope::Approvals);
        match *event {
            DomainEvent::RunBegan(run) => narrator::begun(&server, run),
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
            DomainEvent::Said {
                key,
                message_id,
                text,
            } => {
                let run_id = format!("inject-{message_id}");
                injected::tell(&server, key, &run_id, 0, injected::said(text, None));
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
