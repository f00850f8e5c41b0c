//! The two families of a run's events, and how a run ends in them.

use openclaw_proto::event::{Code, Done, Failed};
use openclaw_sessions::now_ms;
use serde::Serialize;
use serde_json::{Value, json};

use super::RunReport;

/// The payload of `agent`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Agent<'a> {
    pub(super) run_id: &'a str,
    pub(super) stream: &'a str,
    pub(super) data: Value,
    pub(super) session_key: &'a str,
    pub(super) agent_id: &'a str,
    pub(super) session_id: &'a str,
    pub(super) seq: u64,
    pub(super) ts: i64,
    pub(super) is_heartbeat: bool,
}

/// The payload of `chat`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chat<'a> {
    pub(super) run_id: &'a str,
    pub(super) session_key: &'a str,
    pub(super) agent_id: &'a str,
    pub(super) seq: u64,
    #[serde(flatten)]
    pub(super) state: Value,
}

impl RunReport<'_> {
    pub(super) fn done(&mut self, done: &Done) {
        if self.run.is_absorbed() {
            // Answered with another run: the end alone.
            self.seq += 1;
            self.chat(json!({ "state": "final" }));
            return;
        }
        let ended_at = now_ms();
        if !self.is_cli() {
            self.lifecycle(json!({
                "phase": "finishing",
                "stopReason": done.stop_reason,
                "aborted": false,
                "endedAt": ended_at,
            }));
        }
        self.release_model();
        let effective = json!({ "provider": done.provider, "model": done.model });
        let disposition = if self.text.is_empty() {
            "silent"
        } else {
            "visible"
        };
        let data = json!({
            "phase": "end",
            "stopReason": done.stop_reason,
            "aborted": false,
            "startedAt": self.started_ms,
            "endedAt": ended_at,
            "terminalReply": { "disposition": disposition, "text": self.text },
            "terminalReceipt": {
                "runId": self.run_id,
                "sessionId": self.session_id,
                "turnId": self.run_id,
                "requested": { "provider": self.model.0, "model": self.model.1 },
                "effective": effective,
                "successfulToolNames": self.tools_done,
                "rerouted": false,
                "terminalDisposition": disposition,
            },
            "executionSettled": true,
        });
        self.lifecycle(data);
        let mut state = json!({ "state": "final", "stopReason": done.stop_reason });
        if !self.text.is_empty() {
            state["message"] = self.last_message();
        }
        self.chat(state);
        self.change = Some("done");
    }

    pub(super) fn failed(&mut self, failed: &Failed) {
        let ended_at = now_ms();
        let detail = json!({
            "provider": self.model.0,
            "model": self.model.1,
            "failoverReason": failed.code.as_str(),
        });
        let of_provider = is_of_provider(failed.code);
        if of_provider {
            self.lifecycle(json!({
                "phase": "finishing",
                "error": failed.message,
                "errorObservation": detail,
                "aborted": false,
                "endedAt": ended_at,
            }));
        }
        self.release_model();
        if of_provider {
            self.exhausted(failed);
        }
        let data = json!({
            "phase": "error",
            "aborted": false,
            "startedAt": self.started_ms,
            "endedAt": ended_at,
            "error": failed.message,
            "errorObservation": detail,
            "executionSettled": true,
        });
        self.lifecycle(data);
        let mut state = json!({
            "state": "error",
            "errorMessage": failed.message,
            "errorDetail": detail,
        });
        if let Some(kind) = error_kind(failed.code) {
            state["errorKind"] = json!(kind);
        }
        if !self.text.is_empty() {
            state["message"] = self.message();
        }
        self.chat(state);
        self.change = Some("error");
    }

    pub(super) fn aborted(&mut self, reason: &str) {
        let stop_reason = if reason == "user" { "rpc" } else { reason };
        let data = json!({
            "phase": "end",
            "status": "cancelled",
            "aborted": true,
            "stopReason": stop_reason,
            "startedAt": self.started_ms,
            "endedAt": now_ms(),
        });
        let mut state = json!({ "state": "aborted", "stopReason": stop_reason });
        if !self.text.is_empty() {
            state["message"] = self.message();
        }
        self.seq += 1;
        self.chat(state);
        self.seq -= 1;
        self.lifecycle(data);
        self.change = Some("aborted");
    }

    /// Nobody else can be asked.
    fn exhausted(&mut self, failed: &Failed) {
        self.lifecycle(json!({
            "phase": "fallback_step",
            "fallbackStepType": "fallback_step",
            "fallbackStepFromModel": format!("{}/{}", self.model.0, self.model.1),
            "fallbackStepFromFailureReason": failed.code.as_str(),
            "fallbackStepFromFailureDetail": failed.message,
            "fallbackStepFinalOutcome": "chain_exhausted",
        }));
    }

    fn release_model(&mut self) {
        self.lifecycle(json!({ "phase": "model", "provider": null, "model": null }));
    }
}

/// Whether another provider, or another key, might have answered.
fn is_of_provider(code: Code) -> bool {
    matches!(
        code,
        Code::Auth | Code::RateLimited | Code::Overloaded | Code::ModelError | Code::Network
    )
}

/// The kinds of failure that clients show differently.
fn error_kind(code: Code) -> Option<&'static str> {
    match code {
        Code::Timeout => Some("timeout"),
        Code::RateLimited => Some("rate_limit"),
        _ => None,
    }
}
