//! The parts of a gateway's core, put together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_conversations::database::Database;
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::{Record, Storage};
use openclaw_conversations::{Lanes, Refusal};
use openclaw_daemon::{Configuration, Notifier, failure};
use openclaw_proto::gateway::Route;
use openclaw_proto::sessions::Mentions;
use openclaw_proto::{memory, runner};
use openclaw_sessions::SessionKey;
use tokio_util::task::TaskTracker;

use crate::approvals::Approvals;
use crate::bus::{Bus, DomainEvent};
use crate::command::Commands;
use crate::counters::Counters;
use crate::feed::{Feed, FeedSubscriber, Recorder};
use crate::heartbeat::Heartbeats;
use crate::keys;
use crate::outbox::{Dispatcher, Outbox};
use crate::queue::Queue;
use crate::recovery::Recovery;
use crate::run::Registry;
use crate::standby::Standby;
use crate::status_line::StatusLine;
use crate::submission::Submitter;
use crate::system_event::SystemEvents;
use crate::turn::{Cramped, SessionIds, Tails, Turns};
use crate::wake::Waker;
use openclaw_compaction::Compactor;

/// The longest time the last turns may take when the gateway stops. Where a turn goes on, it
/// passes before what streams get after it, and both before the next gateway starts: clients wait
/// for all of it, and may wait a second at most.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// The parts, each with what it needs of those below it. Nothing of this crate takes it whole.
pub struct Core {
    /// The configuration as it holds now.
    pub configuration: Configuration,
    /// The storage of conversations.
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
    /// The counters.
    pub counters: Arc<Counters>,
    /// Events from elsewhere that wait to be told.
    pub system_events: SystemEvents,
    /// The bus of events.
    pub bus: Bus,
    /// The feed of events, for those who follow it from a number on.
    pub feed: Arc<Feed>,
    /// The outbox: deliveries to channels.
    pub outbox: Arc<Outbox>,
    /// The small tables beside the runs in the ledger.
    pub database: Database,
    /// Commands that wait to be allowed.
    pub approvals: Arc<Approvals>,
    /// Makes room in conversations.
    pub compactor: Compactor,
    /// The answers of agents that were woken.
    pub heartbeats: Heartbeats,
    /// When the gateway was started.
    pub started: Instant,
    /// The one way in for messages.
    pub submitter: Submitter,
    /// Wakes agents.
    pub waker: Waker,
    standby: Standby,
    status: StatusLine,
    turns: Arc<Turns>,
    /// The background tasks. Closed when nothing is accepted any more.
    pub tasks: TaskTracker,
}

/// The lowest parts, from which the others are made.
struct Base {
    configuration: Configuration,
    storage: Storage,
    sessions: Sessions,
    runner: runner::Client,
    memory: memory::Client,
    lanes: Lanes,
    runs: Registry,
    system_events: SystemEvents,
    bus: Bus,
    database: Database,
    feed: Arc<Feed>,
    outbox: Arc<Outbox>,
    tasks: TaskTracker,
}

impl Base {
    fn new(configuration: Configuration, storage: Storage) -> Self {
        let settings = configuration.settings();
        let lanes = Lanes::new(settings.concurrent_turns as usize);
        let database = Database::at(settings.paths.ledger());
        let bus = Bus::default();
        Self {
            sessions: Sessions::new(storage.clone(), lanes.clone(), configuration.clone()),
            runner: runner::Client::new(settings.paths.runner_socket()),
            memory: memory::Client::new(settings.paths.memory_socket()),
            feed: Feed::new(database.clone(), storage.series().clone()),
            outbox: Outbox::new(database.clone()),
            runs: Registry::default(),
            system_events: SystemEvents::new(bus.clone(), database.clone()),
            tasks: TaskTracker::new(),
            bus,
            database,
            configuration,
            storage,
            lanes,
        }
    }

    /// Keeps what happens, tells those who follow it, and says it on channels.
    fn publish_what_is_recorded(&self) {
        self.bus.subscribe(Box::new(Recorder(self.storage.clone())));
        self.bus
            .subscribe(Box::new(FeedSubscriber(Arc::clone(&self.feed))));
        self.bus.subscribe(Box::new(Dispatcher {
            outbox: Arc::clone(&self.outbox),
            configuration: self.configuration.clone(),
            runs: self.runs.clone(),
            tasks: self.tasks.clone(),
        }));
        // The recorder keeps the storage, which must not keep the bus.
        let bus = self.bus.downgrade();
        self.storage.listen(move |events| {
            if let Some(bus) = bus.upgrade() {
                bus.publish(&DomainEvent::Recorded(&events));
            }
        });
    }

    fn approvals(&self) -> Approvals {
        Approvals::new(
            self.database.clone(),
            self.configuration.clone(),
            self.runner.clone(),
            self.bus.clone(),
        )
    }

    fn compactor(&self) -> Compactor {
        Compactor::new(
            self.configuration.clone(),
            self.sessions.clone(),
            self.memory.clone(),
            self.runner.clone(),
        )
    }

    fn standby(&self) -> Standby {
        Standby::new(
            self.runs.clone(),
            self.storage.clone(),
            self.runner.clone(),
            self.tasks.clone(),
        )
    }

    fn status(&self, notifier: Notifier) -> StatusLine {
        StatusLine::new(
            self.storage.clone(),
            self.lanes.clone(),
            notifier,
            self.tasks.clone(),
        )
    }

    fn queue(&self) -> Queue {
        Queue::new(
            self.configuration.clone(),
            self.lanes.clone(),
            self.runs.clone(),
            self.runner.clone(),
            self.tasks.clone(),
        )
    }

