//! Calls that wait until somebody allows them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;
pub use crate::terms::Terms;
use crate::wire::{gateway, run, runner};

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// This time.
    AllowOnce,
    /// This time, and from now on.
    AllowAlways,
    /// Not.
    Deny,
}

impl Decision {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AllowOnce, Self::AllowAlways, Self::Deny];

    /// The decision's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow-once",
            Self::AllowAlways => "allow-always",
            Self::Deny => "deny",
        }
    }

    /// The decision named `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|decision| decision.as_str() == name)
    }

    /// The decision in the field of a message.
    pub fn from_wire(message: &'static str, name: &str) -> Result<Self, Invalid> {
        Self::parse(name).ok_or_else(|| {
            let problem = format!("is {name:?}; allowed are allow-once, allow-always and deny");
            Invalid::because(message, "decision", problem)
        })
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A call waits until somebody allows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApprovalRequested {
    /// Names it.
    pub id: String,
    /// The call; empty when the backend does not say.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// What is to be run, as people read it.
    pub command: String,
    /// Where: absolute, links followed; empty: in the workspace.
    pub cwd: String,
    /// Why it does not just run.
    pub reason: String,
    /// When that counts as a no, in Unix milliseconds.
    pub expires_ms: i64,
    /// How the command was given: `line`, `words` or `call`. Empty: it can be
    /// allowed this time only.
    pub form: String,
    /// Why it can be allowed this time only; empty: it can be for good.
    pub only_once: String,
    /// How confined it would run.
    pub terms: Option<Terms>,
}

/// The call runs, or does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ApprovalResolved {
    /// Which one.
    pub id: String,
    /// `None`: nobody decided in time.
    pub decision: Option<Decision>,
    /// Who decided.
    pub by: String,
}

/// Rows that are on the smallest screen where people decide, a telephone's with the buttons,
pub const SCREEN_ROWS: usize = 16;
/// and characters of one.
const SCREEN_COLUMNS: usize = 40;

/// The rows of `shown` on that screen, about.
#[must_use]
pub fn rows(shown: &str) -> usize {
    let of_line = |line: &str| line.chars().count().div_ceil(SCREEN_COLUMNS).max(1);
    shown.split('\n').map(of_line).sum()
}

impl From<run::ApprovalRequested> for ApprovalRequested {
    fn from(request: run::ApprovalRequested) -> Self {
        Self {
            id: request.id,
            call_id: request.call_id,
            tool: request.tool,
            command: request.command,
            cwd: request.cwd,
            reason: request.reason,
            expires_ms: request.expires_ms,
            form: request.form,
            only_once: request.only_once,
            terms: request.terms.map(Into::into),
        }
    }
}

impl From<ApprovalRequested> for run::ApprovalRequested {
    fn from(request: ApprovalRequested) -> Self {
        Self {
            id: request.id,
            call_id: request.call_id,
            tool: request.tool,
            command: request.command,
            cwd: request.cwd,
            reason: request.reason,
            expires_ms: request.expires_ms,
            form: request.form,
            only_once: request.only_once,
            terms: request.terms.map(Into::into),
        }
    }
}

impl From<run::ApprovalResolved> for ApprovalResolved {
    fn from(resolved: run::ApprovalResolved) -> Self {
        Self {
            id: resolved.id,
            decision: Decision::parse(&resolved.decision),
            by: resolved.by,
        }
    }
}

impl From<ApprovalResolved> for run::ApprovalResolved {
    fn from(resolved: ApprovalResolved) -> Self {
        let decision = resolved.decision.map_or("", Decision::as_str);
        Self {
            id: resolved.id,
            decision: decision.to_owned(),
            by: resolved.by,
        }
    }
}

/// An approval as the gateway has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Names it; the beginning is enough.
    pub id: String,
    /// The run that waits.
    pub run_id: String,
    /// Its session.
    pub session_key: String,
    /// Its agent.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// What is to be run.
    pub command: String,
    /// Where: absolute, links followed; empty: in the workspace.
    pub cwd: String,
    /// Why it does not just run.
    pub reason: String,
    /// When it was asked, in Unix milliseconds.
    pub created_ms: i64,
    /// When it expires, in Unix milliseconds.
    pub expires_ms: i64,
    /// A decision, or `expired`; empty while it waits.
    pub decision: String,
    /// Who decided.
    pub by: String,
    /// When, in Unix milliseconds; 0 while it waits.
    pub decided_ms: i64,
    /// How the command was given: `line`, `words` or `call`. Empty: it can be
    /// allowed this time only.
    pub form: String,
    /// Why it can be allowed this time only, while it waits; empty: it can be for good.
    pub only_once: String,
    /// How confined it would run.
    pub terms: Option<Terms>,
    /// Who has the agent do it, and where, for people; empty: the owner, or it is
    /// decided already.
    pub origin: String,
}

