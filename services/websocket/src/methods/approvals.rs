//! `exec.approval.*`: commands that wait until somebody allows them.

use std::time::Duration;

use openclaw_proto::approval::Decision;
use openclaw_protocol::params::Filled;
use openclaw_protocol::{Code, Failure};
use openclaw_runs::approval::{self, Approval, Outcome, Refused};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Call};

methods! {
    "exec.approval.get" => APPROVALS, get;
    "exec.approval.list" => APPROVALS, list;
    "exec.approval.request" => APPROVALS, request;
    "exec.approval.resolve" => APPROVALS, resolve;
    "exec.approval.waitDecision" => APPROVALS, wait;
}

/// The longest an approval may be asked to wait, in milliseconds.
const PATIENCE_LIMIT_MS: u64 = 24 * 3600 * 1000;

fn failed(refused: Refused) -> Failure {
    let message = refused.to_string();
    match refused {
        Refused::Unknown => Failure::new(Code::ApprovalNotFound, message),
        Refused::TooMany(_) | Refused::Unreachable(_) => Failure::unavailable(message),
        Refused::NotAllowed { .. } | Refused::Taken(_) => Failure::invalid(message),
    }
}

/// `exec.approval.list`
async fn list(call: Call) -> Result<Answer, Failure> {
    let waiting = call.context.core.approvals.pending.waiting();
    Ok(Value::Array(waiting.iter().map(Approval::to_json).collect()).into())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ById {
    id: Filled,
}

/// `exec.approval.get`
async fn get(mut call: Call) -> Result<Answer, Failure> {
    let params: ById = call.params()?;
    Ok(call
        .context
        .core
        .approvals
        .pending
        .find(&params.id)
        .map_err(failed)?
        .to_json()
        .into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resolve {
    id: Filled,
    decision: Filled,
    #[serde(rename = "reviewer")]
    _reviewer: Option<Value>,
    grant_expires_in_days: Option<u32>,
}

/// `exec.approval.resolve`
async fn resolve(mut call: Call) -> Result<Answer, Failure> {
    let params: Resolve = call.params()?;
    if params.grant_expires_in_days.is_some() {
        let problem = "at /grantExpiresInDays: is not offered: allow-always holds until it is \
                       taken back; leave it out, or allow once";
        return Err(Failure::params(call.method, problem));
    }
    decide(&call, &params.id, &params.decision).await?;
    Ok(json!({ "ok": true }).into())
}

/// Decides, and tells those who may decide.
pub(super) async fn decide(call: &Call, id: &str, decision: &str) -> Result<Approval, Failure> {
    let decision = Decision::parse(decision)
        .ok_or_else(|| Failure::invalid("invalid decision: allow-once, allow-always or deny"))?;
    let by = call.client.identity.id.as_str();
    call.context
        .core
        .approvals
        .decide(id, decision, by)
        .await
        .map_err(failed)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    id: Option<Filled>,
    command: Option<Filled>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    two_phase: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// `exec.approval.request`: waits for the decision, unless the client wants to
/// wait for it later.
async fn request(mut call: Call) -> Result<Answer, Failure> {
    let params: Request = call.params()?;
    let command = params
        .command
        .ok_or_else(|| Failure::params(call.method, "must have required property 'command'"))?;
    let mut shown = params.rest;
    shown.insert("command".to_owned(), json!(command.0));
    let patience = params.timeout_ms.map_or(approval::PATIENCE, |ms| {
        Duration::from_millis(ms.clamp(1, PATIENCE_LIMIT_MS))
    });
    let id = params.id.map(|id| id.0);
    let approval = call
        .context
        .core
        .approvals
        .request(id, shown, patience)
        .map_err(failed)?;
    if params.two_phase {
        return Ok(json!({
            "status": "accepted",
            "id": approval.id,
            "createdAtMs": approval.created_ms,
            "expiresAtMs": approval.expires_ms,
        })
        .into());
    }
    decided(&call, &approval.id).await
}

/// `exec.approval.waitDecision`
async fn wait(mut call: Call) -> Result<Answer, Failure> {
    let params: ById = call.params()?;
    decided(&call, &params.id).await
}

async fn decided(call: &Call, id: &str) -> Result<Answer, Failure> {
    let (approval, outcome) = call
        .context
        .core
        .approvals
        .pending
        .wait(id)
        .await
        .map_err(failed)?;
    let decision = match outcome {
        Outcome::Decided(decision) => Some(decision.as_str()),
        Outcome::Expired => None,
    };
    Ok(json!({
        "id": approval.id,
        "decision": decision,
        "createdAtMs": approval.created_ms,
        "expiresAtMs": approval.expires_ms,
    })
    .into())
}
