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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    type Heard = Arc<Mutex<String>>;

    fn live() -> (Heard, Live) {
        let heard = Heard::default();
        let sink = Arc::clone(&heard);
        let listener = move |_: &str, text: &str| sink.lock().unwrap().push_str(text);
        let context = Context::new("1".to_owned(), Some(Arc::new(listener)));
        (heard, Live::new(context))
    }

    fn heard(heard: &Heard) -> String {
        std::mem::take(&mut heard.lock().unwrap())
    }

    #[test]
    fn pieces_are_passed_on_at_once_and_then_at_intervals() {
        let (sink, live) = live();
        let mut stream = live.stream();
        assert_eq!(stream.due(), None);
        stream.push(b"one");
        assert_eq!(heard(&sink), "one");
        assert_eq!(stream.due(), None, "nothing is pending");
        // As long after the last piece as this test never takes.
        let last = Instant::now() + Duration::from_secs(3600);
        stream.said = Some(last);
        stream.push(b"two ");
        stream.push(b"three");
        assert_eq!(heard(&sink), "");
        assert_eq!(stream.due(), Some(last + INTERVAL));
        stream.flush();
        assert_eq!(heard(&sink), "two three");
        assert!(stream.said.is_some_and(|said| said < last));
        stream.said = Instant::now().checked_sub(INTERVAL);
        stream.push(b"four");
        assert_eq!(heard(&sink), "four");
        stream.said = Some(last);
        stream.push(b"last");
        drop(stream);
        assert_eq!(heard(&sink), "last");
    }

    #[test]
    fn live_nothing_is_passed_on_where_nothing_is_pending() {
        let count = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&count);
        let listener = move |_: &str, _: &str| *counter.lock().unwrap() += 1;
        let live = Live::new(Context::new("1".to_owned(), Some(Arc::new(listener))));
        let mut stream = live.stream();
        stream.flush();
        stream.push(b"\xe2");
        drop(stream);
        assert_eq!(*count.lock().unwrap(), 0, "not even of half a character");
    }

    #[test]
    fn character_is_passed_on_when_it_is_complete() {
        let (sink, live) = live();
        let mut stream = live.stream();
        let (begin, end) = "a\u{20ac}b".as_bytes().split_at(2);
        stream.push(begin);
        assert_eq!(heard(&sink), "a");
        stream.said = None;
        stream.push(end);
        assert_eq!(heard(&sink), "\u{20ac}b");
    }

    #[test]
    fn call_passes_on_64_kibibytes_of_all_its_streams() {
        let (sink, live) = live();
        let (mut out, mut err) = (live.stream(), live.stream());
        out.push(&vec![b'x'; 40 * 1024]);
        assert_eq!(heard(&sink).len(), 40 * 1024);
        err.push(&vec![b'y'; 40 * 1024]);
        assert_eq!(heard(&sink).len(), 24 * 1024);
        out.push(b"more");
        err.push(b"more");
        assert!(out.pending.is_empty() && err.pending.is_empty());
        drop((out, err));
        assert_eq!(heard(&sink), "");
        let alone = Live::new(Context::new("1".to_owned(), None));
        let mut stream = alone.stream();
        stream.push(b"nobody listens");
        assert!(stream.pending.is_empty());
    }
}
