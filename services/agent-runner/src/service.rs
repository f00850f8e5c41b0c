//! The gRPC service and the daemon's life.

#![expect(clippy::disallowed_types, reason = "it serves gRPC")]

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use futures_util::{Stream, StreamExt as _};
use openclaw_backends::choice::{self, Choice};
use openclaw_backends::places;
use openclaw_config::programs;
use openclaw_daemon::{Configuration, Daemon, Notifier, failure};
use openclaw_handoff::decisions::{self, Decided};
use openclaw_handoff::meter::Meter;
use openclaw_handoff::{own_limits, spool, steering};
use openclaw_model_api::spending::Spending;
use openclaw_model_api::upstream::Upstream;
use openclaw_proto::approval::Decision;
use openclaw_proto::call;
use openclaw_proto::memory;
use openclaw_proto::runner::{Alarm, Purpose, Turn};
use openclaw_proto::wire::run as wire_run;
use openclaw_proto::wire::runner as wire;
use openclaw_sandbox::Launcher;
use openclaw_settings::{AgentCli, RunnerSettings};
use openclaw_turn::SteeringMessage;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use tonic::service::Routes;
use tonic::{Request, Response, Status};
use tracing::Instrument as _;
use wire::agent_runner_server::{AgentRunner, AgentRunnerServer};

use crate::answering::Held;
use crate::confinement::Confinement;
use crate::cooling::Cooling;
use crate::renewal::{Prepared, Renewals};
use crate::servers::SessionServers;
use crate::spare::Spare;
use crate::table::{Refusal, Table};
use crate::turn::{self, Runs, Task, TurnContext};
use crate::units::Units;
use crate::warm::Warm;
use crate::watcher::Watcher;
use crate::{adoption, answering, catalog, embedding, pinned, promises, webhook};

/// The longest time that running turns and renewals of logins get to finish when the daemon stops;
/// below the daemon's drain deadline, so that they can still be cancelled.
const GRACE: Duration = Duration::from_secs(12);

/// The way out of a configuration that cannot be used.
const MEND: &str = "`openclawctl config validate` says all that is wrong with the file; mend it, or take it away \
     to have the defaults";

/// The agent-runner.
#[derive(Debug, Clone)]
struct Runner(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    runs: Arc<Runs>,
    configuration: Configuration<RunnerSettings>,
    started: Instant,
}

/// Runs the daemon until it is told to end.
pub async fn run(mut daemon: Daemon<RunnerSettings>) -> anyhow::Result<()> {
    let settings = daemon.configuration.settings();
    let turns = settings.paths.turns();
    places::make(&turns).context("make the folder of spools")?;
    let helper = programs::sibling("openclaw-sandbox", &daemon.environment)
        .context("find the sandbox helper")?;
    let runner = Runner::new(&daemon, helper, turns);
    adoption::adopt(&runner.0.runs, &settings).await;
    let _status = AbortOnDropHandle::new(tokio::spawn(report(
        runner.clone(),
        daemon.notifier.clone(),
    )));
    let warm = runner.0.runs.context.warm.clone();
    let warm = warm.follow(daemon.configuration.clone());
    let _warm = AbortOnDropHandle::new(tokio::spawn(warm));
    let servers = runner.0.runs.context.servers.clone();
    let servers = servers.follow(daemon.configuration.clone());
    let _servers = AbortOnDropHandle::new(tokio::spawn(servers));
    let catalog = catalog::keep(daemon.configuration.clone());
    let _catalog = AbortOnDropHandle::new(tokio::spawn(catalog));
    let proving = daemon.activity.begin();
    let proof = runner.clone();
    let proof = async move {
        prove(proof).await;
        drop(proving);
    };
    let _proof = AbortOnDropHandle::new(tokio::spawn(proof));
    let runs = Arc::clone(&runner.0.runs);
    daemon.activity.busy_while(move || runs.is_busy());
    let offer = embedding::offer(
        daemon.configuration.clone(),
        memory::Client::new(settings.paths.memory_socket()),
        Arc::new(Upstream::default()),
    );
    let _embedding = AbortOnDropHandle::new(tokio::spawn(offer));
    let service = AgentRunnerServer::new(runner.clone())
        .max_decoding_message_size(openclaw_proto::MESSAGE_LIMIT)
        .max_encoding_message_size(openclaw_proto::MESSAGE_LIMIT);
    openclaw_daemon::serve(
        &mut daemon,
        "openclaw.runner.v1.AgentRunner",
        Routes::new(service),
        runner.drain(),
    )
    .await
}

