//! Approvals of turns: asked in a run's events, answered through the runner.

use std::time::Duration;

use openclaw_conversations::database::Database;
use openclaw_daemon::{Configuration, failure};
use openclaw_proto::approval::{self, ApprovalRequested, ApprovalResolved, Decision};
use openclaw_proto::call::{Patience, RefusalCode};
use openclaw_proto::event::Kind;
use openclaw_proto::outbox::Place;
use openclaw_proto::runner;
use openclaw_sessions::now_ms;
use openclaw_settings::Settings;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use uuid::Uuid;

use crate::approval::{Approval, ApprovalLog, Outcome, Pending, Refused, origin};
use crate::bus::{Bus, DomainEvent};
use crate::run::{Registry, Run};

/// How long a runner that is being started again is waited for.
const ABSENCE: Duration = Duration::from_secs(10);

/// How long a turn may take to say what became of a decision that its runner has. One that
/// says nothing hears of it when it goes on.
const SAID: Duration = Duration::from_secs(2);

/// Approvals: asked, decided and announced.
pub struct Approvals {
    /// The waiting approvals.
    pub pending: Pending,
    /// The log of approvals.
    pub log: ApprovalLog,
    configuration: Configuration,
    runner: runner::Client,
    bus: Bus,
}

impl Approvals {
    pub(crate) fn new(
        database: Database,
        configuration: Configuration,
        runner: runner::Client,
        bus: Bus,
    ) -> Self {
        Self {
            pending: Pending::default(),
            log: ApprovalLog::new(database),
            configuration,
            runner,
            bus,
        }
    }

    /// Enters a client's request, which waits for `patience`, and tells those who may decide.
    pub fn request(
        &self,
        id: Option<String>,
        request: Map<String, Value>,
        patience: Duration,
    ) -> Result<Approval, Refused> {
        let approval = self.pending.request(id, request, patience)?;
        self.bus.publish(&DomainEvent::ApprovalRequested(&approval));
        Ok(approval)
    }

    /// Takes note of what a run says about approvals.
    pub(crate) async fn observe(&self, run: &Run, kind: &Kind) {
        match kind {
            Kind::ApprovalRequested(request) => self.requested(run, request).await,
            Kind::ApprovalResolved(resolved) => self.resolved_in(resolved).await,
            _ => {}
        }
    }

    async fn requested(&self, run: &Run, request: &ApprovalRequested) {
        let now = now_ms();
        let request = &on_screen(request.clone());
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
            only_once: request.only_once.clone(),
            terms: request.terms.clone(),
            origin: run.route.as_ref().map(origin::of).unwrap_or_default(),
            ..approval::Approval::default()
        };
        let entered = Approval {
            id: request.id.clone(),
            request: shown(&self.configuration.settings(), run, request),
            created_ms: now,
            expires_ms: request.expires_ms,
            of_turn: Some(kept.clone()),
        };
        if let Err(fault) = self.log.asked(kept).await {
            failure::report("note an approval", &fault);
        }
        match self.pending.enter(entered.clone()) {
            Ok(()) => self.bus.publish(&DomainEvent::ApprovalRequested(&entered)),
            // It expires, and says so; the ledger has it.
            Err(refused) => tracing::warn!(%refused, "an approval cannot be offered"),
        }
    }

    async fn resolved_in(&self, resolved: &ApprovalResolved) {
        let outcome = match resolved.decision {
            Some(decision) => Outcome::Decided(decision),
            None => Outcome::Expired,
        };
        let (id, by) = (resolved.id.clone(), resolved.by.clone());
        let decided = self.log.decided(id, resolved.decision, by, now_ms());
        if let Err(fault) = decided.await {
            failure::report("note a decision", &fault);
        }
        self.settle(&resolved.id, outcome, &resolved.by);
    }

    /// Ends what waits in a run that is over.
    pub(crate) async fn run_ended(&self, run_id: &str) {
        let left = self.pending.of_run(run_id);
        if left.is_empty() {
            return;
        }
        if let Err(fault) = self.log.run_ended(run_id.to_owned(), now_ms()).await {
            failure::report("end approvals", &fault);
        }
        for id in left {
            self.settle(&id, Outcome::Expired, "the run ended");
        }
    }

    /// Tells everybody, once.
    fn settle(&self, id: &str, outcome: Outcome, by: &str) {
        if let Some(approval) = self.pending.settle(id, outcome) {
            self.announce(&approval, outcome, by);
        }
    }

    fn announce(&self, approval: &Approval, outcome: Outcome, by: &str) {
        self.bus.publish(&DomainEvent::ApprovalResolved {
            approval,
            outcome,
            by,
        });
    }

    /// Whether what waits under the whole `id` is about a message that came by the account of
    /// that channel. Of what does not wait whoever decides hears so.
    pub fn came_by(&self, id: &str, account: (&str, &str), runs: &Registry) -> bool {
        let Ok(approval) = self.pending.find(id) else {
            return true;
        };
        let of_turn = approval.of_turn.as_ref();
        let run = of_turn.and_then(|of_turn| runs.find(&of_turn.run_id));
        let place = run.and_then(|run| Some(Place::of_route(&run.channel, run.route.as_ref()?)));
        let is_there = |it: Place| (it.channel.as_str(), it.account.as_str()) == account;
        approval.id == id && place.is_some_and(is_there)
    }

    /// Decides about what waits under `id`, of which the beginning is enough, and
    /// tells whoever waits and everybody else.
    pub async fn decide(
        &self,
        id: &str,
        decision: Decision,
        by: &str,
    ) -> Result<Approval, Refused> {
        let approval = self.pending.find(id)?;
        if !approval.allows(decision) {
            return Err(Refused::NotAllowed {
                decision: decision.as_str(),
                why: approval.text("onlyOnce").to_owned(),
            });
        }
        let of_turn = approval.of_turn.as_ref();
        let run_id = of_turn.map_or_else(String::new, |of_turn| of_turn.run_id.clone());
        if let Some(of_turn) = of_turn {
            self.tell_runner(&of_turn.run_id, &approval.id, decision, by)
                .await?;
        }
        self.settled_as(&approval, decision, by).await?;
        // The turn that asked has the line of the journal.
        tracing::debug!(
            openclaw_session = approval.text("sessionKey"),
            openclaw_run = run_id,
            decision = decision.as_str(),
            by,
            "an approval was decided"
        );
        Ok(approval)
    }

    /// Ends the approval with this decision, unless it ended otherwise: of a turn's own what the
    /// turn says counts, which may have given up or heard of somebody else's first.
    async fn settled_as(
        &self,
        approval: &Approval,
        decision: Decision,
        by: &str,
    ) -> Result<(), Refused> {
        let outcome = Outcome::Decided(decision);
        if approval.of_turn.is_some()
            && let Ok(said) = timeout(SAID, self.pending.outcome(&approval.id)).await
        {
            let is_this = said == Some(outcome);
            return is_this.then_some(()).ok_or(Refused::Unknown);
        }
        let approval = self.pending.settle(&approval.id, outcome);
        let approval = approval.ok_or(Refused::Unknown)?;
        self.announce(&approval, outcome, by);
        Ok(())
    }

    /// The runner has to have a decision. One that is being started again is waited for.
    async fn tell_runner(
        &self,
        run_id: &str,
        id: &str,
        decision: Decision,
        by: &str,
    ) -> Result<(), Refused> {
        // One that was lost before it could say that it has it is told the same.
        let key = Uuid::new_v4().to_string();
        let told = Patience::of(ABSENCE).with_absent().call(|| {
            let runner = &self.runner;
            runner.decide_approval(run_id, id, decision, (by, &key))
        });
        told.await.map_err(|error| match error.code() {
            Some(RefusalCode::NotFound | RefusalCode::AlreadyExists) => Refused::Unknown,
            _ => Refused::Unreachable(error.to_string()),
        })
    }
}

