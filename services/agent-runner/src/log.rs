//! The events of one turn, kept for whoever attaches, from any point on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, Stream};
use openclaw_proto::event::{Event, Kind};
use tokio::sync::watch;

/// Text and tool output of one turn, in bytes, that is kept and passed on. An
/// agent that prints more than this is not talking to anybody.
const SIZE_LIMIT: usize = 32 * 1024 * 1024;

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
    size: usize,
    ended: bool,
}

/// The turn said more than is kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Log {
    pub(crate) fn new(run_id: String) -> Self {
        Self {
            run_id,
            inner: Mutex::default(),
            length: watch::Sender::new(0),
        }
    }

    /// Appends an event. Nothing is appended after the terminal one, which
    /// always fits.
    pub(crate) fn push(&self, kind: Kind) -> Result<(), Full> {
        let mut inner = self.lock();
        if inner.ended {
            return Ok(());
        }
        inner.size += size_of(&kind);
        if inner.size > SIZE_LIMIT && !kind.is_terminal() {
            return Err(Full);
        }
        inner.ended = kind.is_terminal();
        let event = Event {
            run_id: self.run_id.clone(),
            seq: inner.events.len() as u64 + 1,
            at_ms: jiff::Timestamp::now().as_millisecond(),
            kind,
        };
        inner.events.push(event);
        let length = inner.events.len();
        drop(inner);
        self.length.send_replace(length);
        Ok(())
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

/// What an event weighs: its text, and a little for itself.
fn size_of(kind: &Kind) -> usize {
    let text = match kind {
        Kind::TextDelta { text } | Kind::Thinking { text } | Kind::Note { text } => text.len(),
        Kind::ToolCall { arguments, .. } => arguments.to_string().len(),
        Kind::ToolResult(result) => result.output.len(),
        _ => 0,
    };
    text + 64
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
        log.push(delta("a")).unwrap();
        let early = tokio::spawn(Arc::clone(&log).follow(0).collect::<Vec<_>>());
        let late = tokio::spawn(Arc::clone(&log).follow(2).collect::<Vec<_>>());
        log.push(delta("b")).unwrap();
        log.push(Kind::Done(Done::default())).unwrap();
        log.push(delta("after the end")).unwrap();
        let early = early.await.unwrap();
        assert_eq!(
            early.iter().map(|event| event.seq).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(late.await.unwrap(), early[1..]);
        assert!(log.ended());
    }

    #[test]
    fn endless_output_is_refused_and_the_end_still_fits() {
        let log = Log::new("r".to_owned());
        let piece = "x".repeat(1 << 20);
        let taken = (0..64)
            .take_while(|_| log.push(delta(&piece)).is_ok())
            .count();
        assert!((1..64).contains(&taken), "{taken}");
        assert_eq!(log.push(Kind::Done(Done::default())), Ok(()));
        assert!(log.ended());
    }
}