impl Runner {
    fn new(daemon: &Daemon<RunnerSettings>, helper: PathBuf, turns: PathBuf) -> Self {
        let settings = daemon.configuration.settings();
        let units = Units::find(&settings, &daemon.environment);
        let context = TurnContext {
            confinement: Confinement::new(Launcher { helper }, units.clone()),
            units,
            watcher: Watcher::new(&turns),
            cooling: Cooling::new(&settings.paths),
            renewals: Renewals::default(),
            spending: Spending::open(&settings.paths.spending()),
            turns,
            spare: Spare::default(),
            warm: Warm::default(),
            servers: SessionServers::default(),
        };
        let table = Table::new();
        Self(Arc::new(Inner {
            runs: Arc::new(Runs { context, table }),
            configuration: daemon.configuration.clone(),
            started: Instant::now(),
        }))
    }

    /// Ends what is under way; turns that outlive the daemon go on.
    async fn drain(self) {
        let Runs { context, table } = &*self.0.runs;
        table.stop();
        context.spare.clear().await;
        context.warm.clear().await;
        context.servers.clear();
        let outlive_us = context.units.outlive_us();
        let turns = async {
            if !outlive_us {
                table.idle().await;
            }
        };
        let idle = async { tokio::join!(turns, context.renewals.idle()) };
        if timeout(GRACE, idle).await.is_err() && !outlive_us {
            table.cancel_all("the agent-runner was stopped");
            table.idle().await;
        }
    }
}

/// Keeps the status line true.
async fn report(runner: Runner, notifier: Notifier) {
    let mut running = runner.0.runs.table.running();
    loop {
        let turns = *running.borrow_and_update();
        notifier.status(&match turns {
            1 => "1 turn running".to_owned(),
            turns => format!("{turns} turns running"),
        });
        if running.changed().await.is_err() {
            return;
        }
    }
}

/// Proves the sandbox at start rather than at the first turn.
async fn prove(runner: Runner) {
    let settings = runner.0.configuration.settings();
    promises::tell(&runner.0.runs.context.confinement, &settings).await;
}

type Events = Pin<Box<dyn Stream<Item = Result<wire_run::Event, Status>> + Send>>;

#[tonic::async_trait]
impl AgentRunner for Runner {
    async fn start_turn(
        &self,
        request: Request<wire::StartTurnRequest>,
    ) -> Result<Response<wire::StartTurnResponse>, Status> {
        let mut turn = Turn::try_from(request.into_inner())?;
        // Whatever becomes of it: its id is used up.
        self.0.runs.context.retire(&turn.run_id);
        // Before a provider is asked for the sake of the turn.
        if let Some(why) = self.0.configuration.bars_turns() {
            let code = tonic::Code::FailedPrecondition;
            return Err(call::refused(code, format!("no turn runs: {why}"), MEND));
        }
        let prepared = self.prepared(&turn).await;
        turn.notes.extend(prepared.notes);
        let common = prepared.settings;
        let settings = own_limits::settings(&common, &turn)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let chosen = self.choice(settings, &turn).await;
        let (settings, mut choice) = chosen.map_err(Status::not_found)?;
        if turn.purpose == Purpose::Command {
            choice = Choice::of_command();
        }
        if turn.purpose == Purpose::Summary && matches!(choice.plan, Ok(choice::Plan::Offline)) {
            let code = tonic::Code::FailedPrecondition;
            let problem = "no model is there to write a summary";
            return Err(call::refused(code, problem, &choice.remedy()));
        }
        let entry = self.0.runs.table.open(&turn.run_id).map_err(refused)?;
        if spool::has_begun(&self.spool(&turn.run_id)?) {
            // It ended so long ago that the table has forgotten it.
            self.0.runs.table.retract(&turn.run_id);
            return Err(refused(Refusal::Exists(turn.run_id)));
        }
        let mut response = self.started(&turn, &choice);
        let confinement = &self.0.runs.context.confinement;
        let terms = confinement.terms(&settings, &turn).await;
        response.terms = terms.map(Into::into);
        let span = tracing::info_span!(
            "turn",
            openclaw_run = %turn.run_id,
            openclaw_session = %turn.session_key,
            openclaw_agent = %turn.agent_id,
            openclaw_channel = %turn.channel,
        );
        let runner = self.clone();
        // The turn is the daemon's, not the call's: it goes on when the gateway goes away.
        tokio::spawn(
            async move {
                let run_id = turn.run_id.clone();
                let task = Task {
                    turn,
                    choice,
                    settings,
                    common,
                };
                turn::run(&runner.0.runs.context, task, entry).await;
                runner.0.runs.table.close(&run_id);
            }
            .instrument(span),
        );
        Ok(Response::new(response))
    }

