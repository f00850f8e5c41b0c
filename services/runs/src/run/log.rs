//! The events of a run, for any number of readers at their own speed.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_conversations::Missed;
use openclaw_proto::event::{Event, Kind};
use tokio::sync::watch;

/// Payload bytes kept of one run. A reader that is further behind, or that
/// wants older events, is told so; the run is never held up by its readers.
const BYTE_LIMIT: usize = 16 * 1024 * 1024;

/// The bytes of an event beside its payload.
const EVENT_COST: usize = 128;

/// A run's events. Writers never wait; readers wait for what is not there yet.
#[derive(Debug)]
pub struct EventLog {
    run_id: String,
    kept: Mutex<Kept>,
    /// The number of the last event; a change wakes the readers.
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<(i64, Kind)>,
    /// Events that are no longer kept.
    dropped: u64,
    bytes: usize,
    ended: bool,
}

/// The result of a read.
enum Lookup {
    Event(Event),
    NotYet,
    End,
}

impl EventLog {
    pub(crate) fn new(run_id: String) -> Self {
        Self {
            run_id,
            kept: Mutex::default(),
            last: watch::Sender::new(0),
        }
    }

    /// Adds an event with the next number. After the terminal event nothing is added any more.
    pub fn push(&self, kind: Kind, at_ms: i64) {
        let mut kept = self.lock();
        if kept.ended {
            return;
        }
        kept.ended = kind.is_terminal();
        kept.bytes += cost(&kind);
        kept.events.push_back((at_ms, kind));
        while kept.bytes > BYTE_LIMIT && kept.events.len() > 1 {
            if let Some((_, oldest)) = kept.events.pop_front() {
                kept.bytes -= cost(&oldest);
                kept.dropped += 1;
            }
        }
        let last = kept.dropped + kept.events.len() as u64;
        drop(kept);
        self.last.send_replace(last);
    }

    /// Whether the terminal event is there.
    pub(crate) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Payload bytes kept.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// The number of the last event; 0 before the first.
    pub fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// The event with the number `seq`, if it is there now.
    pub fn ready(&self, seq: u64) -> Option<Event> {
        match self.find(seq) {
            Ok(Lookup::Event(event)) => Some(event),
            _ => None,
        }
    }

    /// Waits for the terminal event.
    pub async fn ended(&self) {
        let mut news = self.last.subscribe();
        while !self.has_ended() {
            // The sender lives in `self`.
            let _ = news.changed().await;
        }
    }

    /// The event with the number `seq`, waiting for it; None after the end.
    pub async fn wait_for(&self, seq: u64) -> Result<Option<Event>, Missed> {
        let mut news = self.last.subscribe();
        loop {
            match self.find(seq)? {
                Lookup::Event(event) => return Ok(Some(event)),
                Lookup::End => return Ok(None),
                // The sender lives in `self`, so this waits and cannot fail.
                Lookup::NotYet => {
                    let _ = news.changed().await;
                }
            }
        }
    }

    fn find(&self, seq: u64) -> Result<Lookup, Missed> {
        let kept = self.lock();
        let Some(place) = seq.checked_sub(kept.dropped + 1) else {
            return Err(Missed::before(kept.dropped + 1));
        };
        Ok(match kept.events.get(place as usize) {
            Some((at_ms, kind)) => Lookup::Event(Event {
                run_id: self.run_id.clone(),
                seq,
                at_ms: *at_ms,
                kind: kind.clone(),
            }),
            None if kept.ended => Lookup::End,
            None => Lookup::NotYet,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The approximate size of an event in memory.
pub(crate) fn cost(kind: &Kind) -> usize {
    let payload = match kind {
        Kind::TextDelta { text }
        | Kind::Thinking { text }
        | Kind::Note { text }
        | Kind::ToolOutput { text, .. } => text.len(),
        Kind::ThinkingSigned(signed) => signed.signature.len(),
        Kind::ApprovalRequested(request) => request.command.len(),
        Kind::ToolCall { arguments, .. } => arguments.to_string().len(),
        Kind::ToolResult(result) => result.output.len(),
        _ => 0,
    };
    payload + EVENT_COST
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn text(text: &str) -> Kind {
        Kind::TextDelta {
            text: text.to_owned(),
        }
    }

    fn end() -> Kind {
        Kind::Aborted {
            reason: "user".to_owned(),
            backend_session: None,
            backend: String::new(),
        }
    }

    async fn all(log: &EventLog, from: u64) -> Vec<u64> {
        let mut seqs = Vec::new();
        let mut seq = from;
        while let Some(event) = log.wait_for(seq).await.unwrap() {
            seqs.push(event.seq);
            seq += 1;
        }
        seqs
    }

    #[tokio::test]
    async fn late_reader_gets_all_from_where_it_wants() {
        let log = EventLog::new("r".to_owned());
        log.push(text("a"), 1);
        log.push(text("b"), 2);
        log.push(end(), 3);
        log.push(text("after the end"), 4);
        assert_eq!(all(&log, 1).await, [1, 2, 3]);
        assert_eq!(all(&log, 3).await, [3]);
        assert_eq!(all(&log, 4).await, [0; 0]);
    }

    #[tokio::test]
    async fn waiting_reader_is_woken_by_every_event() {
        let log = Arc::new(EventLog::new("r".to_owned()));
        let reader = tokio::spawn({
            let log = Arc::clone(&log);
            async move { all(&log, 1).await }
        });
        tokio::task::yield_now().await;
        for _ in 0..3 {
            log.push(text("x"), 1);
            tokio::task::yield_now().await;
        }
        log.push(end(), 2);
        assert_eq!(reader.await.unwrap(), [1, 2, 3, 4]);
    }

    #[tokio::test]
    async fn reader_that_is_too_slow_is_told_and_the_writer_goes_on() {
        let log = EventLog::new("r".to_owned());
        let big = "x".repeat(BYTE_LIMIT / 4);
        for _ in 0..8 {
            log.push(text(&big), 1);
        }
        assert!(log.bytes() <= BYTE_LIMIT);
        let missed = log.wait_for(1).await.unwrap_err();
        let first = log.wait_for(missed.first()).await.unwrap().unwrap();
        assert_eq!(first.seq, missed.first());
        assert_eq!(log.wait_for(8).await.unwrap().unwrap().seq, 8);
    }
}
