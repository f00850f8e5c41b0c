//! What happened elsewhere and an agent is to know with its next turn.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openclaw_sessions::SessionKey;
use openclaw_sessions::transcript::SYSTEM;

use crate::bus::{Bus, DomainEvent};

/// Events that wait for a session's next turn; the oldest go first, as in
/// OpenClaw.
const PER_SESSION: usize = 20;
/// Sessions with waiting events.
const SESSIONS: usize = 256;
/// Characters of one event. It is a notice, not a document.
const LENGTH: usize = 4000;
/// What an agent is told that is woken for its events alone. The transcript has
/// the events, which happened, and not this, which nobody said.
pub(crate) const PROMPT: &str = "Look at the events above and act on them if that is needed.";

/// Events that wait, by session. Cheap to clone.
#[derive(Clone, Default)]
pub struct SystemEvents {
    sessions: Arc<Mutex<HashMap<SessionKey, VecDeque<Event>>>>,
    bus: Bus,
}

#[derive(Debug)]
struct Event {
    at: Timestamp,
    text: String,
}

impl SystemEvents {
    /// Those of which `bus` is told.
    pub(crate) fn new(bus: Bus) -> Self {
        Self {
            sessions: Arc::default(),
            bus,
        }
    }

    /// Has the agent of session `key` told with its next turn. The same event
    /// twice in a row is kept once; whether it is a new one.
    pub fn push(&self, key: &SessionKey, text: &str) -> bool {
        let text: String = text.trim().chars().take(LENGTH).collect();
        let mut sessions = self.lock();
        if text.is_empty() || (sessions.len() >= SESSIONS && !sessions.contains_key(key)) {
            return false;
        }
        let waiting = sessions.entry(key.clone()).or_default();
        if waiting.back().is_some_and(|last| last.text == text) {
            return false;
        }
        waiting.push_back(Event {
            at: Timestamp::now(),
            text: text.clone(),
        });
        while waiting.len() > PER_SESSION {
            waiting.pop_front();
        }
        drop(sessions);
        let text = &text;
        self.bus.publish(&DomainEvent::SystemEvent { key, text });
        true
    }

    /// The events that wait, in words; they wait no more.
    pub(crate) fn take(&self, key: &SessionKey) -> Option<String> {
        let events = self.lock().remove(key)?;
        let lines = events.into_iter().map(|event| {
            let at = event.at.strftime("%Y-%m-%d %H:%M:%S UTC");
            // Its own lines are told from the next event's.
            let words = event.text.replace('\n', "\nSystem: ");
            format!("System: [{at}] {words}")
        });
        Some(lines.collect::<Vec<_>>().join("\n"))
    }

    /// The events that wait for the session's next turn, the oldest first.
    pub fn waiting(&self, key: &SessionKey) -> Vec<String> {
        let sessions = self.lock();
        let waiting = sessions.get(key).into_iter().flatten();
        waiting.map(|event| event.text.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, VecDeque<Event>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the model is asked where a run was begun for events alone, which are its
/// `text`.
pub(crate) fn asked(channel: &str, text: String) -> String {
    if channel == SYSTEM && text != PROMPT {
        format!("{text}\n\n{PROMPT}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use openclaw_sessions::AgentId;

    use super::*;

    #[test]
    fn events_are_told_once_and_in_their_order() {
        let (events, key) = (SystemEvents::default(), SessionKey::main(&AgentId::main()));
        assert_eq!(events.take(&key), None);
        events.push(&key, "backup done");
        events.push(&key, "backup done");
        events.push(&key, "disk\nfull");
        let text = events.take(&key).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].ends_with("] backup done") && lines[2] == "System: full");
        assert_eq!(events.take(&key), None);
    }

    #[test]
    fn what_waits_has_limits() {
        let events = SystemEvents::default();
        for session in 0..SESSIONS + 9 {
            let key = SessionKey::parse(&format!("s{session}"), &AgentId::main()).unwrap();
            for n in 0..PER_SESSION + 5 {
                events.push(&key, &format!("{n}{}", "x".repeat(LENGTH)));
            }
        }
        let sessions = events.lock();
        assert_eq!(sessions.len(), SESSIONS);
        assert!(
            sessions
                .values()
                .all(|waiting| waiting.len() == PER_SESSION)
        );
        assert!(
            sessions
                .values()
                .flatten()
                .all(|event| event.text.len() == LENGTH)
        );
    }
}
