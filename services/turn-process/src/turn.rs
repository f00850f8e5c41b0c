//! The life of the process: hears what it is for, starts the agent, and serves it
//! until the turn has ended.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use openclaw_daemon::failure;
use openclaw_daemon::panics;
use openclaw_daemon::telemetry::Telemetry;
use openclaw_handoff::disk::Disk;
use openclaw_handoff::meter::Meter;
use openclaw_handoff::order::{Hello, Order, ProcessSpec, Speech};
use openclaw_handoff::spool::{Header, Spool};
use openclaw_handoff::steering::Inbox;
use openclaw_handoff::{child, failed, own_limits};
use openclaw_mcp_servers::{Notes, Servers};
use openclaw_model_api::bill::Bill;
use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::origin::Origin;
use openclaw_proto::{memory, schedule};
use openclaw_proxy::{Bound, ModelAccess, Serving};
use openclaw_sandbox::{Launcher, Level};
use openclaw_settings::LogLevel;
use openclaw_tools::approval::effect::TurnPaths;
use openclaw_turn::TurnRequest;
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::activity::Activity;
use crate::agent::{self, Agent, Bounds, Input, Outcome};
use crate::approvals::Approvals;
use crate::line::{Line, OrderWithHistory};
use crate::native::{Asking, Lines, TurnSocket};
use crate::tool_pipe::ToolPipe;
use crate::translate::Translate;
use crate::{dialogue, host, message_id};

/// Runs the turn that standard input tells of.
pub fn main() -> ExitCode {
    let telemetry = Telemetry::install("openclaw-turn", LogLevel::Info);
    panics::install();
    child::run_to_end(run(&telemetry), "run a turn")
}

async fn run(telemetry: &Telemetry) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    if !child::follow_spawner()? {
        return Ok(());
    }
    let mut line = Line::open().await?;
    // A daemon that died in the middle of a word wants nothing any more.
    let Ok(Some(spec)) = line.hear::<ProcessSpec>().await else {
        return Ok(());
    };
    telemetry.set_level(spec.log_level);
    let header = Header {
        run_id: spec.run_id.clone(),
        agent_id: spec.agent_id.clone(),
        pid: i32::try_from(std::process::id())?,
        unit: spec.unit.clone(),
        memory_max: spec.memory_max,
        own_limits: spec.own_limits.clone(),
    };
    let spool = Spool::create(&spec.spool, &header)
        .with_context(|| format!("make {}", spec.spool.display()))?;
    // Without a daemon there will be no order either.
    let _ = line.say(&Hello { pid: header.pid }).await;
    let early = line.passed.take();
    let (mut agent, spec) = start(spec, early);
    let Some(order) = ordered(&mut line, &mut agent, &mut terminate).await else {
        return Ok(());
    };
    let servers = servers(line.passed.take(), &order.0);
    spool.begin().context("begin the turn")?;
    let span = tracing::info_span!(
        "turn",
        openclaw_run = %spec.run_id,
        openclaw_session = %order.0.session_key,
        openclaw_agent = %spec.agent_id,
        openclaw_channel = %order.0.channel,
    );
    // Everything that is logged from here on is about this turn, tasks that began before it included:
    // the process has one thread.
    let _about = span.enter();
    let turn = Turn {
        spec,
        spool: Arc::new(spool),
        cancel: cancelled_by(terminate),
    };
    turn.run(agent, order, servers).await;
    Ok(())
}

/// The turn; none: the agent stood ready and is not wanted.
async fn ordered(
    line: &mut Line,
    agent: &mut Result<Started, StartError>,
    terminate: &mut Signal,
) -> Option<OrderWithHistory> {
    let order = tokio::select! {
        biased;
        // The daemon sees that nothing stands ready, and starts another one.
        () = killed(agent) => return None,
        _ = terminate.recv() => return None,
        order = line.hear_order() => order,
    };
    order.unwrap_or_else(|error| {
        // The daemon died in the middle of a word. Nothing was begun.
        tracing::debug!(%error, "there will be no turn");
        None
    })
}

/// Is cancelled with the first signal.
fn cancelled_by(mut terminate: Signal) -> CancellationToken {
    let cancel = CancellationToken::new();
    let ended = cancel.clone();
    tokio::spawn(async move {
        if terminate.recv().await.is_some() {
            ended.cancel();
        }
    });
    cancel
}