/// A command that runs unasked: word for word, in its directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Whose.
    pub agent_id: String,
    /// The command.
    pub command: String,
    /// Since when, in Unix milliseconds.
    pub created_ms: i64,
    /// Who allowed it.
    pub by: String,
    /// Where it runs: absolute, links followed.
    pub directory: String,
    /// How it is given: `line`, `words` or `call`.
    pub form: String,
    /// How confined it ran when it was allowed. `None`: that was not noted yet, and it is
    /// asked about again.
    pub terms: Option<Terms>,
}

/// A command that was allowed for good, as a turn is told of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantedCommand {
    /// How it is given: `line`, `words` or `call`.
    pub form: String,
    /// The command.
    pub command: String,
    /// Where it runs: absolute, links followed.
    pub directory: String,
    /// How confined it ran when it was allowed.
    pub terms: Option<Terms>,
}

impl From<Grant> for GrantedCommand {
    fn from(grant: Grant) -> Self {
        Self {
            form: grant.form,
            command: grant.command,
            directory: grant.directory,
            terms: grant.terms,
        }
    }
}

impl From<runner::GrantedCommand> for GrantedCommand {
    fn from(granted: runner::GrantedCommand) -> Self {
        Self {
            form: granted.form,
            command: granted.command,
            directory: granted.directory,
            terms: granted.terms.map(Into::into),
        }
    }
}

impl From<GrantedCommand> for runner::GrantedCommand {
    fn from(granted: GrantedCommand) -> Self {
        Self {
            form: granted.form,
            command: granted.command,
            directory: granted.directory,
            terms: granted.terms.map(Into::into),
        }
    }
}

/// What waits, what was decided, and what was allowed for good.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Approvals {
    /// The oldest first.
    pub waiting: Vec<Approval>,
    /// The newest first.
    pub decided: Vec<Approval>,
    /// By agent and command.
    pub grants: Vec<Grant>,
}

impl From<gateway::Approval> for Approval {
    fn from(approval: gateway::Approval) -> Self {
        Self {
            id: approval.id,
            run_id: approval.run_id,
            session_key: approval.session_key,
            agent_id: approval.agent_id,
            tool: approval.tool,
            command: approval.command,
            cwd: approval.cwd,
            reason: approval.reason,
            created_ms: approval.created_ms,
            expires_ms: approval.expires_ms,
            decision: approval.decision,
            by: approval.by,
            decided_ms: approval.decided_ms,
            form: approval.form,
            only_once: approval.only_once,
            terms: approval.terms.map(Into::into),
            origin: approval.origin,
        }
    }
}

impl From<Approval> for gateway::Approval {
    fn from(approval: Approval) -> Self {
        Self {
            id: approval.id,
            run_id: approval.run_id,
            session_key: approval.session_key,
            agent_id: approval.agent_id,
            tool: approval.tool,
            command: approval.command,
            cwd: approval.cwd,
            reason: approval.reason,
            created_ms: approval.created_ms,
            expires_ms: approval.expires_ms,
            decision: approval.decision,
            by: approval.by,
            decided_ms: approval.decided_ms,
            form: approval.form,
            only_once: approval.only_once,
            terms: approval.terms.map(Into::into),
            origin: approval.origin,
        }
    }
}

impl From<gateway::Grant> for Grant {
    fn from(grant: gateway::Grant) -> Self {
        Self {
            agent_id: grant.agent_id,
            command: grant.command,
            created_ms: grant.created_ms,
            by: grant.by,
            directory: grant.directory,
            form: grant.form,
            terms: grant.terms.map(Into::into),
        }
    }
}

impl From<Grant> for gateway::Grant {
    fn from(grant: Grant) -> Self {
        Self {
            agent_id: grant.agent_id,
            command: grant.command,
            created_ms: grant.created_ms,
            by: grant.by,
            directory: grant.directory,
            form: grant.form,
            terms: grant.terms.map(Into::into),
        }
    }
}

impl From<gateway::ListApprovalsResponse> for Approvals {
    fn from(response: gateway::ListApprovalsResponse) -> Self {
        Self {
            waiting: response.waiting.into_iter().map(Into::into).collect(),
            decided: response.decided.into_iter().map(Into::into).collect(),
            grants: response.grants.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Approvals> for gateway::ListApprovalsResponse {
    fn from(approvals: Approvals) -> Self {
        Self {
            waiting: approvals.waiting.into_iter().map(Into::into).collect(),
            decided: approvals.decided.into_iter().map(Into::into).collect(),
            grants: approvals.grants.into_iter().map(Into::into).collect(),
        }
    }
}
