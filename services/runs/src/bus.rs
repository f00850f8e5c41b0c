//! The bus: events below the doors, for subscribers.
//!
//! One after another, in the order in which it happens, and before whatever
//! published it goes on: a subscriber takes note and returns, and never waits.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use openclaw_proto::feed::Event;
use openclaw_sessions::SessionKey;
use serde_json::Value;

use crate::approval::{Approval, Outcome};
use crate::run::Run;
use openclaw_jobs::Job;

/// Something that happened.
pub enum DomainEvent<'a> {
    /// A message has a run. Whether it is accepted is what [`Run::settled`] says.
    RunBegan(&'a Arc<Run>),
    /// A scheduled job changed, or a run of it began or ended.
    JobChanged {
        /// The job's id.
        job_id: &'a str,
        /// The outcome.
        action: JobAction,
        /// None: it is gone.
        job: Option<&'a Job>,
        /// How its run ended, in OpenClaw's fields.
        entry: Option<&'a Value>,
    },
    /// An agent that was woken has answered; in OpenClaw's fields.
    HeartbeatEnded(&'a Value),
    /// Somebody has to decide.
    ApprovalRequested(&'a Approval),
    /// It was decided, or nobody did in time.
    ApprovalResolved {
        /// The question.
        approval: &'a Approval,
        /// How it ended.
        outcome: Outcome,
        /// The person who decided.
        by: &'a str,
    },
    /// The storage has written that this happened, in the order of its numbers.
    /// Told on the thread of the storage.
    Recorded(&'a [Event]),
    /// A run said something, as the event with this number of its log.
    RunSaid {
        /// The run.
        run: &'a Run,
        /// The number.
        seq: u64,
    },
    /// An agent is told of something with its next turn.
    SystemEvent {
        /// The session.
        key: &'a SessionKey,
        /// The text of the event.
        text: &'a str,
    },
    /// A command changed the entry of a session.
    SessionChanged {
        /// The session.
        key: &'a SessionKey,
        /// How, in OpenClaw's words.
        reason: &'a str,
    },
    /// The gateway itself said something in a session.
    Said {
        /// The session.
        key: &'a SessionKey,
        /// The id of the entry.
        message_id: &'a str,
        /// The text.
        text: &'a str,
    },
}

/// The change of a scheduled job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobAction {
    /// It is new.
    Added,
    /// It was changed.
    Updated,
    /// It is gone.
    Removed,
    /// A run of it began.
    Started,
    /// A run of it ended.
    Finished,
}

impl JobAction {
    /// As OpenClaw's clients know it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Removed => "removed",
            Self::Started => "started",
            Self::Finished => "finished",
        }
    }
}

/// Somebody who wants to know.
pub trait Subscriber: Send + Sync {
    /// Takes note of `event`. Must not wait: everything behind it does.
    fn take(&self, event: &DomainEvent<'_>);
}

/// The one place where it is told. Cheap to clone.
#[derive(Clone, Default)]
pub struct Bus(Arc<Subscribers>);

type Subscribers = RwLock<Vec<Box<dyn Subscriber>>>;

/// A bus, for those who must not keep its subscribers.
pub(crate) struct WeakBus(Weak<Subscribers>);

impl WeakBus {
    /// The bus, as long as there is one.
    pub(crate) fn upgrade(&self) -> Option<Bus> {
        self.0.upgrade().map(Bus)
    }
}

impl Bus {
    /// Tells `subscriber` whatever happens from now on.
    pub fn subscribe(&self, subscriber: Box<dyn Subscriber>) {
        let mut subscribers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        subscribers.push(subscriber);
    }

    /// A handle that does not keep it.
    pub(crate) fn downgrade(&self) -> WeakBus {
        WeakBus(Arc::downgrade(&self.0))
    }

    /// Tells everybody.
    pub fn publish(&self, event: &DomainEvent<'_>) {
        let subscribers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for subscriber in subscribers.iter() {
            subscriber.take(event);
        }
    }
}
