//! More messages than may wait in a session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_sessions::SessionKey;

use super::{Drop, Queue, Settings};
use crate::run::Run;

/// Characters of a message that are told of it.
const LINE_LIMIT: usize = 160;

/// Messages of a session whose first words are kept until its next turn; of
/// more only the number is.
const LINES_LIMIT: usize = 50;

/// Sessions of which words are kept. Each has more messages waiting than a person writes.
const SESSIONS_LIMIT: usize = 1024;

/// The note for messages that get no turn.
const DROPPED: &str = "the message is not answered: more of them wait than messages.queue.cap \
                       (it is in the conversation)";

/// Messages that got no turn, by session, until its next turn is told.
#[derive(Debug, Default)]
pub(super) struct Dropped(Mutex<HashMap<SessionKey, Lines>>);

#[derive(Debug, Default)]
struct Lines {
    number: usize,
    first: Vec<String>,
}

impl Dropped {
    fn note(&self, key: &SessionKey, text: &str) {
        let mut sessions = self.lock();
        if sessions.len() >= SESSIONS_LIMIT && !sessions.contains_key(key) {
            return;
        }
        let lines = sessions.entry(key.clone()).or_default();
        lines.number += 1;
        if lines.first.len() < LINES_LIMIT {
            let words: Vec<&str> = text.split_whitespace().collect();
            lines
                .first
                .push(words.join(" ").chars().take(LINE_LIMIT).collect());
        }
    }

    /// The note about them for the next turn of the session.
    pub(super) fn take(&self, key: &SessionKey) -> Option<String> {
        let lines = self.lock().remove(key)?;
        let plural = if lines.number == 1 { "" } else { "s" };
        let mut summary = format!(
            "[Queue overflow] Dropped {} message{plural} due to cap.\nSummary:",
            lines.number
        );
        for line in lines.first {
            summary.push_str(&format!("\n- {line}"));
        }
        Some(summary)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Lines>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// After `run` began to wait: no more wait than may.
    pub(super) fn check_room(&self, run: &Arc<Run>, settings: Settings) {
        let waiting = self.waiting(&run.key);
        let surplus = waiting.len().saturating_sub(settings.cap);
        if surplus > 0 && settings.drop == Drop::New {
            run.end("the session's queue is full");
            return;
        }
        for oldest in waiting.iter().take(surplus) {
            if settings.drop == Drop::Summarize
                && let Some(queued) = oldest.queued.get()
            {
                self.dropped.note(&run.key, &queued.text);
            }
            oldest.absorb(DROPPED);
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_sessions::AgentId;

    use super::*;

    #[test]
    fn next_turn_is_told_once_of_what_was_dropped() {
        let (dropped, key) = (Dropped::default(), SessionKey::main(&AgentId::main()));
        assert_eq!(dropped.take(&key), None);
        dropped.note(&key, "first\n thing");
        assert_eq!(
            dropped.take(&key).unwrap(),
            "[Queue overflow] Dropped 1 message due to cap.\nSummary:\n- first thing"
        );
        assert_eq!(dropped.take(&key), None);
        for _ in 0..LINES_LIMIT + 5 {
            dropped.note(&key, &"x".repeat(1000));
        }
        let summary = dropped.take(&key).unwrap();
        assert!(summary.contains("Dropped 55 messages"), "{summary}");
        assert_eq!(summary.lines().count(), LINES_LIMIT + 2);
    }
}
