//! The feed of events from a number on: kept ones first, then new ones.
//!
//! What happened for good is told by the storage, which numbers it as it writes
//! it ([`DomainEvent::Recorded`]); what a run says meanwhile is told on the bus.
//! A subscriber reads what is kept from the ledger in its own time. Only then
//! has it a queue here, and one more look at the ledger closes the gap between
//! the two: what is in both has a number that was told already.

mod queue;
mod reader;
mod record;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_conversations::database::{Database, Fault};
use openclaw_conversations::feed::Series;
use openclaw_daemon::failure;
use openclaw_proto::feed::{Event, FeedItem, Selector, Subscription};
use openclaw_sessions::now_ms;
use tokio::sync::Semaphore;

use crate::bus::{DomainEvent, Subscriber};
use crate::run::{Run, cost};
use queue::Queue;
use reader::Reader;
pub(crate) use record::Recorder;

/// Subscribers at once: each may have its queue full. A channel has one, a
/// dashboard one for each window.
const SUBSCRIBERS: usize = 64;

/// How often old events are looked for. Keeping some for longer does no harm.
const PRUNE_INTERVAL: Duration = Duration::from_secs(3600);

/// The size of a kept event in a queue; none is much larger, because their texts are cut.
const EVENT_COST: usize = 512;

/// Why there are no more events.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// There are as many subscribers as there may be.
    #[error("{SUBSCRIBERS} clients have subscribed already")]
    TooMany,
    /// The subscriber is behind by more than is kept for it.
    #[error(
        "events come faster than they are read, and too many wait; the last one told has the \
         sequence {0}: subscribe again with after_sequence {0}"
    )]
    Slow(u64),
    /// The gateway ends.
    #[error("the gateway is stopping; subscribe again with after_sequence {0}")]
    Stopping(u64),
    /// The ledger cannot be read.
    #[error("cannot read the events that are kept")]
    Unreadable(#[from] Fault),
}

/// Tells subscribers what happens.
pub struct Feed {
    database: Database,
    series: Series,
    listeners: Mutex<Listeners>,
    /// Whether somebody has a queue: while nobody has, what runs say costs nothing.
    is_heard: AtomicBool,
    room: Arc<Semaphore>,
}

struct Listeners {
    /// The number of the last event that was told here.
    last: u64,
    queues: Vec<Arc<Queue>>,
    is_closed: bool,
}

impl Feed {
    pub(crate) fn new(database: Database, series: Series) -> Arc<Self> {
        Arc::new(Self {
            database,
            listeners: Mutex::new(Listeners {
                last: series.last,
                queues: Vec::new(),
                is_closed: false,
            }),
            series,
            is_heard: AtomicBool::new(false),
            room: Arc::new(Semaphore::new(SUBSCRIBERS)),
        })
    }

    /// The events of `subscription`, at the reader's speed as far as possible.
    pub fn subscribe(
        self: &Arc<Self>,
        subscription: Subscription,
    ) -> Result<impl futures_util::Stream<Item = Result<FeedItem, Broken>> + Send + use<>, Broken>
    {
        let place = Arc::clone(&self.room).try_acquire_owned();
        let place = place.map_err(|_| Broken::TooMany)?;
        let reader = Reader::new(Arc::clone(self), subscription, place);
        Ok(futures_util::stream::unfold(reader, Reader::step))
    }

    /// Ends all subscriptions.
    pub(crate) fn close(&self) {
        let mut listeners = self.lock();
        listeners.is_closed = true;
        listeners.queues.drain(..).for_each(|queue| queue.close());
    }

    /// Forgets what is too old, whenever it is time.
    pub async fn prune_now_and_then(self: Arc<Self>) {
        loop {
            tokio::time::sleep(PRUNE_INTERVAL).await;
            self.prune().await;
        }
    }

    /// A little at a time, so that messages come in between.
    async fn prune(&self) {
        loop {
            let prune = |connection: &rusqlite::Connection| {
                openclaw_conversations::feed::prune(connection, now_ms())
            };
            match self.database.call("forget old events", prune).await {
                Ok(true) => return,
                Ok(false) => {}
                Err(fault) => {
                    return failure::report("forget old events, trying again later", &fault);
                }
            }
        }
    }

    /// A queue of events from now on, and the number of the last event before.
    fn listen(&self, selector: Selector, live: bool) -> (Arc<Queue>, u64) {
        let queue = Arc::new(Queue::new(selector, live));
        let mut listeners = self.lock();
        if listeners.is_closed {
            queue.close();
        } else {
            listeners.queues.push(Arc::clone(&queue));
            self.is_heard.store(true, Ordering::Relaxed);
        }
        (queue, listeners.last)
    }

    fn leave(&self, queue: &Arc<Queue>) {
        let mut listeners = self.lock();
        listeners.queues.retain(|it| !Arc::ptr_eq(it, queue));
        let is_heard = !listeners.queues.is_empty();
        self.is_heard.store(is_heard, Ordering::Relaxed);
    }

    fn recorded(&self, events: &[Event]) {
        let mut listeners = self.lock();
        for event in events {
            listeners.last = listeners.last.max(event.sequence);
            let (agent, session) = (&event.agent_id, &event.session_key);
            let told = || FeedItem::Event(event.clone());
            listeners.tell(agent, session, false, EVENT_COST, told);
        }
    }

    fn said(&self, run: &Run, seq: u64) {
        if !self.is_heard.load(Ordering::Relaxed) {
            return;
        }
        let Some(event) = run.log.ready(seq) else {
            return;
        };
        let mut listeners = self.lock();
        let sequence = listeners.last;
        let (agent, session) = (run.key.agent().as_str(), run.key.as_str());
        let bytes = cost(&event.kind);
        listeners.tell(agent, session, true, bytes, || FeedItem::Live {
            sequence,
            session_key: session.to_owned(),
            agent_id: agent.to_owned(),
            event,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listeners {
    /// Queues what happened in a session for whoever wants it: made once, and
    /// shared by all of them.
    fn tell(
        &mut self,
        agent: &str,
        session: &str,
        is_live: bool,
        bytes: usize,
        told: impl FnOnce() -> FeedItem,
    ) {
        let mut wanting = self
            .queues
            .iter()
            .filter(|queue| queue.wants(agent, session, is_live))
            .peekable();
        if wanting.peek().is_none() {
            return;
        }
        let told = Arc::new(told());
        wanting.for_each(|queue| queue.push(&told, bytes));
    }
}

/// The feed, as the bus knows it.
pub(crate) struct FeedSubscriber(pub(crate) Arc<Feed>);

impl Subscriber for FeedSubscriber {
    fn take(&self, event: &DomainEvent<'_>) {
        match *event {
            DomainEvent::Recorded(events) => self.0.recorded(events),
            DomainEvent::RunSaid { run, seq } => self.0.said(run, seq),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
