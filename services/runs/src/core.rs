//! What all runs share, and the one way in for messages.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use openclaw_config::settings::SessionScope;
use openclaw_conversations::Lanes;
use openclaw_conversations::Refusal;
use openclaw_conversations::database::Database;
use openclaw_conversations::route;
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::Storage;
use openclaw_daemon::{Configuration, Notifier, failure};
use openclaw_proto::{gateway, memory, runner};
use openclaw_sessions::{AgentId, SessionKey};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::approvals::{ApprovalLog, Approvals};
use crate::bus::{Bus, DomainEvent};
use crate::counters::Counters;
use crate::heartbeat::Heartbeats;
use crate::queue::Dropped;
use crate::run::{Registry, Run, Start};
use crate::schedule::Schedule;
use crate::submission::Extra;
use crate::system_event::SystemEvents;
use crate::turn;
use crate::turn::Tails;

/// Bytes of one message. A pasted file may be long; what is longer belongs
/// into the workspace.
pub const TEXT_LIMIT: usize = 1024 * 1024;

/// Bytes of an idempotency key. A UUID has 36.
const IDEMPOTENCY_KEY_LIMIT: usize = 256;

/// Bytes of a channel's name, which is a journal field.
const CHANNEL_LIMIT: usize = 64;

/// The channel of clients that name none.
const DEFAULT_CHANNEL: &str = "cli";

/// The longest time the last turns may take when the gateway stops.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What all runs share.
pub struct Core {
    /// The configuration as it holds now.
    pub configuration: Configuration,
    /// Where conversations are kept.
    pub storage: Storage,
    /// The sessions.
    pub sessions: Sessions,
    /// The daemon that runs turns.
    pub runner: runner::Client,
    /// The daemon that remembers.
    pub memory: memory::Client,
    /// One turn at a time per session.
    pub lanes: Lanes,
    /// The runs that are live.
    pub runs: Registry,
    /// What is counted.
    pub counters: Counters,
    /// What happened elsewhere and waits to be told.
    pub system_events: SystemEvents,
    /// Messages for which there was no room.
    pub(crate) dropped: Dropped,
    /// Where it is told what happens.
    pub bus: Bus,
    /// The small tables beside the runs in the ledger.
    pub database: Database,
    /// Commands that wait to be allowed.
    pub approvals: Approvals,
    /// What was asked and decided.
    pub approval_log: ApprovalLog,
    /// The jobs.
    pub schedule: Schedule,
    /// What agents answered that were woken.
    pub heartbeats: Heartbeats,
    /// The ends of the conversations that go on.
    pub(crate) tails: Tails,
    /// When the gateway was started.
    pub started: Instant,
    /// By agent, the run id under which the runner has a process ready.
    reserved: Mutex<HashMap<(AgentId, Option<SessionKey>), String>>,
    tasks: TaskTracker,
    notifier: Notifier,
    stopping: AtomicBool,
    /// The gateway's own turns, which write summaries.
    summarising: Arc<Mutex<HashSet<String>>>,
}

/// A turn of the gateway's own.
#[derive(Debug)]
pub(crate) struct Summarising {
    all: Arc<Mutex<HashSet<String>>>,
    run_id: String,
}

impl Drop for Summarising {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.run_id);
    }
}

