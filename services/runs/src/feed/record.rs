//! Events outside the storage that the ledger keeps.

use openclaw_conversations::feed::{Happening, Kind};
use openclaw_conversations::storage::Storage;
use openclaw_sessions::{SessionKey, now_ms};

use crate::approval::{Approval, Outcome};
use crate::bus::{DomainEvent, Subscriber};

/// Characters of a command that are kept; the list of approvals has all of it.
const COMMAND_LENGTH: usize = 1000;

/// Keeps approvals and system events.
pub(crate) struct Recorder(pub(crate) Storage);

impl Subscriber for Recorder {
    fn take(&self, event: &DomainEvent<'_>) {
        match *event {
            DomainEvent::ApprovalRequested(approval) => self.0.record(asked(approval)),
            DomainEvent::ApprovalResolved {
                approval,
                outcome,
                by,
            } => self.0.record(decided(approval, outcome, by)),
            DomainEvent::SystemEvent { key, text } => self.0.record(system_event(key, text)),
            _ => {}
        }
    }
}

fn asked(approval: &Approval) -> Happening {
    let of_turn = approval.of_turn.as_ref();
    let command = approval.text("command").chars();
    let kind = Kind::ApprovalAsked {
        id: approval.id.clone(),
        tool: of_turn.map_or_else(String::new, |it| it.tool.clone()),
        command: command.take(COMMAND_LENGTH).collect(),
        expires_ms: approval.expires_ms,
    };
    of(approval, kind)
}

fn decided(approval: &Approval, outcome: Outcome, by: &str) -> Happening {
    let decision = match outcome {
        Outcome::Decided(decision) => decision.as_str(),
        Outcome::Expired => "expired",
    };
    let kind = Kind::ApprovalDecided {
        id: approval.id.clone(),
        decision: decision.to_owned(),
        by: by.to_owned(),
    };
    of(approval, kind)
}

fn of(approval: &Approval, kind: Kind) -> Happening {
    let of_turn = approval.of_turn.as_ref();
    Happening {
        agent_id: approval.text("agentId").to_owned(),
        session_key: approval.text("sessionKey").to_owned(),
        run_id: of_turn.map_or_else(String::new, |it| it.run_id.clone()),
        at_ms: now_ms(),
        kinds: vec![kind],
    }
}

fn system_event(key: &SessionKey, text: &str) -> Happening {
    Happening {
        agent_id: key.agent().to_string(),
        session_key: key.to_string(),
        run_id: String::new(),
        at_ms: now_ms(),
        kinds: vec![Kind::SystemEvent {
            text: text.to_owned(),
        }],
    }
}