/// Rows of a question's tool and place, which have one each where they are short.
const NAMES_ROWS: usize = 2;

/// `request`, which can be allowed for good only where whoever decides has all of it before
/// them. Held here, because decisions come by doors that show no question: typed, or from
/// a client that looks at nothing.
fn on_screen(mut request: ApprovalRequested) -> ApprovalRequested {
    let names = [&request.tool, &request.cwd].map(|it| openclaw_escape::line(it));
    let rows = approval::rows(&openclaw_escape::block(&request.command))
        + names.iter().map(|it| approval::rows(it)).sum::<usize>();
    if !request.form.is_empty() && rows > approval::SCREEN_ROWS + NAMES_ROWS {
        request.form.clear();
        "it is longer than a screen".clone_into(&mut request.only_once);
    }
    request
}

/// As clients of OpenClaw's know it.
fn shown(settings: &Settings, run: &Run, request: &ApprovalRequested) -> Map<String, Value> {
    let agent = settings.agent(run.key.agent().as_str());
    let cwd = match (request.cwd.as_str(), agent) {
        ("", Some(agent)) => agent.workspace.display().to_string(),
        (cwd, _) => cwd.to_owned(),
    };
    let fields = json!({
        "command": request.command,
        // OpenClaw's clients show it instead of the command.
        "commandPreview": openclaw_escape::block(&request.command),
        "cwd": openclaw_escape::line(&cwd),
        "host": "sandbox",
        "security": "allowlist",
        "ask": agent.map(|agent| agent.may_ask(settings.sandbox.missing).name()),
        "reason": openclaw_escape::line(&request.reason),
        "toolName": openclaw_escape::line(&request.tool),
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
        let why = openclaw_escape::line(&request.only_once);
        fields.insert("onlyOnce".to_owned(), json!(why));
        let excluded = json!([Decision::AllowAlways.as_str()]);
        fields.insert("unavailableDecisions".to_owned(), excluded);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tool: &str, command: &str, cwd: &str) -> ApprovalRequested {
        ApprovalRequested {
            tool: tool.to_owned(),
            command: command.to_owned(),
            cwd: cwd.to_owned(),
            form: "line".to_owned(),
            ..ApprovalRequested::default()
        }
    }

    #[test]
    fn approvals_on_screen_grants_nothing_that_is_longer() {
        let short = asked("execute_shell", &"rm a\n".repeat(15), "/ws");
        assert_eq!(on_screen(short.clone()), short);
        let (long, lines) = (format!("rm {}", "a ".repeat(400)), "rm a\n".repeat(16));
        let hidden = "\u{200b}".repeat(100);
        for request in [
            asked("execute_shell", &long, "/ws"),
            asked("execute_shell", &lines, "/ws"),
            asked("execute_shell", &format!("rm a{hidden}"), "/ws"),
            asked("execute_shell", "rm a", &"/ws".repeat(300)),
            asked(&long, "{}", "/ws"),
        ] {
            let once = on_screen(request.clone());
            assert!(once.form.is_empty(), "{request:?}");
            assert_eq!(once.only_once, "it is longer than a screen");
        }
        let unsettled = ApprovalRequested {
            form: String::new(),
            only_once: "make obeys files".to_owned(),
            ..asked("execute_shell", &long, "/ws")
        };
        assert_eq!(on_screen(unsettled.clone()), unsettled);
    }
}