    async fn close_turn(
        &self,
        request: Request<wire::CloseTurnRequest>,
    ) -> Result<Response<wire::CloseTurnResponse>, Status> {
        let run_id = request.into_inner().run_id;
        let path = self.spool(&run_id)?;
        // One that stands ready for a run that never came to its turn.
        self.0.runs.context.vacate(&run_id).await;
        // The spool says what the turn cost until the books do.
        let spending = self.0.runs.context.spending.clone();
        tokio::task::spawn_blocking(move || spending.keep())
            .await
            .map_err(|error| Status::internal(format!("keep what turns cost: {error}")))?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                openclaw_daemon::failure::report_at("remove a spool", &path, &error);
            }
            _ => {}
        }
        self.0.runs.table.forget(&run_id).await;
        Ok(Response::new(wire::CloseTurnResponse {}))
    }

    async fn kept_turns(
        &self,
        _request: Request<wire::KeptTurnsRequest>,
    ) -> Result<Response<wire::KeptTurnsResponse>, Status> {
        let turns = &self.0.runs.context.turns;
        let mut run_ids = spool::runs(turns)
            .map_err(|error| Status::internal(format!("{}: {error}", turns.display())))?;
        run_ids.retain(|run_id| spool::has_begun(&spool::path(turns, run_id)));
        Ok(Response::new(wire::KeptTurnsResponse { run_ids }))
    }

    type AttachStream = Events;

    async fn attach(
        &self,
        request: Request<wire::AttachRequest>,
    ) -> Result<Response<Events>, Status> {
        let request = request.into_inner();
        let log = match self.0.runs.table.get(&request.run_id) {
            Some(entry) => Some(entry.log),
            None => adoption::recall(&self.spool(&request.run_id)?, &request.run_id),
        };
        let log = log.ok_or_else(|| {
            Status::not_found(format!("there is no turn for run {}", request.run_id))
        })?;
        let events = log.follow(request.from_seq);
        Ok(Response::new(Box::pin(
            events.map(|event| Ok(event.into())),
        )))
    }

    async fn cancel_turn(
        &self,
        request: Request<wire::CancelTurnRequest>,
    ) -> Result<Response<wire::CancelTurnResponse>, Status> {
        let request = request.into_inner();
        let table = &self.0.runs.table;
        let cancelled = if request.at_once {
            table.end_at_once(&request.run_id, &request.reason).await
        } else {
            table.cancel(&request.run_id, &request.reason)
        };
        Ok(Response::new(wire::CancelTurnResponse { cancelled }))
    }

    async fn decide_approval(
        &self,
        request: Request<wire::DecideApprovalRequest>,
    ) -> Result<Response<wire::DecideApprovalResponse>, Status> {
        let request = request.into_inner();
        let decision = Decision::from_wire("DecideApprovalRequest", &request.decision)?;
        self.spool(&request.run_id)?;
        let live = self.0.runs.table.get(&request.run_id);
        if live.is_none_or(|entry| entry.log.ended()) {
            return Err(Status::not_found("the turn has ended"));
        }
        let path = spool::decisions(&self.0.runs.context.turns, &request.run_id);
        let decided = Decided {
            id: request.approval_id,
            decision,
            by: request.by,
            key: request.key,
        };
        decisions::decide(&path, &decided).map_err(undecided)?;
        Ok(Response::new(wire::DecideApprovalResponse {}))
    }

    async fn steer_turn(
        &self,
        request: Request<wire::SteerTurnRequest>,
    ) -> Result<Response<wire::SteerTurnResponse>, Status> {
        let request = request.into_inner();
        self.spool(&request.run_id)?;
        let entry = self.0.runs.table.get(&request.run_id);
        if entry.is_none_or(|entry| entry.log.ended()) {
            return Err(Status::not_found(format!(
                "no turn is running for run {}",
                request.run_id
            )));
        }
        let message = SteeringMessage {
            run_id: request.message_run_id,
            text: request.text,
        };
        let path = steering::path(&self.0.runs.context.turns, &request.run_id);
        match steering::keep(&path, &message) {
            Ok(()) => Ok(Response::new(wire::SteerTurnResponse {})),
            Err(error @ steering::Error::Full) => {
                Err(Status::resource_exhausted(error.to_string()))
            }
            Err(error) => Err(Status::internal(failure::chain(&error))),
        }
    }

    async fn list_turns(
        &self,
        _request: Request<wire::ListTurnsRequest>,
    ) -> Result<Response<wire::ListTurnsResponse>, Status> {
        let live = self.0.runs.table.live().into_iter();
        let turns = live.filter_map(|(run_id, entry)| {
            let pid = u32::try_from(entry.pid.load(Ordering::Relaxed)).ok()?;
            let unit = self.0.runs.context.units.unit(&run_id);
            let used = (pid != 0).then(|| Meter::of(&unit, pid).read())?;
            Some(wire::RunningTurn {
                run_id,
                resources: Some(used.into()),
            })
        });
        Ok(Response::new(wire::ListTurnsResponse {
            turns: turns.collect(),
        }))
    }

    async fn arm_timer(
        &self,
        request: Request<wire::ArmTimerRequest>,
    ) -> Result<Response<wire::ArmTimerResponse>, Status> {
        let alarm = Alarm::of(&request.into_inner());
        let armed = self.0.runs.context.units.arm(alarm).await;
        let armed = armed.map_err(|error| Status::internal(failure::chain(&error)))?;
        Ok(Response::new(armed.into()))
    }

    async fn post_webhook(
        &self,
        request: Request<wire::PostWebhookRequest>,
    ) -> Result<Response<wire::PostWebhookResponse>, Status> {
        let wire::PostWebhookRequest {
            url,
            body,
            key,
            only_judged,
        } = request.into_inner();
        let settings = self.0.configuration.settings();
        let posted = if only_judged {
            webhook::judge(&settings, &url).await
        } else {
            webhook::post(&settings, &url, body, &key).await
        };
        posted.map_err(|error| {
            let message = failure::chain(&error);
            match error {
                webhook::Error::Refused(_) => Status::invalid_argument(message),
                _ => Status::failed_precondition(message),
            }
        })?;
        Ok(Response::new(wire::PostWebhookResponse {}))
    }

    async fn status(
        &self,
        _request: Request<wire::StatusRequest>,
    ) -> Result<Response<wire::StatusResponse>, Status> {
        Ok(Response::new(self.describe().await))
    }
}

