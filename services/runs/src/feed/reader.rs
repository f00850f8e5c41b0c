//! The events for one subscriber, step by step.

use std::collections::VecDeque;
use std::sync::Arc;

use openclaw_conversations::feed::{Missing, Page, missing, page};
use openclaw_proto::feed::{FeedItem, Subscription};
use tokio::sync::OwnedSemaphorePermit;

use super::queue::{End, Queue};
use super::{Broken, Feed};

/// Rows that are read from the ledger at once.
const ROWS: usize = 512;

pub(super) struct Reader {
    feed: Arc<Feed>,
    subscription: Subscription,
    stage: Stage,
    /// The next events.
    ready: VecDeque<FeedItem>,
    /// What has a lower number, or this one, was told or is not meant.
    told: u64,
    queue: Option<Listening>,
    _place: OwnedSemaphorePermit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing was told.
    Opening,
    /// Kept events are read.
    Replaying,
    /// New events are passed on.
    Following,
    /// Nothing is told any more.
    Over,
}

/// A queue that is filled as long as this lives.
struct Listening {
    feed: Arc<Feed>,
    queue: Arc<Queue>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.feed.leave(&self.queue);
    }
}

impl Reader {
    pub(super) fn new(
        feed: Arc<Feed>,
        subscription: Subscription,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            feed,
            subscription,
            stage: Stage::Opening,
            ready: VecDeque::new(),
            told: 0,
            queue: None,
            _place: place,
        }
    }

    /// The next thing, and the reader for what comes after it.
    pub(super) async fn step(mut self) -> Option<(Result<FeedItem, Broken>, Self)> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Some((Ok(told), self));
            }
            let done = match self.stage {
                Stage::Opening => {
                    self.open();
                    Ok(())
                }
                Stage::Replaying => self.replay().await,
                Stage::Following => self.follow().await,
                Stage::Over => return None,
            };
            if let Err(broken) = done {
                self.stage = Stage::Over;
                return Some((Err(broken), self));
            }
        }
    }

    fn open(&mut self) {
        let last = self.feed.lock().last;
        let epoch = self.feed.series.epoch.clone();
        let is_other = !self.subscription.epoch.is_empty() && self.subscription.epoch != epoch;
        let opened = |sequence| FeedItem::Opened { epoch, sequence };
        match self.subscription.after {
            None => {
                let last = self.listen();
                self.ready.push_back(opened(last));
                self.caught_up(last);
            }
            Some(after) if is_other => {
                let last = self.listen();
                self.ready.push_back(opened(last));
                let missing = Missing {
                    through: last,
                    reason: "the number is of another epoch: the ledger was made anew",
                };
                self.gap(after, missing);
                self.caught_up(last);
            }
            Some(after) => {
                self.ready.push_back(opened(last));
                self.told = after;
                self.stage = Stage::Replaying;
            }
        }
    }

    /// Reads more of what is kept. When that is all there is, what happens is
    /// queued, and what came in between is read.
    async fn replay(&mut self) -> Result<(), Broken> {
        let (after, selector) = (self.told, self.subscription.selector.clone());
        let series = self.feed.series.clone();
        // A number that was read just now is there, also when nobody was told.
        let given = self.subscription.after.filter(|given| *given == after);
        let last = given.map(|_| self.feed.lock().last);
        let read = move |connection: &rusqlite::Connection| {
            Ok(match missing(connection, &series, after, last)? {
                Some(missing) => Err(missing),
                None => Ok(page(connection, &selector, after, ROWS)?),
            })
        };
        let found = self.feed.database.read("read events", read).await?;
        match found {
            Err(missing) => {
                self.gap(after, missing);
                // Not asked again about a number that nobody has.
                self.subscription.after = None;
            }
            Ok(Page { events, is_last }) => {
                self.told = events.last().map_or(after, |event| event.sequence);
                self.ready.extend(events.into_iter().map(FeedItem::Event));
                if is_last && self.queue.is_some() {
                    self.caught_up(self.told);
                } else if is_last {
                    self.listen();
                }
            }
        }
        Ok(())
    }

    async fn follow(&mut self) -> Result<(), Broken> {
        let Some(listening) = &self.queue else {
            return Err(Broken::Stopping(self.told));
        };
        let told = match listening.queue.next().await {
            Ok(told) => told,
            Err(End::Full) => return Err(Broken::Slow(self.told)),
            Err(End::Closed) => return Err(Broken::Stopping(self.told)),
        };
        match &*told {
            FeedItem::Event(event) if event.sequence <= self.told => return Ok(()),
            FeedItem::Event(event) => self.told = event.sequence,
            // Said before what was read from the ledger meanwhile.
            FeedItem::Live { sequence, .. } if *sequence < self.told => return Ok(()),
            _ => {}
        }
        self.ready.push_back(Arc::unwrap_or_clone(told));
        Ok(())
    }

    /// Queues new events, and returns the number of the last event before.
    fn listen(&mut self) -> u64 {
        let subscription = &self.subscription;
        let live = !subscription.without_live;
        let (queue, last) = self.feed.listen(subscription.selector.clone(), live);
        self.queue = Some(Listening {
            feed: Arc::clone(&self.feed),
            queue,
        });
        last
    }

    fn gap(&mut self, after_sequence: u64, missing: Missing) {
        self.told = missing.through;
        self.ready.push_back(FeedItem::Gap {
            after_sequence,
            through_sequence: missing.through,
            reason: missing.reason.to_owned(),
        });
    }

    fn caught_up(&mut self, sequence: u64) {
        self.told = sequence;
        self.stage = Stage::Following;
        self.ready.push_back(FeedItem::CaughtUp { sequence });
    }
}
