//! Approvals over gRPC.

use openclaw_conversations::database::Fault;
use openclaw_daemon::failure;
use openclaw_proto::approval::{Approval, Approvals, Decision};
use openclaw_proto::wire::gateway as wire;
use openclaw_runs::approval::{self, Refused};
use tonic::Status;

use super::refused::unkept;
use crate::doors::Doors;

/// Who decides when the caller does not say.
const CALLER: &str = "cli";

/// Decided ones that are listed at most.
const LIMIT: u32 = 1000;

/// What waits, what was decided, what was allowed for good.
pub(super) async fn list(doors: &Doors, decided: u32) -> Result<Approvals, Status> {
    let waiting = doors.core.approvals.pending.waiting().into_iter();
    let (decided, grants) = tokio::join!(
        doors.core.approvals.log.history(decided.min(LIMIT)),
        doors.core.approvals.log.grants()
    );
    Ok(Approvals {
        waiting: waiting.map(described).collect(),
        decided: decided.map_err(unreadable)?,
        grants: grants.map_err(unreadable)?,
    })
}

/// Decides about one.
pub(super) async fn decide(
    doors: &Doors,
    request: wire::DecideApprovalRequest,
) -> Result<Approval, Status> {
    let decision = Decision::from_wire("DecideApprovalRequest", &request.decision)?;
    if request.id.is_empty() {
        return Err(Status::invalid_argument("the id is empty"));
    }
    let by = match request.by.as_str() {
        "" => CALLER,
        by => by,
    };
    let decided = doors.core.approvals.decide(&request.id, decision, by).await;
    decided.map(described).map_err(refused)
}

/// Takes a grant back.
pub(super) async fn revoke(doors: &Doors, request: wire::RevokeGrantRequest) -> Result<(), Status> {
    let wire::RevokeGrantRequest {
        agent_id,
        command,
        directory,
    } = request;
    let revoked = doors
        .core
        .approvals
        .log
        .revoke(agent_id, command, directory)
        .await;
    if revoked.map_err(unreadable)? {
        Ok(())
    } else {
        Err(Status::not_found("that command was not allowed for good"))
    }
}

/// A client's own request has no turn behind it.
fn described(approval: approval::Approval) -> Approval {
    approval.of_turn.clone().unwrap_or_else(|| Approval {
        id: approval.id.clone(),
        session_key: approval.text("sessionKey").to_owned(),
        agent_id: approval.text("agentId").to_owned(),
        command: approval.text("command").to_owned(),
        cwd: approval.text("cwd").to_owned(),
        created_ms: approval.created_ms,
        expires_ms: approval.expires_ms,
        ..Approval::default()
    })
}

fn refused(refused: Refused) -> Status {
    let message = refused.to_string();
    match refused {
        Refused::Unknown => Status::not_found(message),
        Refused::NotAllowed { .. } => Status::failed_precondition(message),
        Refused::TooMany(_) => Status::resource_exhausted(message),
        Refused::Taken(_) => Status::already_exists(message),
        Refused::Unreachable(_) => Status::unavailable(message),
    }
}

fn unreadable(fault: Fault) -> Status {
    failure::report("use the ledger", &fault);
    unkept(&fault)
}