impl Runner {
    /// The path of a run's spool. Another name would be a file of another folder.
    fn spool(&self, run_id: &str) -> Result<PathBuf, Status> {
        uuid::Uuid::parse_str(run_id)
            .map_err(|_| Status::invalid_argument("run_id is no run's id"))?;
        Ok(spool::path(&self.0.runs.context.turns, run_id))
    }

    /// The configuration with the logins renewed that the turn may need.
    async fn prepared(&self, turn: &Turn) -> Prepared {
        let read = self.0.configuration.settings();
        let providers = asked(&read, turn);
        let context = &self.0.runs.context;
        let renewals = &context.renewals;
        let prepared = renewals.prepare(read, &turn.agent_id, providers).await;
        for ((agent, id), refused) in renewals.take_refused() {
            context.cooling.renewal_refused(&agent, &id, refused);
        }
        prepared
    }

    /// The backend of the turn, with the profile that its session chose, and its settings.
    async fn choice(
        &self,
        settings: Arc<RunnerSettings>,
        turn: &Turn,
    ) -> Result<(Arc<RunnerSettings>, Choice), String> {
        let (settings, unknown) = pinned::settings(settings, turn);
        let confinement = &self.0.runs.context.confinement;
        let wish = turn.model.as_deref();
        let mut choice = turn::choice(confinement, &settings, &turn.agent_id, wish).await?;
        if let Some(why) = unknown {
            choice.plan = Err(why);
        } else if let Err(why) = &mut choice.plan {
            let agents = settings.holders(&turn.agent_id);
            let renewals = &self.0.runs.context.renewals;
            for problem in renewals.problems(&agents, &asked(&settings, turn)) {
                why.push_str("; ");
                why.push_str(&problem);
            }
        }
        Ok((settings, choice))
    }

    /// Whether a CLI will stand ready for the turn's session.
    fn keeps_warm(&self, turn: &Turn) -> bool {
        let settings = self.0.configuration.settings();
        let agent = settings.agent(&turn.agent_id);
        agent.is_some_and(|agent| turn::keeps_warm(agent, turn))
    }

