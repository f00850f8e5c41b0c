//! The queue of one subscriber.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_proto::feed::{FeedItem, Selector};
use tokio::sync::Notify;

/// Events that may wait for a subscriber: those of a burst of text that a reader
/// on the same machine takes a few milliseconds for.
const EVENTS: usize = 2048;

/// Bytes that may: some results of tools, which are the largest things said.
const BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Queue {
    selector: Selector,
    live: bool,
    waiting: Mutex<Waiting>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    items: VecDeque<(Arc<FeedItem>, usize)>,
    bytes: usize,
    end: Option<End>,
}

/// Why nothing comes any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Too much waited.
    Full,
    /// Nothing is told to anybody any more.
    Closed,
}

impl Queue {
    pub(super) fn new(selector: Selector, live: bool) -> Self {
        Self {
            selector,
            live,
            waiting: Mutex::default(),
            news: Notify::new(),
        }
    }

    pub(super) fn wants(&self, agent: &str, session: &str, is_live: bool) -> bool {
        (self.live || !is_live) && self.selector.includes(agent, session)
    }

    /// Adds something, or ends the queue when it is full: whoever tells never waits.
    pub(super) fn push(&self, told: &Arc<FeedItem>, bytes: usize) {
        let mut waiting = self.lock();
        if waiting.end.is_some() {
            return;
        }
        if waiting.items.len() >= EVENTS || waiting.bytes + bytes > BYTES {
            // The ledger has what is kept of it.
            *waiting = Waiting {
                end: Some(End::Full),
                ..Waiting::default()
            };
        } else {
            waiting.bytes += bytes;
            waiting.items.push_back((Arc::clone(told), bytes));
        }
        drop(waiting);
        self.news.notify_one();
    }

    pub(super) fn close(&self) {
        self.lock().end.get_or_insert(End::Closed);
        self.news.notify_one();
    }

    /// Waits for the next event. There is one reader.
    pub(super) async fn next(&self) -> Result<Arc<FeedItem>, End> {
        loop {
            let news = self.news.notified();
            if let Some(next) = self.take() {
                return next;
            }
            news.await;
        }
    }

    fn take(&self) -> Option<Result<Arc<FeedItem>, End>> {
        let mut waiting = self.lock();
        match waiting.items.pop_front() {
            Some((told, bytes)) => {
                waiting.bytes -= bytes;
                Some(Ok(told))
            }
            None => waiting.end.map(Err),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sequence: u64) -> Arc<FeedItem> {
        Arc::new(FeedItem::CaughtUp { sequence })
    }

    #[tokio::test]
    async fn queue_that_is_full_ends_and_nobody_waits() {
        for (events, bytes) in [(EVENTS, 1), (4, BYTES / 4)] {
            let queue = Queue::new(Selector::Everything, true);
            for number in 0..events {
                queue.push(&told(number as u64), bytes);
            }
            assert_eq!(*queue.next().await.unwrap(), *told(0));
            queue.push(&told(1), bytes);
            queue.push(&told(2), bytes);
            queue.push(&told(3), bytes);
            assert_eq!(queue.next().await, Err(End::Full));
        }
    }

    #[tokio::test]
    async fn queue_that_is_closed_gives_what_is_in_it() {
        let queue = Queue::new(Selector::Everything, true);
        queue.push(&told(7), 1);
        queue.close();
        assert_eq!(queue.next().await, Ok(told(7)));
        assert_eq!(queue.next().await, Err(End::Closed));
    }
}