    fn turns(
        &self,
        (counters, approvals): (&Arc<Counters>, &Arc<Approvals>),
        compactor: &Compactor,
        standby: &Standby,
        status: &StatusLine,
    ) -> Turns {
        Turns {
            configuration: self.configuration.clone(),
            storage: self.storage.clone(),
            sessions: self.sessions.clone(),
            runner: self.runner.clone(),
            memory: self.memory.clone(),
            lanes: self.lanes.clone(),
            runs: self.runs.clone(),
            counters: Arc::clone(counters),
            system_events: self.system_events.clone(),
            bus: self.bus.clone(),
            queue: self.queue(),
            approvals: Arc::clone(approvals),
            compactor: compactor.clone(),
            standby: standby.clone(),
            status: status.clone(),
            tasks: self.tasks.clone(),
            tails: Tails::default(),
            session_ids: SessionIds::default(),
            cramped: Cramped::default(),
        }
    }

    fn submitter(&self, standby: &Standby, turns: &Arc<Turns>) -> Submitter {
        Submitter {
            configuration: self.configuration.clone(),
            storage: self.storage.clone(),
            lanes: self.lanes.clone(),
            runs: self.runs.clone(),
            bus: self.bus.clone(),
            standby: standby.clone(),
            turns: Arc::clone(turns),
            commands: Commands {
                turns: Arc::clone(turns),
                started: Instant::now(),
            },
            tasks: self.tasks.clone(),
        }
    }
}

impl Core {
    /// A core over `storage`. It hears of no change of the configuration before
    /// [`Core::follow_configuration`].
    pub fn new(configuration: Configuration, storage: Storage, notifier: Notifier) -> Arc<Self> {
        let base = Base::new(configuration, storage);
        base.publish_what_is_recorded();
        let counters = Arc::new(Counters::default());
        let approvals = Arc::new(base.approvals());
        let (compactor, standby) = (base.compactor(), base.standby());
        let status = base.status(notifier);
        let turns = base.turns((&counters, &approvals), &compactor, &standby, &status);
        let turns = Arc::new(turns);
        let submitter = base.submitter(&standby, &turns);
        let heartbeats =
            Heartbeats::new(base.database.clone(), base.bus.clone(), base.tasks.clone());
        let waker = Waker {
            events: base.system_events.clone(),
            submitter: submitter.clone(),
            heartbeats: heartbeats.clone(),
        };
        Arc::new(Self {
            started: Instant::now(),
            configuration: base.configuration,
            storage: base.storage,
            sessions: base.sessions,
            runner: base.runner,
            memory: base.memory,
            lanes: base.lanes,
            runs: base.runs,
            system_events: base.system_events,
            bus: base.bus,
            database: base.database,
            feed: base.feed,
            outbox: base.outbox,
            tasks: base.tasks,
            counters,
            approvals,
            compactor,
            heartbeats,
            standby,
            status,
            submitter,
            waker,
            turns,
        })
    }

    /// The canonical key, of an agent that is configured.
    pub fn key(&self, session_key: &str, agent_id: &str) -> Result<SessionKey, Refusal> {
        keys::named(&self.configuration.settings(), session_key, agent_id)
    }

    /// The key of the conversation that a message from `route` on `channel` belongs
    /// to, with an agent or, when that is empty, the default one.
    pub fn routed_key(
        &self,
        channel: &str,
        route: Route,
        agent_id: &str,
    ) -> Result<SessionKey, Refusal> {
        keys::routed(&self.configuration.settings(), channel, route, agent_id)
    }

    /// Where words are in what was said to an agent, or when it is empty, to all of them; with
    /// `forget`, they are taken out for good, also from what is kept ready for the next message.
    pub async fn mentions(
        &self,
        words: &str,
        agent: &str,
        forget: bool,
    ) -> Result<Mentions, Refusal> {
        let mentions = self.sessions.mentions(words, agent, forget).await?;
        if forget {
            self.turns.tails.clear();
            // An agent's CLI may have read the words where no transcript has them.
            self.standby.release_readers(agent);
        }
        Ok(mentions)
    }

    /// Ends the process that stands ready for a session that ended.
    pub fn release(&self, key: &SessionKey) {
        self.standby.release(key);
    }

    /// Takes up the runs of `records`, which the last gateway left open, and
    /// brings the status line up to date.
    pub async fn take_up(&self, records: Vec<Record>) {
        let recovery = Recovery {
            storage: self.storage.clone(),
            runner: self.runner.clone(),
            lanes: self.lanes.clone(),
            runs: self.runs.clone(),
            compactor: self.compactor.clone(),
            turns: Arc::clone(&self.turns),
            submitter: self.submitter.clone(),
            tasks: self.tasks.clone(),
        };
        self.system_events.restore().await;
        recovery.take_up(records).await;
        self.status.announce();
    }

    /// Does `work` beside the calls.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Takes over what changed in the configuration. Agents and budgets are
    /// read with every message; paths need a restart, as sockets do.
    pub async fn follow_configuration(self: Arc<Self>) {
        let mut configuration = self.configuration.clone();
        while configuration.changed().await {
            let settings = configuration.settings();
            self.lanes.set_cap(settings.concurrent_turns as usize);
            if let Err(fault) = self.storage.maintain().await {
                failure::report("look after old sessions", &fault);
            }
        }
    }

    /// Whether something is done beside the calls: turns, jobs, commands.
    pub fn is_busy(&self) -> bool {
        !self.tasks.is_empty() || !self.runs.live().is_empty()
    }

    /// Whether nothing is accepted any more.
    pub fn is_stopping(&self) -> bool {
        self.tasks.is_closed()
    }

    /// Accepts nothing any more. Turns go on without the gateway, and the next
    /// one takes them up; those that end at this very moment are waited for.
    pub async fn drain(&self) {
        self.tasks.close();
        self.feed.close();
        self.outbox.close();
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
