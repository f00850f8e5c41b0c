//! One turn, from the backend's choice to the terminal event.

mod cli;
mod following;
mod ready;
mod standby;
mod start;
mod warm;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_backends::choice::{self, Choice};
use openclaw_backends::cli::access;
use openclaw_backends::places::{self, RunFolders};
use openclaw_handoff::failed;
use openclaw_handoff::spool;
use openclaw_handoff::steering;
use openclaw_model_api::bill;
use openclaw_model_api::route::Stop;
use openclaw_model_api::spending::Spending;
use openclaw_proto::event::{Code, Failed, Kind, Resources, Usage};
use openclaw_proto::runner::Turn;
use openclaw_settings::{AgentSettings, RunnerSettings};
use openclaw_words as words;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::timeout;

use self::cli::Chosen;
use self::following::{Following, unbegun};
pub(crate) use self::following::{close_spool, lost};
use self::ready::renew;
use self::start::TurnStart;
pub(crate) use self::warm::keeps_warm;
use crate::confinement::{self, Confinement};
use crate::cooling::Cooling;
use crate::removal;
use crate::renewal::Renewals;
use crate::servers::SessionServers;
use crate::spare::Spare;
use crate::table::{Entry, Table};
use crate::turn_handle::{self, TurnHandle};
use crate::units::Units;
use crate::warm::Warm;
use crate::watcher::Watcher;

/// MESSAGE_ID of the record that says how a turn ended (systemd.journal-fields(7)).
const TURN_ENDED: &str = "5b0c1f6f0d0e4a3c9e7d3a4f5f7a9b02";
/// Processes that a turn may lose before one of them has the turn.
const ATTEMPTS: u32 = 3;
/// The resources of a turn. They are released while the model answers and the user reads.
const HEAD_START: Duration = Duration::from_millis(50);

/// The parts that every turn uses.
#[derive(Debug)]
pub(crate) struct TurnContext {
    pub(crate) confinement: Confinement,
    pub(crate) units: Units,
    /// The folder of spools.
    pub(crate) turns: PathBuf,
    pub(crate) watcher: Arc<Watcher>,
    /// Keys that are left alone for a while.
    pub(crate) cooling: Cooling,
    pub(crate) renewals: Renewals,
    /// The costs of turns.
    pub(crate) spending: Spending,
    /// A process that stands ready for the next turn.
    pub(crate) spare: Spare,
    /// Warm processes of CLIs, for the next turns of sessions.
    pub(crate) warm: Warm,
    /// Servers of tools of sessions.
    pub(crate) servers: SessionServers,
}

/// The turns that run, and what they use.
#[derive(Debug)]
pub(crate) struct Runs {
    pub(crate) context: TurnContext,
    pub(crate) table: Table,
}

impl Runs {
    /// Whether something is under way, or stands ready, that would end with the daemon.
    /// The process that stands ready for any turn is none: it waits without an end.
    pub(crate) fn is_busy(&self) -> bool {
        let TurnContext {
            renewals,
            warm,
            servers,
            ..
        } = &self.context;
        *self.table.running().borrow() > 0
            || renewals.is_asking()
            || warm.all().iter().any(Spare::stands_ready)
            || servers.are_up()
    }
}

/// A turn and what it is run by.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) turn: Turn,
    pub(crate) choice: Choice,
    /// With the limits of its session,
    pub(crate) settings: Arc<RunnerSettings>,
    /// and as all other turns have them.
    pub(crate) common: Arc<RunnerSettings>,
}

