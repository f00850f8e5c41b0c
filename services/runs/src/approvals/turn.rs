//! Approvals of turns: asked in a run's events, answered through the runner.

use std::time::Duration;

use openclaw_daemon::failure;
use openclaw_proto::approval::{self, ApprovalRequested, ApprovalResolved, Decision};
use openclaw_proto::event::Kind;
use openclaw_sessions::now_ms;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use tonic::{Code, Status};

use super::{Approval, Outcome, Refused};
use crate::bus::DomainEvent;
use crate::core::Core;
use crate::run::Run;

/// How long a runner that is being started again is waited for.
const ABSENCE: Duration = Duration::from_secs(10);

/// Between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes note of what a run says about approvals.
pub(crate) async fn observe(core: &Core, run: &Run, kind: &Kind) {
    match kind {
        Kind::ApprovalRequested(request) => requested(core, run, request).await,
        Kind::ApprovalResolved(resolved) => resolved_in(core, resolved).await,
        _ => {}
    }
}

async fn requested(core: &Core, run: &Run, request: &ApprovalRequested) {
    let now = now_ms();
    let kept = approval::Approval {
        id: request.id.clone(),
        run_id: run.id.clone(),
        session_key: run.key.as_str().to_owned(),
        agent_id: run.key.agent().as_str().to_owned(),
        tool: request.tool.clone(),
        command: request.command.clone(),
        cwd: request.cwd.clone(),
        reason: request.reason.clone(),
        created_ms: now,
        expires_ms: request.expires_ms,
        form: request.form.clone(),
        ..approval::Approval::default()
    };
    let entered = Approval {
        id: request.id.clone(),
        request: shown(core, run, request),
        created_ms: now,
        expires_ms: request.expires_ms,
        of_turn: Some(kept.clone()),
    };
    if let Err(fault) = core.approval_log.asked(kept).await {
        failure::report("note an approval", &fault);
    }
    match core.approvals.enter(entered.clone()) {
        Ok(()) => core.bus.publish(&DomainEvent::ApprovalRequested(&entered)),
        // It expires, and says so; the ledger has it.
        Err(refused) => tracing::warn!(%refused, "an approval cannot be offered"),
    }
}

/// As clients of OpenClaw's know it.
fn shown(core: &Core, run: &Run, request: &ApprovalRequested) -> Map<String, Value> {
    let settings = core.configuration.settings();
    let agent = settings.agent(run.key.agent().as_str());
    let cwd = match (request.cwd.as_str(), agent) {
        ("", Some(agent)) => agent.workspace.display().to_string(),
        (cwd, _) => cwd.to_owned(),
    };
    let fields = json!({
        "command": request.command,
        // OpenClaw's clients show it instead of the command.
        "commandPreview": openclaw_escape::block(&request.command),
        "cwd": cwd,
        "host": "sandbox",
        "security": "allowlist",
        "ask": agent.map(|agent| agent.ask(agent.sandbox.level).name()),
        "reason": request.reason,
        "toolName": request.tool,
        "toolCallId": request.call_id,
        "agentId": run.key.agent().as_str(),
        "sessionKey": run.key.as_str(),
        "runId": run.public_id(),
        "turnSourceChannel": run.channel,
    });
    let mut fields = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    // What cannot be granted is not offered.
    if request.form.is_empty() {
        let excluded = json!([Decision::AllowAlways.as_str()]);
        fields.insert("unavailableDecisions".to_owned(), excluded);
    }
    fields
}

async fn resolved_in(core: &Core, resolved: &ApprovalResolved) {
    let outcome = match resolved.decision {
        Some(decision) => Outcome::Decided(decision),
        None => Outcome::Expired,
    };
    let (id, by) = (resolved.id.clone(), resolved.by.clone());
    let decided = core
        .approval_log
        .decided(id, resolved.decision, by, now_ms());
    if let Err(fault) = decided.await {
        failure::report("note a decision", &fault);
    }
    settle(core, &resolved.id, outcome, &resolved.by);
}

/// Ends what waits in a run that is over.
pub(crate) async fn run_ended(core: &Core, run_id: &str) {
    let left = core.approvals.of_run(run_id);
    if left.is_empty() {
        return;
    }
    if let Err(fault) = core
        .approval_log
        .run_ended(run_id.to_owned(), now_ms())
        .await
    {
        failure::report("end approvals", &fault);
    }
    for id in left {
        settle(core, &id, Outcome::Expired, "the run ended");
    }
}

/// Tells everybody, once.
fn settle(core: &Core, id: &str, outcome: Outcome, by: &str) {
    if let Some(approval) = core.approvals.settle(id, outcome) {
        announce(core, &approval, outcome, by);
    }
}

fn announce(core: &Core, approval: &Approval, outcome: Outcome, by: &str) {
    core.bus.publish(&DomainEvent::ApprovalResolved {
        approval,
        outcome,
        by,
    });
}

/// Decides about what waits under `id`, of which the beginning is enough, and
/// tells whoever waits and everybody else.
pub async fn decide(
    core: &Core,
    id: &str,
    decision: Decision,
    by: &str,
) -> Result<Approval, Refused> {
    let approval = core.approvals.find(id)?;
    if !approval.allows(decision) {
        return Err(Refused::NotAllowed(decision.as_str()));
    }
    let of_turn = approval.of_turn.as_ref();
    let run_id = of_turn.map_or_else(String::new, |of_turn| of_turn.run_id.clone());
    if let Some(of_turn) = of_turn {
        tell_runner(core, &of_turn.run_id, &approval.id, decision, by).await?;
    }
    let outcome = Outcome::Decided(decision);
    match core.approvals.settle(&approval.id, outcome) {
        Some(approval) => announce(core, &approval, outcome, by),
        // The turn was faster to say what the runner was told just now.
        None if approval.of_turn.is_some() => {}
        None => return Err(Refused::Unknown),
    }
    tracing::info!(
        openclaw_session = approval.text("sessionKey"),
        openclaw_run = run_id,
        decision = decision.as_str(),
        by,
        "an approval was decided"
    );
    Ok(approval)
}

/// A decision counts when the runner has it. One that is being started again
/// is waited for.
async fn tell_runner(
    core: &Core,
    run_id: &str,
    id: &str,
    decision: Decision,
    by: &str,
) -> Result<(), Refused> {
    let patient_until = Instant::now() + ABSENCE;
    loop {
        let told = core.runner.decide_approval(run_id, id, decision, by);
        match told.await {
            Ok(()) => return Ok(()),
            Err(status) if is_absent(&status) && Instant::now() < patient_until => {
                sleep(PAUSE).await;
            }
            Err(status) => {
                return Err(match status.code() {
                    Code::NotFound | Code::AlreadyExists => Refused::Unknown,
                    _ => Refused::Unreachable(status.message().to_owned()),
                });
            }
        }
    }
}

fn is_absent(status: &Status) -> bool {
    matches!(status.code(), Code::Unavailable | Code::Unknown)
}
