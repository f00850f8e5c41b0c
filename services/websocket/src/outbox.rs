//! The queue of frames for a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use openclaw_protocol::Event;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Bytes that may wait for one client (`policy.maxBufferedBytes`). Events are
/// shared between clients, so slow ones do not add up to clients times this.
pub(super) const BYTE_LIMIT: usize = 50 * 1024 * 1024;

/// Why a connection is closed by us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Close {
    /// RFC 6455, section 7.4.
    pub(super) code: u16,
    /// For people; cut to what a close frame can hold.
    pub(super) reason: String,
}

impl Close {
    pub(super) fn new(code: u16, reason: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
        }
    }
}

/// Something to be sent.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// Gets the client's next number.
    Event(Arc<Event>),
    /// Sent as it is.
    Text(String),
    /// The last thing that is sent.
    Close(Close),
}

impl Outgoing {
    fn size(&self) -> usize {
        match self {
            Self::Event(event) => event.size(),
            Self::Text(text) => text.len(),
            Self::Close(_) => 0,
        }
    }
}

/// The way into a client's queue. Never waits.
#[derive(Debug)]
pub(super) struct Outbox {
    sender: mpsc::UnboundedSender<Outgoing>,
    waiting: Arc<AtomicUsize>,
    overrun: CancellationToken,
}

/// The queue's other end.
#[derive(Debug)]
pub(super) struct Queue {
    receiver: mpsc::UnboundedReceiver<Outgoing>,
    waiting: Arc<AtomicUsize>,
    /// Cancelled when the client does not read what it is sent.
    pub(super) overrun: CancellationToken,
}

impl Outbox {
    pub(super) fn new() -> (Self, Queue) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let overrun = CancellationToken::new();
        let queue = Queue {
            receiver,
            waiting: Arc::clone(&waiting),
            overrun: overrun.clone(),
        };
        let outbox = Self {
            sender,
            waiting,
            overrun,
        };
        (outbox, queue)
    }

    /// Queues `outgoing`; a client whose queue is full is dropped instead.
    pub(super) fn push(&self, outgoing: Outgoing) {
        let size = outgoing.size();
        if self.waiting.fetch_add(size, Ordering::Relaxed) + size > BYTE_LIMIT {
            self.overrun.cancel();
            return;
        }
        // A receiver that is gone is a connection that has ended.
        let _ = self.sender.send(outgoing);
    }
}

impl Queue {
    /// The next thing to send; None when nobody can queue anything any more.
    pub(super) async fn next(&mut self) -> Option<Outgoing> {
        let outgoing = self.receiver.recv().await?;
        Some(self.take(outgoing))
    }

    /// The next thing to send, if there is one now.
    pub(super) fn ready(&mut self) -> Option<Outgoing> {
        let outgoing = self.receiver.try_recv().ok()?;
        Some(self.take(outgoing))
    }

    fn take(&self, outgoing: Outgoing) -> Outgoing {
        self.waiting.fetch_sub(outgoing.size(), Ordering::Relaxed);
        outgoing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn outbox_what_is_queued_comes_out_in_order_and_too_much_is_noticed() {
        let (outbox, mut queue) = Outbox::new();
        outbox.push(Outgoing::Text("a".to_owned()));
        outbox.push(Outgoing::Close(Close::new(1000, "")));
        assert!(matches!(queue.next().await, Some(Outgoing::Text(text)) if text == "a"));
        assert!(matches!(queue.ready(), Some(Outgoing::Close(_))));
        assert!(queue.ready().is_none());
        let piece = "x".repeat(BYTE_LIMIT / 2);
        outbox.push(Outgoing::Text(piece.clone()));
        outbox.push(Outgoing::Text(piece.clone()));
        assert!(!queue.overrun.is_cancelled());
        outbox.push(Outgoing::Text(piece));
        assert!(queue.overrun.is_cancelled());
    }
}
