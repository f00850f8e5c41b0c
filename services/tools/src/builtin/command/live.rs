//! What a command says, passed on while it runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::handler::Context;
use crate::text;

/// Bytes of one call that are passed on; the result has the beginning and the
/// end of the rest.
const BUDGET: usize = 64 * 1024;

/// Between two pieces: fast enough to look alive, slow enough that a chatty
/// command does not become a flood of events.
const INTERVAL: Duration = Duration::from_millis(100);

/// Whoever follows a call.
pub(in crate::builtin) struct Live {
    context: Context,
    budget: AtomicUsize,
}

impl Live {
    pub(in crate::builtin) fn new(context: Context) -> Self {
        let budget = AtomicUsize::new(if context.is_followed() { BUDGET } else { 0 });
        Self { context, budget }
    }

    /// One stream of the command.
    pub(super) fn stream(&self) -> Stream<'_> {
        Stream {
            live: self,
            pending: Vec::new(),
            said: None,
        }
    }
}

/// A stream, gathered into pieces.
pub(super) struct Stream<'a> {
    live: &'a Live,
    pending: Vec<u8>,
    said: Option<Instant>,
}

impl Stream<'_> {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.live.budget.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.pending.extend_from_slice(bytes);
        if self.said.is_none_or(|said| said.elapsed() >= INTERVAL) {
            self.flush();
        }
    }

    /// When what is pending is to be passed on.
    pub(super) fn due(&self) -> Option<Instant> {
        let pending = !self.pending.is_empty();
        self.said.filter(|_| pending).map(|said| said + INTERVAL)
    }

    /// Passes on what is pending, but for a character that is not complete.
    pub(super) fn flush(&mut self) {
        let whole = self.pending.len() - text::incomplete_tail(&self.pending);
        let budget = self.live.budget.load(Ordering::Relaxed);
        let piece = whole.min(budget);
        if piece > 0 {
            let said = String::from_utf8_lossy(&self.pending[..piece]);
            self.live.context.say(&said);
            self.live.budget.store(budget - piece, Ordering::Relaxed);
        }
        self.pending.drain(..whole);
        self.said = Some(Instant::now());
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}