    fn started(&self, turn: &Turn, choice: &Choice) -> wire::StartTurnResponse {
        let (provider, model) = match &choice.plan {
            Ok(plan) => (plan.provider(), plan.model()),
            Err(_) => ("", ""),
        };
        let is_cli = AgentCli::of_backend(choice.backend).is_some();
        let context = &self.0.runs.context;
        let next_run_id = match (is_cli, self.keeps_warm(turn)) {
            (true, false) => String::new(),
            (true, true) => {
                let spare = context.warm.of(&turn.session_key);
                spare.next_name(&turn.agent_id, &turn.run_id)
            }
            (false, _) => context.spare.next_name(&turn.agent_id, &turn.run_id),
        };
        wire::StartTurnResponse {
            backend: choice.backend.to_owned(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            next_run_id,
            next_run_is_sessions: is_cli,
            terms: None,
        }
    }

    async fn describe(&self) -> wire::StatusResponse {
        let settings = self.0.configuration.settings();
        let settings = self.0.runs.context.renewals.expected(&settings);
        let mut response = wire::StatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_ms: u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            turns_running: *self.0.runs.table.running().borrow() as u64,
            turns_ended: self.0.runs.table.ended(),
            configuration_problem: self.0.configuration.problem(),
            agent_user: places::agent_identity(&settings)
                .map(|identity| identity.map(|identity| identity.name).unwrap_or_default())
                .unwrap_or_else(|error| failure::chain(&error)),
            turn_manager: self.0.runs.context.units.name().to_owned(),
            ..wire::StatusResponse::default()
        };
        let confinement = &self.0.runs.context.confinement;
        promises::describe(confinement, &settings, &mut response).await;
        let default = &settings.default_agent;
        if let Ok(choice) = turn::choice(confinement, &settings, default, None).await {
            choice.backend.clone_into(&mut response.backend);
            response.reason = match &choice.plan {
                Ok(_) => choice.reason.clone(),
                Err(why) => format!("{}, but it cannot be used: {why}", choice.reason),
            };
            if let Ok(plan) = &choice.plan {
                plan.provider().clone_into(&mut response.provider);
                plan.model().clone_into(&mut response.model);
            }
        }
        if let Some(agent) = settings.agent(default) {
            let missing = settings.sandbox.missing;
            let barred = confinement.bars_clis(&agent.sandbox, missing).await;
            let all = choice::candidates(&settings, agent, None, barred.as_deref());
            response.candidates = all.iter().map(candidate).collect();
        }
        let absent = settings.absent_of_servers().into_iter();
        let servers = settings.mcp_problems.iter().cloned().chain(absent);
        response.servers = servers
            .map(|(key, problem)| wire::ServerProblem {
                key: key.to_string(),
                problem,
            })
            .collect();
        for agent in settings.agents.values() {
            let missing = settings.sandbox.missing;
            let held = Held {
                level: confinement.level(&agent.sandbox, missing).await.ok(),
                barred: confinement.bars_clis(&agent.sandbox, missing).await,
            };
            response.agents.push(answering::of(&settings, agent, &held));
        }
        response
    }
}

/// The providers that the turn may ask.
fn asked(settings: &RunnerSettings, turn: &Turn) -> Vec<String> {
    let agent = settings.agent(&turn.agent_id);
    let wish = turn.model.as_deref();
    agent.map_or_else(Vec::new, |agent| choice::providers(settings, agent, wish))
}

fn candidate(candidate: &choice::Candidate) -> wire::BackendCandidate {
    wire::BackendCandidate {
        backend: candidate.backend.to_owned(),
        available: candidate.plan.is_ok(),
        reason: match &candidate.plan {
            Ok(_) => candidate.found.clone(),
            Err(why) => why.clone(),
        },
    }
}

fn undecided(refused: decisions::Refused) -> Status {
    match refused {
        decisions::Refused::NotAsked => Status::not_found(refused.to_string()),
        decisions::Refused::Decided => Status::already_exists(refused.to_string()),
        decisions::Refused::TooMuch => Status::resource_exhausted(refused.to_string()),
        decisions::Refused::Write { .. } => Status::internal(failure::chain(&refused)),
    }
}

/// The one function that makes a status of a refusal.
fn refused(refusal: Refusal) -> Status {
    match refusal {
        Refusal::Exists(_) => Status::already_exists(refusal.to_string()),
        Refusal::Full => Status::resource_exhausted(refusal.to_string()),
        Refusal::Stopping => Status::unavailable(refusal.to_string()),
    }
}
