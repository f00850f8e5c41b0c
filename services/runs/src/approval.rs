//! A command that waits until somebody allows it.

pub(crate) mod origin;
mod pending;

use std::time::Duration;

use openclaw_proto::approval::Decision;
use serde_json::{Map, Value, json};

pub use openclaw_approval_log::ApprovalLog;
pub use pending::Pending;

/// How long an approval waits when nobody says otherwise, as in OpenClaw.
pub const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Why there is no approval, or no decision about one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing of that id waits.
    #[error("unknown or expired approval id")]
    Unknown,
    /// That decision was not offered; with the reason, if one is known.
    #[error("{decision} is not allowed for this approval{}", because(.why))]
    NotAllowed {
        /// The decision.
        decision: &'static str,
        /// Why it was not offered; empty: nobody said.
        why: String,
    },
    /// There is no room for one more.
    #[error("{0} approvals wait already")]
    TooMany(usize),
    /// The id that a client chose is in use.
    #[error("an approval with the id {0} waits already")]
    Taken(String),
    /// The turn that asks cannot be told; with the reason.
    #[error("the agent-runner does not answer ({0}); try again")]
    Unreachable(String),
}

fn because(why: &str) -> String {
    if why.is_empty() {
        String::new()
    } else {
        format!(": {why}; allow-once and deny are")
    }
}

/// Something that wants to be allowed.
#[derive(Debug, Clone)]
pub struct Approval {
    /// The id it is asked for by.
    pub id: String,
    /// The fields that clients see: command, cwd, session, run, …
    pub request: Map<String, Value>,
    /// When it was asked, in Unix milliseconds.
    pub created_ms: i64,
    /// When it is denied by itself, in Unix milliseconds.
    pub expires_ms: i64,
    /// Set when a turn asks, and no client.
    pub of_turn: Option<openclaw_proto::approval::Approval>,
}

/// How an approval ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Somebody decided.
    Decided(Decision),
    /// Nobody decided in time.
    Expired,
}

impl Approval {
    /// Whether the request lets this be decided; all but what it excludes.
    pub(crate) fn allows(&self, decision: Decision) -> bool {
        let excluded = self.request.get("unavailableDecisions");
        let excluded = excluded.and_then(Value::as_array).into_iter().flatten();
        !excluded
            .into_iter()
            .any(|it| it.as_str() == Some(decision.as_str()))
    }

    /// A field of the request.
    pub fn text(&self, field: &str) -> &str {
        let value = self.request.get(field);
        value.and_then(Value::as_str).unwrap_or_default()
    }

    /// As `exec.approval.requested` and `exec.approval.list` have it.
    pub fn to_json(&self) -> Value {
        let mut request = self.request.clone();
        let allowed: Vec<&str> = Decision::ALL
            .into_iter()
            .filter(|decision| self.allows(*decision))
            .map(Decision::as_str)
            .collect();
        request.insert("allowedDecisions".to_owned(), json!(allowed));
        json!({
            "approvalKind": "exec",
            "id": self.id,
            "request": request,
            "createdAtMs": self.created_ms,
            "expiresAtMs": self.expires_ms,
        })
    }
}
