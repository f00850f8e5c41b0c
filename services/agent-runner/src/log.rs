//! The events of one turn as the daemon knows them, for whoever attaches, from any point on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, Stream};
use openclaw_proto::event::{Event, Kind};
use tokio::sync::watch;

/// The log of one turn. One task writes, any number follow.
#[derive(Debug)]
pub(crate) struct Log {
    run_id: String,
    inner: Mutex<Inner>,
    length: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Inner {
    events: Vec<Event>,
    ended: bool,
}

impl Log {
    pub(crate) fn new(run_id: String) -> Self {
        Self {
            run_id,
            inner: Mutex::default(),
            length: watch::Sender::new(0),
        }
    }

    /// Takes an event of the spool. One that is there already, or comes after
    /// the terminal one, changes nothing.
    pub(crate) fn take(&self, event: Event) {
        let mut inner = self.lock();
        if inner.ended || event.seq != inner.events.len() as u64 + 1 {
            return;
        }
        inner.ended = event.kind.is_terminal();
        inner.events.push(event);
        let length = inner.events.len();
        drop(inner);
        self.length.send_replace(length);
    }

    /// Adds an event of the daemon's own.
    pub(crate) fn add(&self, kind: Kind) {
        self.take(Event {
            run_id: self.run_id.clone(),
            seq: self.last() + 1,
            at_ms: jiff::Timestamp::now().as_millisecond(),
            kind,
        });
    }

    /// The events so far.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.lock().events.clone()
    }

    /// The number of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.lock().events.len() as u64
    }

    /// The terminal event, when it is there.
    pub(crate) fn terminal(&self) -> Option<Kind> {
        let inner = self.lock();
        let last = inner.events.last().filter(|_| inner.ended);
        last.map(|event| event.kind.clone())
    }

    /// Whether the terminal event is there.
    pub(crate) fn ended(&self) -> bool {
        self.lock().ended
    }

    /// The events from `seq` on, those to come included, the terminal one last.
    pub(crate) fn follow(self: Arc<Self>, seq: u64) -> impl Stream<Item = Event> + Send {
        let index = usize::try_from(seq.saturating_sub(1)).unwrap_or(usize::MAX);
        let news = self.length.subscribe();
        stream::unfold((self, index, news), |(log, index, mut news)| async move {
            loop {
                let (event, ended) = {
                    let inner = log.lock();
                    (inner.events.get(index).cloned(), inner.ended)
                };
                if let Some(event) = event {
                    return Some((event, (log, index + 1, news)));
                }
                if ended {
                    return None;
                }
                news.changed().await.ok()?;
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use openclaw_proto::event::Done;

    use super::*;

    fn delta(text: &str) -> Kind {
        Kind::TextDelta {
            text: text.to_owned(),
        }
    }

    #[tokio::test]
    async fn followers_get_the_same_from_any_point() {
        let log = Arc::new(Log::new("r".to_owned()));
        log.add(delta("a"));
        let early = tokio::spawn(Arc::clone(&log).follow(0).collect::<Vec<_>>());
        let late = tokio::spawn(Arc::clone(&log).follow(2).collect::<Vec<_>>());
        log.add(delta("b"));
        log.add(Kind::Done(Done::default()));
        log.add(delta("after the end"));
        let early = early.await.unwrap();
        assert_eq!(
            early.iter().map(|event| event.seq).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(late.await.unwrap(), early[1..]);
        assert!(log.ended() && matches!(log.terminal(), Some(Kind::Done(_))));
    }

    #[test]
    fn log_what_is_told_twice_is_taken_once() {
        let log = Log::new("r".to_owned());
        let event = Event {
            run_id: "r".to_owned(),
            seq: 1,
            at_ms: 0,
            kind: delta("a"),
        };
        log.take(event.clone());
        log.take(event);
        assert_eq!(log.last(), 1);
    }
}
