//! The deliveries for one taker, step by step.

use std::sync::Arc;
use std::time::Duration;

use openclaw_conversations::outbox;
use openclaw_proto::outbox::Delivery;
use openclaw_sessions::now_ms;
use rusqlite::Connection;
use tokio::sync::{broadcast, watch};
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Outbox, Refused};

/// The longest time without a look at the table: clocks may be set.
const NAP: Duration = Duration::from_secs(60);

pub(super) struct Taking {
    outbox: Arc<Outbox>,
    channel: String,
    account: String,
    lease: Duration,
    news: watch::Receiver<u64>,
    fleeting: broadcast::Receiver<Delivery>,
    taken: CancellationToken,
    /// A taker that goes away is removed.
    _gone: DropGuard,
    is_over: bool,
}

/// The next delivery for a taker.
enum Lease {
    Given(Box<Delivery>),
    /// There is no delivery for so long.
    NoneFor(Duration),
}

impl Taking {
    pub(super) fn new(
        outbox: Arc<Outbox>,
        channel: String,
        account: String,
        lease: Duration,
        taken: CancellationToken,
    ) -> Self {
        Self {
            news: outbox.news.subscribe(),
            fleeting: outbox.fleeting.subscribe(),
            outbox,
            channel,
            account,
            lease,
            _gone: taken.clone().drop_guard(),
            taken,
            is_over: false,
        }
    }

    /// The next delivery, and the taking of what comes after it.
    pub(super) async fn step(mut self) -> Option<(Result<Delivery, Refused>, Self)> {
        if self.is_over {
            return None;
        }
        let next = self.next().await;
        self.is_over = next.is_err();
        Some((next, self))
    }

    async fn next(&mut self) -> Result<Delivery, Refused> {
        loop {
            if self.outbox.closing.is_cancelled() {
                return Err(Refused::Stopping);
            }
            if self.taken.is_cancelled() {
                return Err(Refused::Superseded);
            }
            // What comes from here on wakes this up.
            self.news.mark_unchanged();
            let nap = match self.lease().await? {
                Lease::Given(delivery) => return Ok(*delivery),
                Lease::NoneFor(nap) => nap,
            };
            let taken = self.taken.clone();
            tokio::select! {
                () = taken.cancelled() => {}
                _ = self.news.changed() => {}
                () = sleep(nap) => {}
                fleeting = self.fleeting.recv() => {
                    if let Some(delivery) = fleeting.ok().filter(|it| self.is_for(it)) {
                        return Ok(delivery);
                    }
                }
            }
        }
    }

    fn is_for(&self, delivery: &Delivery) -> bool {
        delivery.place.channel == self.channel && delivery.place.account == self.account
    }

    async fn lease(&self) -> Result<Lease, Refused> {
        let (channel, account) = (self.channel.clone(), self.account.clone());
        let lease_ms = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
        let lease = move |connection: &Connection| {
            let now = now_ms();
            let until = now.saturating_add(lease_ms);
            if let Some(delivery) = outbox::lease(connection, &channel, &account, now, until)? {
                return Ok(Lease::Given(Box::new(delivery)));
            }
            let next = outbox::next_ms(connection, &channel, &account, now)?;
            let nap = next.map(|at| u64::try_from(at - now).unwrap_or_default());
            let nap = nap.map_or(NAP, Duration::from_millis).min(NAP);
            Ok(Lease::NoneFor(nap))
        };
        Ok(self.outbox.database.call("take a delivery", lease).await?)
    }
}
