//! A run: one message and what answers it.

mod log;
mod queued;
mod registry;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use openclaw_conversations::storage::{Fault, Record};
use openclaw_inbound::MessageText;
use openclaw_proto::event::{Done, Kind};
use openclaw_proto::gateway::{Accepted, Route};
use openclaw_proto::shown::Shown;
use openclaw_sessions::transcript::GATEWAY;
use openclaw_sessions::{SessionKey, now_ms};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Span;

/// The channel of OpenClaw's WebSocket protocol, as it names it.
pub const WEBCHAT: &str = "webchat";

pub(crate) use log::{EventLog, cost};
pub(crate) use queued::Queued;
pub use registry::Registry;
pub(crate) use registry::Start;

/// The channel of clients that name none: the command line's.
pub(crate) const DEFAULT_CHANNEL: &str = "cli";

/// Why a run ended that a newer message ended.
pub(crate) const INTERRUPTED: &str = "interrupted by a new message";

/// How long the runner may take to end the turn of a run that is stopped. It
/// kills what does not end by itself after half of that.
const STOP_PATIENCE: Duration = Duration::from_millis(700);

/// A run that is live, or ended not long ago.
#[derive(Debug)]
pub struct Run {
    /// Its id.
    pub id: String,
    /// Its session.
    pub key: SessionKey,
    /// The channel of its message.
    pub channel: String,
    /// The route on that channel.
    pub route: Option<Route>,
    /// The client's name for its message.
    pub idempotency_key: Option<String>,
    /// Its events.
    pub log: EventLog,
    /// The text of its message while that may be edited.
    pub(crate) words: MessageText,
    /// Set when the message found its session busy.
    pub queued: OnceLock<Queued>,
    /// Provider and model that the runner chose for its turn.
    pub model: OnceLock<(String, String)>,
    /// The backend that the runner chose for its turn.
    pub backend: OnceLock<String>,
    /// How much of it is shown, by its session as it was when the message was accepted.
    pub shown: OnceLock<Shown>,
    /// The command that its message is.
    command: OnceLock<&'static str>,
    /// Whether its turn is at the runner.
    pub(crate) has_begun: AtomicBool,
    absorbed: OnceLock<&'static str>,
    collected: Mutex<Vec<String>>,
    /// Cancelled when somebody ends the run.
    pub cancel: CancellationToken,
    /// Cancelled when somebody stops it, whatever becomes of its turn.
    pub(crate) breaker: CancellationToken,
    stopped_at: OnceLock<Instant>,
    left: AtomicBool,
    /// The journal fields of everything about the run.
    pub span: Span,
    reason: OnceLock<String>,
    status: watch::Sender<MessageStatus>,
}

/// The state of the message.
#[derive(Debug, Clone)]
pub enum MessageStatus {
    /// It is on its way to the disk.
    Asked,
    /// It is durable and has a run.
    Accepted(Accepted),
    /// Its idempotency key names a run that ended.
    Existing(Box<Record>),
    /// It could not be made durable.
    Refused(Fault),
}

impl Run {
    /// Whether its answer goes where that of `other` goes. Else neither takes the
    /// other's message into its turn: whoever sent that would hear nothing.
    pub(crate) fn is_answered_with(&self, other: &Self) -> bool {
        let place = |run: &Self| {
            let route = run.route.clone()?;
            Some((run.channel.clone(), route.account, route.id, route.thread))
        };
        place(self) == place(other)
    }

    /// Whether its message came from whoever sent that of `other`, as their channel knows people.
    pub(crate) fn is_of_sender_of(&self, other: &Self) -> bool {
        let sender = |run: &Self| {
            let route = run.route.clone()?;
            Some((run.channel.clone(), route.account, route.sender?))
        };
        sender(self).is_some() && sender(self) == sender(other)
    }

    pub(crate) fn new(
        id: String,
        key: SessionKey,
        channel: String,
        route: Option<Route>,
        idempotency_key: Option<String>,
    ) -> Arc<Self> {
        // Of the highest level: a span below the log level would take the fields
        // of the warnings in it along.
        let span = tracing::error_span!(
            "run",
            openclaw_session = %key,
            openclaw_run = id,
            openclaw_agent = %key.agent(),
            openclaw_channel = channel,
        );
        Arc::new(Self {
            log: EventLog::new(id.clone()),
            id,
            key,
            channel,
            route,
            idempotency_key,
            words: MessageText::default(),
            queued: OnceLock::new(),
            model: OnceLock::new(),
            backend: OnceLock::new(),
            shown: OnceLock::new(),
            command: OnceLock::new(),
            has_begun: AtomicBool::new(false),
            absorbed: OnceLock::new(),
            collected: Mutex::default(),
            cancel: CancellationToken::new(),
            breaker: CancellationToken::new(),
            stopped_at: OnceLock::new(),
            left: AtomicBool::new(false),
            span,
            reason: OnceLock::new(),
            status: watch::Sender::new(MessageStatus::Asked),
        })
    }

