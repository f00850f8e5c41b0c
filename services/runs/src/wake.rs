//! Telling an agent what happened elsewhere, at once or with its next turn.

use openclaw_commands::Sender;
use openclaw_conversations::Refusal;
use openclaw_proto::gateway::{Accepted, Message};
use openclaw_sessions::SessionKey;
use openclaw_sessions::transcript::SYSTEM;

use crate::heartbeat::Heartbeats;
use crate::submission::Submitter;
use crate::system_event::{PROMPT, SystemEvents};
use crate::turn::Extra;

/// When an event reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// In a turn of its own.
    Now,
    /// With the next turn that there is.
    NextTurn,
}

/// What became of an event.
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
    /// `reason`.
    pub async fn wake(
        &self,
        key: &SessionKey,
        text: &str,
        when: When,
        reason: &'static str,
    ) -> Result<Woken, Refusal> {
        let is_new = self.events.push(key, text);
        if when == When::NextTurn {
            return Ok(Woken { is_new, run: None });
        }
        // Where another turn was told of it meanwhile, there is nothing but to look.
        let (text, notices) = match self.events.take(key) {
            Some(told) => (Some(told.text), told.notices),
            None => (None, Vec::new()),
        };
        let message = Message {
            text: text.unwrap_or_else(|| PROMPT.to_owned()),
            session_key: key.to_string(),
            channel: SYSTEM.to_owned(),
            ..Message::default()
        };
        let extra = Extra {
            sender: Sender::program(),
            ..Extra::default()
        };
        let started = self.submitter.begin(message, extra).await?;
        // The message is durable by now.
        self.events.forget(notices).await;
        self.heartbeats.follow(started.events, reason);
        Ok(Woken {
            is_new,
            run: Some(started.accepted),
        })
    }
}