/// Waits until somebody has killed the agent, which has no turn yet. One that
/// ended by itself has a reason, which the turn is to tell.
async fn killed(agent: &mut Result<Started, StartError>) {
    match agent {
        Ok(started) => started.agent.killed().await,
        Err(_) => std::future::pending().await,
    }
}

/// The turn's servers of tools, at the connection that came with it.
fn servers(connection: Option<OwnedFd>, order: &Order) -> Servers {
    let Some(connection) = connection else {
        return Servers::none();
    };
    let (policy, patience) = (order.policy.clone(), order.speech.patience());
    Servers::at(connection, policy, patience).unwrap_or_else(|error| {
        failure::report("reach the MCP servers", &error);
        Servers::none()
    })
}

/// The agent's process, with our end of its turn socket.
struct Started {
    agent: Agent,
    proxies: Option<Serving>,
    socket: Option<TurnSocket>,
    /// Its standard input, when that is not the socket.
    stdin: Option<UnixStream>,
    /// Answers what it asks for before there is a turn.
    waiting: Option<ToolPipe>,
}

/// Why there is no agent.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("open the agent's proxies")]
    Proxies(#[source] io::Error),
    #[error("start the agent")]
    Spawn(#[from] io::Error),
    #[error("start the agent")]
    Launch(#[from] openclaw_sandbox::LaunchError),
}

/// Starts the agent that `spec` describes, which is completed with what
/// is known only here.
/// `connection`: to servers, of whose tools it is told before there is a turn.
fn start(
    mut spec: ProcessSpec,
    connection: Option<OwnedFd>,
) -> (Result<Started, StartError>, ProcessSpec) {
    let started = Bound::new(&mut spec)
        .map_err(StartError::Proxies)
        .and_then(|bound| launch(&spec, bound, connection));
    (started, spec)
}

fn launch(
    spec: &ProcessSpec,
    bound: Option<Bound>,
    connection: Option<OwnedFd>,
) -> Result<Started, StartError> {
    let launcher = Launcher {
        helper: spec.helper.clone(),
    };
    let arguments: Vec<_> = spec.arguments.iter().map(Into::into).collect();
    let (plan, program) = (&spec.plan, &spec.program);
    let variables = &spec.variables;
    let command = match bound.as_ref().and_then(Bound::theirs) {
        Some(theirs) => {
            launcher.command_with_doors(plan, program, &arguments, variables, theirs)?
        }
        None => launcher.command(plan, program, &arguments, variables)?,
    };
    let proxies = |bound: Option<Bound>| bound.map(Serving::serve);
    if !spec.socket {
        // It may be started before there is a turn, and ends with it anyway.
        let waiting = spec.waiting.as_ref();
        let waiting = waiting.and_then(|waiting| ToolPipe::wait(waiting, connection));
        let waiting = waiting.transpose()?;
        let (agent, stdin) = Agent::start(command, Input::Stream)?;
        return Ok(Started {
            agent,
            proxies: proxies(bound),
            socket: None,
            stdin,
            waiting,
        });
    }
    let (socket, theirs) = TurnSocket::open()?;
    let (agent, _) = Agent::start(command, Input::Socket(theirs))?;
    Ok(Started {
        agent,
        proxies: proxies(bound),
        socket: Some(socket),
        stdin: None,
        waiting: None,
    })
}

/// The agent's workspace, as it sees it.
fn ground(spec: &ProcessSpec) -> TurnPaths {
    let plan = &spec.plan;
    let home = spec.variables.iter().find(|(name, _)| name == "HOME");
    let temporary = plan.tmp.clone().unwrap_or_default();
    TurnPaths {
        workspace: plan.cwd.clone(),
        home: home.map(|(_, home)| home.into()).unwrap_or_default(),
        own_tmp: plan.level.has_namespaces(),
        granted: plan
            .read_write
            .iter()
            .chain(&plan.read_only)
            .cloned()
            .collect(),
        temporary,
    }
}

/// A turn that failed after a request was refused to it failed for that reason,
/// whatever its program makes of it.
fn limited(terminal: Kind, bill: &Bill) -> Kind {
    match (terminal, bill.refusal()) {
        (Kind::Failed(failed), Some(message)) => Kind::Failed(Failed {
            code: Code::ResourceLimit,
            message,
            ..failed
        }),
        (terminal, _) => terminal,
    }
}

/// What an agent is served with.
struct Served<'a> {
    servers: Arc<Servers>,
    notes: Notes,
    tools: host::Tools,
    bounds: Bounds,
    outcome: Outcome<'a>,
}

struct Turn {
    spec: ProcessSpec,
    spool: Arc<Spool>,
    cancel: CancellationToken,
}

impl Turn {
    async fn run(
        &self,
        agent: Result<Started, StartError>,
        (order, history): OrderWithHistory,
        servers: Servers,
    ) {
        for text in &order.notes {
            let _ = self.spool.push(Kind::Note { text: text.clone() });
        }
        let meter = Meter::new(&self.spec.unit);
        tracing::info!(
            message_id = message_id::TURN_STARTED,
            backend = order.backend,
            model = order.model,
            "the turn starts: {} in {}",
            order.backend,
            match self.spec.unit.as_str() {
                "" => "a process without a unit",
                unit => unit,
            }
        );
        let backend = order.backend.clone();
        let agent_id = &self.spec.agent_id;
        let is_metered = order.speech.is_relayed();
        let bill = Arc::new(Bill::new(order.budget.clone(), agent_id, is_metered));
        let activity = Arc::new(Activity::new(self.spec.log_content));
        let servers = Arc::new(servers);
        let outcome = Outcome {
            spool: &self.spool,
            meter: &meter,
            bill: &bill,
            activity: &activity,
            servers: &servers,
        };
        let terminal = match agent {
            Ok(started) => {
                let shared = (Arc::clone(&bill), Arc::clone(&activity));
                let started = (started, Arc::clone(&servers));
                self.attend(started, (order, history), outcome, shared)
                    .await
            }
            Err(error) => failed("start the agent", Code::Internal, &error),
        };
        outcome.tell_usage();
        activity.log.close();
        let terminal = self.named(limited(terminal, &bill), &backend);
        if let Err(error) = self.spool.end(|| outcome.resources(), terminal) {
            failure::report("keep the end of the turn", &error);
        }
    }

    async fn attend(
        &self,
        (started, servers): (Started, Arc<Servers>),
        (order, history): OrderWithHistory,
        outcome: Outcome<'_>,
        (bill, activity): (Arc<Bill>, Arc<Activity>),
    ) -> Kind {
        let bounds = Bounds {
            deadline: Duration::from_millis(order.deadline_ms),
            silence: Duration::from_millis(order.silence_ms),
            disk: self.disk(),
        };
        if let Some(short) = bounds.disk.as_ref().and_then(Disk::used_up) {
            // Between two looks something could be written.
            return agent::no_room(&short);
        }
        let approvals = self.approvals(&order, bounds.deadline, Arc::clone(&activity));
        let notes = Notes::new(Arc::clone(&servers), Arc::clone(&self.spool));
        let tools = self.tools(
            &order,
            (Arc::clone(&approvals), Arc::clone(&bill)),
            Arc::clone(&servers),
        );
        let served = Served {
            servers,
            notes,
            tools,
            bounds,
            outcome,
        };
        match order.speech {
            Speech::Socket {
                request,
                route,
                patience_ms,
            } => {
                let patience = Duration::from_millis(patience_ms);
                let asking = (!route.is_empty()).then(|| {
                    let spool = Arc::clone(&self.spool);
                    let asking = Asking::new(route, patience, order.grants, spool, bill, activity);
                    Arc::new(asking)
                });
                let lines = Lines {
                    backend: order.backend,
                    provider: order.provider,
                    model: order.model,
                    asking,
                };
                self.attend_native(started, (*request, history), lines, served)
                    .await
            }
            Speech::Cli {
                dialogue,
                tools: folder,
                relay,
                wanted,
                limits,
                prices,
            } => {
                if let (Some(proxies), Some(relay)) = (&started.proxies, relay) {
                    proxies.give(ModelAccess {
                        relay: *relay,
                        wanted: *wanted,
                        grants: order.grants,
                        prices,
                        bill,
                    });
                }
                let model = (!order.model.is_empty()).then_some(order.model);
                let begin = |stdin| dialogue::begin(*dialogue, stdin, approvals, limits, model);
                self.attend_cli(started, &folder, begin, served).await
            }
        }
    }

    /// Serves our own agent, over the turn socket.
    async fn attend_native(
        &self,
        started: Started,
        (request, history): (TurnRequest, Bytes),
        mut lines: Lines,
        served: Served<'_>,
    ) -> Kind {
        self.settle(&served.servers).await;
        served.notes.tell();
        let _telling = served.notes.follow();
        if let Some(socket) = &started.socket {
            let inbox = Inbox::beside(&self.spec.spool);
            let asking = lines.asking.clone();
            socket.give((request, history), asking, served.tools, inbox);
        }
        self.follow(started.agent, served.bounds, &mut lines, served.outcome)
            .await
    }

    /// Serves an agent CLI, which `begin` speaks with over its standard input.
    async fn attend_cli(
        &self,
        started: Started,
        folder: &Path,
        begin: impl FnOnce(Option<UnixStream>) -> Box<dyn Translate>,
        served: Served<'_>,
    ) -> Kind {
        let _pipe = match ToolPipe::serve(folder, served.tools, started.waiting).await {
            Ok(pipe) => pipe,
            Err(error) => return failed("serve the host tools", Code::Internal, &error),
        };
        let _telling = served.notes.follow();
        // Codex asks its model without the tools of a server that is
        // being started; it starts ours when it is spoken to.
        self.settle(&served.servers).await;
        let mut output = begin(started.stdin);
        self.follow(
            started.agent,
            served.bounds,
            output.as_mut(),
            served.outcome,
        )
        .await
    }

    fn approvals(
        &self,
        order: &Order,
        deadline: Duration,
        activity: Arc<Activity>,
    ) -> Arc<Approvals> {
        let ground = ground(&self.spec);
        Arc::new(Approvals::new(
            (order.rules.clone(), ground, order.terms.clone()),
            Duration::from_millis(order.approval_ms),
            Instant::now() + deadline,
            Arc::clone(&self.spool),
            order.decisions.clone(),
            activity,
        ))
    }

    fn disk(&self) -> Option<Disk> {
        let plan = &self.spec.plan;
        (plan.level != Level::Off).then(|| Disk::watch(&plan.read_write))
    }

    /// Waits for servers that are being started, unless the turn ends before.
    async fn settle(&self, servers: &Servers) {
        tokio::select! {
            () = servers.settled() => {}
            () = self.cancel.cancelled() => {}
        }
    }

    fn tools(
        &self,
        order: &Order,
        (approvals, bill): (Arc<Approvals>, Arc<Bill>),
        servers: Arc<Servers>,
    ) -> host::Tools {
        host::Tools {
            memory: memory::Client::new(order.memory.clone()),
            schedule: schedule::Client::new(order.gateway.clone()),
            origin: Origin {
                run_id: self.spec.run_id.clone(),
                session_key: order.session_key.clone(),
            },
            agent_id: self.spec.agent_id.clone(),
            session_id: order.session_id.clone(),
            received_ms: order.received_ms,
            status: order.status.clone(),
            offer: Arc::new(order.offer.clone()),
            approvals,
            searches: Arc::new(host::Searches::new(order.searches.clone(), bill)),
            servers,
        }
    }

    async fn follow(
        &self,
        agent: Agent,
        bounds: Bounds,
        translate: &mut dyn Translate,
        outcome: Outcome<'_>,
    ) -> Kind {
        agent
            .run(bounds, translate, &outcome, &self.cancel)
            .await
            .unwrap_or_else(|error| failed("follow the agent", Code::Internal, &error))
    }

    /// A turn that was cut off because somebody asked for it was aborted.
    fn named(&self, terminal: Kind, backend: &str) -> Kind {
        match terminal {
            Kind::Failed(failed) if self.cancel.is_cancelled() => Kind::Aborted {
                reason: std::fs::read_to_string(&self.spec.reason)
                    .unwrap_or_else(|_| "stopped by the service manager".to_owned()),
                backend_session: failed.backend_session,
                backend: backend.to_owned(),
            },
            Kind::Failed(failed) => Kind::Failed(Failed {
                backend: backend.to_owned(),
                message: own_limits::advise(failed.message, &self.spec.own_limits),
                ..failed
            }),
            other => other,
        }
    }
}
