//! Telling an agent what happened elsewhere, at once or with its next turn.

use openclaw_commands::Sender;
use openclaw_conversations::Refusal;
use openclaw_conversations::storage::TurnOptions;
use openclaw_proto::gateway::{Accepted, Message};
use openclaw_sessions::SessionKey;
use openclaw_sessions::transcript::SYSTEM;
use serde_json::{Map, Value};

use crate::heartbeat::Heartbeats;
use crate::submission::Submitter;
use crate::system_event::{PROMPT, SystemEvents, WaitingEvents};
use crate::turn::Extra;

/// When an event reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// In a turn of its own.
    Now,
    /// With the next turn that there is.
    NextTurn,
}

/// The outcome of an event.
#[derive(Debug)]
pub struct Woken {
    /// It was not the last one that waited already.
    pub is_new: bool,
    /// The turn that is told of it, when that is now.
    pub run: Option<Accepted>,
}

/// Wakes agents. Cheap to clone.
#[derive(Clone)]
pub struct Waker {
    pub(crate) events: SystemEvents,
    pub(crate) submitter: Submitter,
    pub(crate) heartbeats: Heartbeats,
}

impl Waker {
    /// Tells the agent of session `key` about an event that came by way of
    /// `reason`. The event is durable when this returns.
    pub async fn wake(
        &self,
        key: &SessionKey,
        text: &str,
        when: When,
        reason: &'static str,
    ) -> Result<Woken, Refusal> {
        let is_new = self.note(key, text, |_| Ok(())).await?;
        let run = match when {
            When::NextTurn => None,
            When::Now => Some(self.rouse(key, "", Map::new(), reason).await?),
        };
        Ok(Woken { is_new, run })
    }

    /// The events that wait for the next turn of session `key`.
    pub fn waiting(&self, key: &SessionKey) -> Vec<String> {
        self.events.waiting(key)
    }

    /// Notes and tells how a heartbeat was, in OpenClaw's fields.
    pub async fn note_heartbeat(&self, event: &Value) {
        self.heartbeats.note(event).await;
    }

    /// Tells the agent of session `key` with its next turn; durable when this returns. `with` is
    /// done in the same transaction. Whether it is not the last event that waits already.
    pub async fn note(
        &self,
        key: &SessionKey,
        text: &str,
        with: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<bool, Refusal> {
        Ok(self.events.push(key, text, with).await?)
    }

    /// Tells the agent of session `key` what waits, in a turn of its own.
    /// Under the same idempotency key, unless it is empty, there is one such turn;
    /// `limits` are that turn's own ([`TurnOptions::limits`]).
    pub async fn rouse(
        &self,
        key: &SessionKey,
        idempotency_key: &str,
        limits: Map<String, Value>,
        reason: &'static str,
    ) -> Result<Accepted, Refusal> {
        // Where another turn was told of it meanwhile, there is nothing but to look.
        let told = self.events.take(key);
        let message = Message {
            text: told
                .as_ref()
                .map_or_else(|| PROMPT.to_owned(), WaitingEvents::text),
            session_key: key.to_string(),
            channel: SYSTEM.to_owned(),
            idempotency_key: idempotency_key.to_owned(),
            ..Message::default()
        };
        let extra = Extra {
            turn: TurnOptions {
                limits,
                ..TurnOptions::default()
            },
            sender: Sender::program(),
            ..Extra::default()
        };
        let started = async { self.submitter.submit(message, extra, None)?.started().await };
        let started = started.await;
        let is_told = started.as_ref().is_ok_and(|it| !it.accepted.existing);
        match told {
            // The message is durable by now.
            Some(told) if is_told => self.events.forget(told.notices()).await,
            // They wait for the next turn.
            Some(told) => self.events.put_back(key, told),
            None => {}
        }
        let started = started?;
        if !started.accepted.existing {
            self.heartbeats.follow(started.events, reason);
        }
        Ok(started.accepted)
    }
}