/// Why a turn could not be started.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Confinement(#[from] confinement::Error),
    #[error(transparent)]
    Places(#[from] places::Error),
    #[error("start the agent")]
    Start(#[source] std::io::Error),
    #[error(transparent)]
    Access(#[from] access::Error),
    #[error("start the turn's process")]
    Process(#[from] turn_handle::Error),
    #[error("write down the turn")]
    Encode(#[from] serde_json::Error),
    #[error("the path {0:?} is not UTF-8; move it to one that is")]
    NotText(std::ffi::OsString),
}

impl Error {
    fn code(&self) -> Code {
        match self {
            Self::Confinement(_) => Code::Sandbox,
            Self::Access(_) => Code::NotLoggedIn,
            _ => Code::Internal,
        }
    }
}

/// A turn's process that has been told its turn.
struct Begun {
    held: TurnHandle,
    passing: RunFolders,
}

/// Runs a turn to its end; its terminal event is the last thing in the log.
pub(crate) async fn run(turn_context: &TurnContext, task: Task, entry: Entry) {
    let started = Instant::now();
    let mut attempts = 1;
    while !attempt(turn_context, &task, &entry, started, attempts).await {
        tracing::warn!("the turn's process was killed before it had its turn; once more");
        attempts += 1;
    }
    forget(turn_context, &task.turn.run_id);
}

/// False when a process was there but never had the turn, so that another may have it.
async fn attempt(
    turn_context: &TurnContext,
    task: &Task,
    entry: &Entry,
    started: Instant,
    attempts: u32,
) -> bool {
    let begun = tokio::select! {
        begun = begin(turn_context, task) => begun,
        () = entry.cancel.cancelled() => Err(NotBegun::Ended(entry.aborted())),
    };
    let following = match begun {
        Ok(begun) => Following::new(turn_context, entry, begun.held)
            .map(|following| (following, begun.passing))
            .map_err(|error| failed("follow a turn", Code::Internal, &error)),
        Err(NotBegun::Ended(terminal)) => Err(terminal),
        Err(NotBegun::Failed(Error::Process(turn_handle::Error::Line(_))))
            if attempts < ATTEMPTS =>
        {
            return false;
        }
        Err(NotBegun::Failed(error)) => Err(failed("start a turn", error.code(), &error)),
    };
    match following {
        Ok((following, passing)) => {
            let is_last = attempts >= ATTEMPTS;
            let is_over = see_through(turn_context, task, entry, started, following, is_last).await;
            if is_over {
                clean(turn_context, passing).await;
                // Not before: it reads the session that this one wrote.
                warm::renew(turn_context, &task.common, &task.turn, &task.choice, entry).await;
            }
            is_over
        }
        Err(terminal) => {
            entry.log.add(named(terminal, task.choice.backend));
            note_end(task.choice.backend, entry, started.elapsed());
            true
        }
    }
}

/// Follows a turn to its end, with the next one's process started meanwhile. False when its
/// process never had it and this is not the last attempt.
async fn see_through(
    turn_context: &TurnContext,
    task: &Task,
    entry: &Entry,
    started: Instant,
    mut following: Following<'_>,
    is_last: bool,
) -> bool {
    let Task {
        turn,
        choice,
        common,
        ..
    } = task;
    let ended = Notify::new();
    // While the model thinks, so that it stands ready when the user
    // has read the answer, however soon that is.
    let next = async {
        let ended = timeout(head_start(turn_context), ended.notified()).await;
        if ended.is_ok() {
            // Starting a process holds this thread for a millisecond: the
            // turn's last event goes out before.
            yield_now().await;
        }
        renew(turn_context, common, &turn.agent_id, choice.backend).await;
    };
    let followed = async {
        let is_over = following.follow().await || is_last;
        ended.notify_one();
        if is_over {
            if !entry.log.ended() {
                entry.log.add(named(unbegun(), choice.backend));
            }
            note_end(choice.backend, entry, started.elapsed());
            account(turn_context, &turn.run_id, &turn.agent_id, entry);
        }
        is_over
    };
    let (is_over, ()) = tokio::join!(followed, next);
    if !is_over {
        return false;
    }
    if matches!(entry.log.terminal(), Some(Kind::Done(_))) {
        renew(turn_context, common, &turn.agent_id, choice.backend).await;
    }
    following.wait().await;
    true
}

/// How long a turn goes on before the next one's process is started beside it,
/// which takes a processor away from a turn that is over in no time. Where turns
/// come as fast as processes, it starts at once.
fn head_start(turn_context: &TurnContext) -> Duration {
    if turn_context.spare.is_short() {
        Duration::ZERO
    } else {
        HEAD_START
    }
}

/// The work that waits for the disk, apart from serving other turns and this turn's last events:
/// writing the cost and removing the turn's folders.
async fn clean(turn_context: &TurnContext, passing: RunFolders) {
    let spending = turn_context.spending.clone();
    let kept = tokio::task::spawn_blocking(move || spending.keep());
    if let Err(error) = kept.await {
        openclaw_daemon::failure::report("keep what a turn cost", &error);
    }
    removal::remove(move || passing.remove()).await;
}

/// Enters what an ended turn cost.
pub(crate) fn account(turn_context: &TurnContext, run_id: &str, agent_id: &str, entry: &Entry) {
    turn_context
        .spending
        .add(run_id, agent_id, &entry.log.events());
}

/// Follows a turn that an earlier daemon started.
pub(crate) async fn resume(
    turn_context: &TurnContext,
    held: TurnHandle,
    agent_id: &str,
    entry: Entry,
    passing: RunFolders,
) {
    let run_id = held.run_id.clone();
    match Following::new(turn_context, &entry, held) {
        Ok(mut following) => {
            following.follow().await;
            account(turn_context, &run_id, agent_id, &entry);
            following.wait().await;
        }
        Err(error) => {
            entry
                .log
                .add(failed("follow a turn", Code::Internal, &error));
        }
    }
    clean(turn_context, passing).await;
    forget(turn_context, &run_id);
}

/// Removes what was written for a turn that has ended. Mostly there is nothing.
fn forget(turn_context: &TurnContext, run_id: &str) {
    spool::remove_notes(&turn_context.turns, run_id);
    let _ = std::fs::remove_file(steering::path(&turn_context.turns, run_id));
}

fn named(terminal: Kind, backend: &'static str) -> Kind {
    match terminal {
        Kind::Failed(failed) => Kind::Failed(Failed {
            backend: backend.to_owned(),
            ..failed
        }),
        other => other,
    }
}

fn note_end(backend: &'static str, entry: &Entry, took: Duration) {
    let events = entry.log.events();
    let used = events.iter().rev().find_map(|event| match &event.kind {
        Kind::Resources(resources) => Some(resources),
        _ => None,
    });
    let mut tokens = Usage::default();
    for event in &events {
        if let Kind::Usage(usage) = &event.kind {
            tokens.add(usage);
        }
    }
    let outcome = entry.log.terminal().as_ref().map_or("none", outcome);
    tracing::info!(
        message_id = TURN_ENDED,
        backend,
        outcome,
        milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "the turn ended: {outcome} after {}{}",
        words::elapsed(took),
        spent(&tokens, used)
    );
}

/// The resources that a turn took, as far as known.
fn spent(tokens: &Usage, used: Option<&Resources>) -> String {
    let mut parts = Vec::new();
    let asked = tokens.input + tokens.cache_read + tokens.cache_write;
    if asked + tokens.output > 0 {
        parts.push(format!("{asked} tokens in, {} out", tokens.output));
    }
    if let Some(used) = used {
        let cost = used.cost_usd.filter(|dollars| *dollars > 0.0);
        parts.extend(cost.map(|dollars| format!("${dollars:.4}")));
        if used.cpu_ms > 0 {
            let cpu = words::elapsed(Duration::from_millis(used.cpu_ms));
            parts.push(format!("{cpu} of processor"));
        }
        if used.memory_peak_bytes > 0 {
            parts.push(words::bytes(used.memory_peak_bytes));
        }
    }
    parts.iter().map(|part| format!(", {part}")).collect()
}

fn outcome(terminal: &Kind) -> &'static str {
    match terminal {
        Kind::Done(_) => "done",
        Kind::Aborted { .. } => "aborted",
        Kind::Failed(failed) => failed.code.as_str(),
        _ => "none",
    }
}

/// Why a turn did not begin.
enum NotBegun {
    /// The user can do something about it: how the run ends.
    Ended(Kind),
    Failed(Error),
}

impl From<Error> for NotBegun {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Starts the turn.
async fn begin(turn_context: &TurnContext, task: &Task) -> Result<Begun, NotBegun> {
    let Task {
        turn,
        choice,
        settings,
        ..
    } = task;
    let ready = standby::take(turn_context, task).await;
    let plan = match &choice.plan {
        Ok(plan) => plan,
        Err(why) => return Err(NotBegun::Ended(unusable(choice, why))),
    };
    let Some(agent) = settings.agent(&turn.agent_id) else {
        let why = "the agent is no longer configured";
        return Err(NotBegun::Ended(unusable(choice, why)));
    };
    let spent = turn_context.spending.today(&agent.id);
    if spent >= agent.limits.cost_per_day {
        if let Some(ready) = ready {
            ready.dismiss().await;
        }
        return Err(NotBegun::Ended(too_dear(choice.backend, spent, agent)));
    }
    let start = TurnStart::new(turn_context, settings, agent, turn, choice).await?;
    if let Some(why) = start.can_do_more() {
        if let Some(ready) = ready {
            ready.dismiss().await;
        }
        return Err(NotBegun::Ended(less_confined(choice.backend, why)));
    }
    let begun = match plan {
        choice::Plan::Cli {
            cli,
            program,
            model,
        } => {
            let model = model.as_deref();
            let chosen = Chosen {
                cli: *cli,
                program,
                model,
            };
            start.cli(chosen, ready).await?
        }
        choice::Plan::Native {
            provider,
            model,
            fallbacks,
            note,
        } => {
            let first = Stop::all(settings, agent, (provider, model));
            let others = fallbacks
                .iter()
                .flat_map(|(provider, model)| Stop::all(settings, agent, (provider, model)));
            let route = first.into_iter().chain(others).collect();
            start.native(route, note.clone(), ready).await?
        }
        choice::Plan::Offline => start.native(Vec::new(), None, ready).await?,
    };
    Ok(begun)
}

/// Today's money is used up before the turn begins.
fn too_dear(backend: &'static str, spent: f64, agent: &AgentSettings) -> Kind {
    Kind::Failed(Failed {
        code: Code::ResourceLimit,
        message: format!(
            "no turn is started: {}",
            bill::day(spent, agent.limits.cost_per_day)
        ),
        retry_after_ms: None,
        backend_session: None,
        backend: backend.to_owned(),
    })
}

/// A command would do more than when it was given.
fn less_confined(backend: &'static str, message: String) -> Kind {
    Kind::Failed(Failed {
        code: Code::Sandbox,
        message,
        retry_after_ms: None,
        backend_session: None,
        backend: backend.to_owned(),
    })
}

fn unusable(choice: &Choice, why: &str) -> Kind {
    let (backend, code) = (choice.backend, choice.failure);
    Kind::Failed(Failed {
        code,
        message: format!("the backend {backend} cannot be used: {why}"),
        retry_after_ms: None,
        backend_session: None,
        backend: backend.to_owned(),
    })
}

/// The choice for an agent, or a failure that names the known ones.
/// `wish` is the model that the user chose for the session.
pub(crate) async fn choice(
    confinement: &Confinement,
    settings: &RunnerSettings,
    agent_id: &str,
    wish: Option<&str>,
) -> Result<Choice, String> {
    match settings.agent(agent_id) {
        Some(agent) => {
            let barred = confinement.bars_clis(&agent.sandbox, settings.sandbox.missing);
            Ok(choice::choose(
                settings,
                agent,
                wish,
                barred.await.as_deref(),
            ))
        }
        None => {
            let known: Vec<&str> = settings.agents.keys().map(String::as_str).collect();
            Err(format!(
                "there is no agent {agent_id:?}; there are {}",
                known.join(", ")
            ))
        }
    }
}
