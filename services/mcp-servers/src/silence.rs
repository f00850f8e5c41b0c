//! Servers that leave calls unanswered. The first one costs all the time that a
//! call has; the next ones fail at once, until there is hope again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a tool that left a call unanswered is not called again, though its
/// server answers otherwise.
const PAUSE: Duration = Duration::from_secs(300);

/// What a server has left unanswered.
#[derive(Debug, Default)]
pub(super) struct Silence(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The call since which the server has answered nothing at all.
    server: Option<Unanswered>,
    /// By tool, when it was last left unanswered.
    tools: HashMap<String, Unanswered>,
}

#[derive(Debug, Clone)]
struct Unanswered {
    tool: String,
    limit: Duration,
    since: Instant,
}

impl Unanswered {
    fn words(&self, now: Instant) -> String {
        format!(
            "it gave no answer to {} within {:?}, {} s ago",
            self.tool,
            self.limit,
            now.duration_since(self.since).as_secs()
        )
    }
}

impl Silence {
    /// Takes note of a call of `tool` that was given up after `limit`.
    pub(super) fn begin(&self, tool: &str, limit: Duration, now: Instant) {
        let unanswered = Unanswered {
            tool: tool.to_owned(),
            limit,
            since: now,
        };
        let mut inner = self.lock();
        inner.tools.insert(tool.to_owned(), unanswered.clone());
        inner.server.get_or_insert(unanswered);
    }

    /// The server said something.
    pub(super) fn end(&self) {
        self.lock().server = None;
    }

    /// The server answered a call of `tool`.
    pub(super) fn answered(&self, tool: &str) {
        let mut inner = self.lock();
        inner.server = None;
        inner.tools.remove(tool);
    }

    /// Whether the server has answered nothing since a call.
    pub(super) fn is_whole(&self) -> bool {
        self.lock().server.is_some()
    }

    /// Why `tool` is not called now.
    pub(super) fn refusal(&self, tool: &str, now: Instant) -> Option<String> {
        let inner = self.lock();
        if let Some(unanswered) = &inner.server {
            return Some(format!(
                "{} and has said nothing since, so it is not called again before it does; with \
                 the next message it is started anew",
                unanswered.words(now)
            ));
        }
        let unanswered = inner.tools.get(tool)?;
        let left = PAUSE.checked_sub(now.duration_since(unanswered.since))?;
        Some(format!(
            "{}, and {tool} is not called again for {} s; the server answers otherwise",
            unanswered.words(now),
            left.as_secs()
        ))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(120);

    #[test]
    fn silence_of_a_server_ends_with_its_next_word_and_that_of_a_tool_with_time() {
        let (silence, begun) = (Silence::default(), Instant::now());
        assert_eq!(silence.refusal("a", begun), None);
        silence.begin("a", LIMIT, begun);
        let now = begun + Duration::from_secs(7);
        let why = silence.refusal("b", now).unwrap();
        assert!(why.contains("no answer to a within 120s, 7 s ago"), "{why}");
        assert!(silence.is_whole());

        silence.end();
        assert!(!silence.is_whole());
        assert_eq!(silence.refusal("b", now), None);
        let why = silence.refusal("a", now).unwrap();
        assert!(why.contains("not called again for 293 s"), "{why}");
        let late = begun + PAUSE + Duration::from_secs(1);
        assert_eq!(silence.refusal("a", late), None);
    }

    #[test]
    fn answered_call_ends_the_silence_of_its_tool() {
        let (silence, now) = (Silence::default(), Instant::now());
        silence.begin("a", LIMIT, now);
        silence.answered("a");
        assert_eq!(silence.refusal("a", now), None);
    }
}