fn lock(names: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    /// A core over `storage`. It hears of no change of the configuration before
    /// [`Core::follow_configuration`].
    pub fn new(configuration: Configuration, storage: Storage, notifier: Notifier) -> Arc<Self> {
        let settings = configuration.settings();
        let database = Database::at(settings.paths.ledger());
        let lanes = Lanes::new(settings.concurrent_turns as usize);
        Arc::new(Self {
            sessions: Sessions::new(storage.clone(), lanes.clone(), configuration.clone()),
            runner: runner::Client::new(settings.paths.runner_socket()),
            memory: memory::Client::new(settings.paths.memory_socket()),
            lanes,
            runs: Registry::default(),
            counters: Counters::default(),
            system_events: SystemEvents::default(),
            dropped: Dropped::default(),
            bus: Bus::default(),
            approvals: Approvals::default(),
            approval_log: ApprovalLog::new(database.clone()),
            heartbeats: Heartbeats::new(database.clone()),
            schedule: Schedule::new(database.clone()),
            database,
            tails: Tails::default(),
            started: Instant::now(),
            reserved: Mutex::default(),
            tasks: TaskTracker::new(),
            stopping: AtomicBool::new(false),
            summarising: Arc::default(),
            configuration,
            storage,
            notifier,
        })
    }

    /// Starts a run for `message`, or finds the live one that its idempotency
    /// key names; true when it was found. Whether the message is accepted is
    /// what [`Run::settled`] says. `run_id` is the new run's; None: one that
    /// stands ready, or any.
    pub fn submit(
        self: &Arc<Self>,
        message: gateway::Message,
        extra: Extra,
        run_id: Option<String>,
    ) -> Result<(Arc<Run>, bool), Refusal> {
        if self.is_stopping() {
            return Err(Refusal::Stopping);
        }
        check_length("the text", &message.text, TEXT_LIMIT)?;
        check_length(
            "the idempotency key",
            &message.idempotency_key,
            IDEMPOTENCY_KEY_LIMIT,
        )?;
        check_length("the channel", &message.channel, CHANNEL_LIMIT)?;
        let channel = match message.channel.as_str() {
            "" => DEFAULT_CHANNEL.to_owned(),
            channel => channel.to_owned(),
        };
        let key = match message.route {
            Some(route) if message.session_key.trim().is_empty() => {
                self.routed_key(&channel, route, &message.agent_id)?
            }
            _ => self.key(&message.session_key, &message.agent_id)?,
        };
        let idempotency_key = Some(message.idempotency_key).filter(|key| !key.is_empty());
        let run_id = run_id.unwrap_or_else(|| self.run_id(&key));
        let run = Run::new(run_id, key, channel, idempotency_key);
        if let Start::Same(run) = self.runs.start(&run) {
            return Ok((run, true));
        }
        let ticket = match self.lanes.enter(&run.key, &run.id) {
            Ok(ticket) => ticket,
            Err(crowded) => {
                self.runs.end(&run);
                return Err(crowded.into());
            }
        };
        let drive = turn::drive(
            Arc::clone(self),
            Arc::clone(&run),
            message.text,
            extra,
            ticket,
        );
        self.tasks.spawn(drive.instrument(run.span.clone()));
        self.bus.publish(&DomainEvent::RunBegan(&run));
        Ok((run, false))
    }

    /// The run id under which a process stands ready, or a new one.
    fn run_id(&self, key: &SessionKey) -> String {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let agent = key.agent();
        reserved
            .remove(&(agent.clone(), Some(key.clone())))
            .or_else(|| reserved.remove(&(agent.clone(), None)))
            .filter(|run_id| self.runs.find(run_id).is_none())
            .unwrap_or_else(|| Uuid::new_v4().to_string())
    }

    /// Has the process ended that stands ready for a session that ended too.
    pub fn release(self: &Arc<Self>, key: &SessionKey) {
        let place = (key.agent().clone(), Some(key.clone()));
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(run_id) = reserved.remove(&place) else {
            return;
        };
        let core = Arc::clone(self);
        self.spawn(async move { turn::close_turn(&core, &run_id).await });
    }

    /// Keeps the run id that the agent's next turn is to have, or the one of
    /// this session, unless there is a run of that id: one that waits for its
    /// turn, or that never had one.
    pub(crate) async fn reserve(&self, agent: &AgentId, session: Option<SessionKey>, run_id: &str) {
        let known = self.storage.find(run_id).await;
        if Uuid::parse_str(run_id).is_err() || !matches!(known, Ok(None)) {
            return;
        }
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        if self.runs.find(run_id).is_none() {
            reserved.insert((agent.clone(), session), run_id.to_owned());
        }
    }

    /// Names a turn of the gateway's own, for as long as the value lives.
    pub(crate) fn summarising(&self, run_id: &str) -> Summarising {
        let all = Arc::clone(&self.summarising);
        lock(&all).insert(run_id.to_owned());
        Summarising {
            all,
            run_id: run_id.to_owned(),
        }
    }

    /// Whether this gateway waits for a summary of that turn.
    pub(crate) fn is_summarising(&self, run_id: &str) -> bool {
        lock(&self.summarising).contains(run_id)
    }

    /// Does `work` beside the calls.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// The canonical key, of an agent that is configured.
    pub fn key(&self, session_key: &str, agent_id: &str) -> Result<SessionKey, Refusal> {
        let settings = self.configuration.settings();
        let named = Some(agent_id).filter(|agent| !agent.is_empty());
        let agent: AgentId = named.unwrap_or(&settings.default_agent).parse()?;
        let key = route::scoped(SessionKey::parse(session_key, &agent)?, &settings.session);
        if named.is_some() && *key.agent() != agent {
            return Err(Refusal::OtherAgent { key, agent });
        }
        self.of_configured_agent(key)
    }

    /// The key of the conversation that a message from `route` belongs to.
    pub(crate) fn routed_key(
        &self,
        channel: &str,
        route: gateway::Route,
        agent_id: &str,
    ) -> Result<SessionKey, Refusal> {
        let settings = self.configuration.settings();
        let agent = match agent_id {
            "" => settings.default_agent.as_str(),
            agent => agent,
        };
        let agent: AgentId = agent.parse()?;
        let session = &settings.session;
        let scope = route::scope(session.dm_scope);
        let key = match session.scope {
            SessionScope::Global => SessionKey::global(&agent),
            SessionScope::PerSender => {
                route::of(channel, route).key(&agent, scope, &session.identity_links)?
            }
        };
        self.of_configured_agent(key)
    }

    fn of_configured_agent(&self, key: SessionKey) -> Result<SessionKey, Refusal> {
        let settings = self.configuration.settings();
        if settings.agent(key.agent().as_str()).is_none() {
            return Err(Refusal::UnknownAgent {
                agent: key.agent().clone(),
                configured: settings.agents.keys().cloned().collect(),
            });
        }
        Ok(key)
    }

    /// Takes over what changed in the configuration. Agents and budgets are
    /// read with every message; paths need a restart, as sockets do.
    pub async fn follow_configuration(self: Arc<Self>) {
        let mut configuration = self.configuration.clone();
        while configuration.changed().await {
            let settings = configuration.settings();
            self.lanes.set_cap(settings.concurrent_turns as usize);
            self.schedule.look_again();
            if let Err(fault) = self.storage.maintain().await {
                failure::report("look after old sessions", &fault);
            }
        }
    }

    /// Brings the status line up to date.
    pub fn announce(&self) {
        if !self.is_stopping() {
            let (running, waiting) = self.lanes.counts();
            let line = status_line(self.storage.session_count(), running, waiting);
            self.notifier.status(&line);
        }
    }

    /// Whether nothing is accepted any more.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Accepts nothing any more. Turns go on without the gateway, and the next
    /// one takes them up; those that end at this very moment are waited for.
    pub async fn drain(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.tasks.close();
        if tokio::time::timeout(LAST_WORDS, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::info!(
                runs = self.runs.live().len(),
                "turns go on without the gateway"
            );
        }
    }
}

fn check_length(what: &'static str, text: &str, limit: usize) -> Result<(), Refusal> {
    if text.len() > limit {
        return Err(Refusal::TooLong {
            what,
            length: text.len(),
            limit,
        });
    }
    Ok(())
}

fn status_line(sessions: u64, running: usize, waiting: usize) -> String {
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    let mut line = format!(
        "{sessions} session{}, {running} turn{} running",
        plural(sessions),
        plural(running as u64),
    );
    if waiting > 0 {
        line.push_str(&format!(", {waiting} waiting"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::status_line;

    #[test]
    fn the_status_line_has_live_figures() {
        assert_eq!(status_line(3, 1, 0), "3 sessions, 1 turn running");
        assert_eq!(
            status_line(1, 0, 2),
            "1 session, 0 turns running, 2 waiting"
        );
    }
}