    /// The run's id for clients of the WebSocket protocol: the idempotency key, as in OpenClaw.
    pub fn public_id(&self) -> &str {
        self.idempotency_key.as_deref().unwrap_or(&self.id)
    }

    /// Tells whoever waits what became of the message.
    pub(crate) fn settle(&self, status: MessageStatus) {
        self.status.send_replace(status);
    }

    /// Waits for the outcome of the message.
    pub async fn settled(&self) -> MessageStatus {
        let mut status = self.status.subscribe();
        let known = status
            .wait_for(|status| !matches!(status, MessageStatus::Asked))
            .await;
        // The sender lives in `self`.
        known.map_or(MessageStatus::Refused(Fault::Stopped), |known| {
            known.clone()
        })
    }

    /// Ends the run; the first reason counts. False when it has ended already.
    pub fn end(&self, reason: &str) -> bool {
        if self.log.has_ended() {
            return false;
        }
        let _ = self.reason.set(reason.to_owned());
        self.cancel.cancel();
        true
    }

    /// Ends the run now: when the runner does not say soon that its turn has
    /// ended, the run ends without that. False when it has ended already.
    pub fn stop(&self, reason: &str) -> bool {
        let is_live = self.end(reason);
        let _ = self.stopped_at.set(Instant::now());
        self.breaker.cancel();
        is_live
    }

    /// Ends the run when `limit` has passed and it has not ended by itself.
    pub(crate) fn end_after(self: &Arc<Self>, limit: Duration, reason: &str) {
        let (run, reason) = (Arc::clone(self), reason.to_owned());
        // Not among the tasks that a stop waits for.
        tokio::spawn(async move {
            if timeout(limit, run.log.ended()).await.is_err() {
                run.end(&reason);
            }
        });
    }

    /// Waits until the run is stopped and the runner had its time to end its turn.
    pub(crate) async fn given_up(&self) {
        self.breaker.cancelled().await;
        let stopped_at = self.stopped_at.get().copied();
        sleep_until(stopped_at.unwrap_or_else(Instant::now) + STOP_PATIENCE).await;
    }

    /// Notes that its turn may go on: the runner did not say that it ended.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    /// Whether the run has ended and its turn may not have.
    pub fn is_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// Notes the command that its message is.
    pub(crate) fn set_command(&self, name: &'static str) {
        let _ = self.command.set(name);
    }

    /// The command that its message is, which the gateway answers.
    pub fn command(&self) -> Option<&'static str> {
        self.command.get().copied()
    }

    /// Whether the message found its session busy, and nobody has ended it.
    pub fn waits(&self) -> bool {
        self.queued.get().is_some() && !self.cancel.is_cancelled()
    }

    /// The message is answered with another one, or not at all, and why; the run ends.
    pub(crate) fn absorb(&self, why: &'static str) {
        // The first reason is the one that holds.
        self.absorbed.get_or_init(|| why);
        self.cancel.cancel();
    }

    /// The note about that for somebody who waits at a command line.
    pub(crate) fn absorbed_note(&self) -> Option<&'static str> {
        let why = self.absorbed.get().copied();
        why.filter(|_| self.channel == DEFAULT_CHANNEL)
    }

    /// Whether the message is answered with another one.
    pub fn is_absorbed(&self) -> bool {
        self.absorbed.get().is_some()
    }

    /// Notes the runs whose messages this one answers too.
    pub(crate) fn note_collected(&self, ids: impl Iterator<Item = String>) {
        let collected = self.collected.lock();
        let mut collected = collected.unwrap_or_else(PoisonError::into_inner);
        collected.extend(ids);
    }

    /// The runs whose messages this one answers too.
    pub(crate) fn collected(&self) -> Vec<String> {
        let collected = self.collected.lock();
        collected.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The outcome of a run that asked no model: of a command, and of a message that is answered
    /// with another one.
    pub(crate) fn answered_by_gateway() -> Kind {
        Kind::Done(Done {
            stop_reason: "stop".to_owned(),
            provider: GATEWAY.0.to_owned(),
            model: GATEWAY.1.to_owned(),
            ..Done::default()
        })
    }

    /// The outcome of a run that was ended before anything ran.
    pub fn aborted(&self, backend: &str) -> Kind {
        Kind::Aborted {
            reason: self.end_reason().to_owned(),
            backend_session: None,
            backend: backend.to_owned(),
        }
    }

    /// Whether its message may be known to a model, now or with those after it: it was
    /// taken to one, or a newer message took its place and not its words back.
    pub(crate) fn reached_a_model(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed) || self.end_reason() == INTERRUPTED
    }

    /// Why somebody ended the run.
    pub(crate) fn end_reason(&self) -> &str {
        self.reason.get().map_or("cancelled", String::as_str)
    }

    /// Adds an event; its number.
    pub(crate) fn publish(&self, kind: Kind) -> u64 {
        self.log.push(kind, now_ms());
        self.log.last()
    }
}
