//! The outbox: deliveries are given to the channel daemons one after the other.
//!
//! The rows are the ledger's. Here is who has which account's, and what wakes
//! them: a look at the table after everything that may have added a row.

mod outcomes;
mod questions;
mod taking;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, stream};
use openclaw_conversations::database::{Database, Fault};
use openclaw_conversations::outbox;
use openclaw_daemon::{Configuration, failure};
use openclaw_proto::channel::AccountName;
use openclaw_proto::feed::Kind as Happened;
use openclaw_proto::outbox::{Delivery, Extras, Kind, Outcome, Place, Report, State, Wanted};
use openclaw_sessions::now_ms;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::{DomainEvent, Subscriber};
use crate::run::{Registry, Run};
pub use outcomes::{Failed, has_open_file, outcome_of, thread_of};
use taking::Taking;

/// How long a delivery is its taker's when it does not say: longer than a
/// provider takes to answer, shorter than anybody waits for a reply twice.
const LEASE: Duration = Duration::from_secs(60);

/// What may be said instead, in milliseconds.
const LEASES: std::ops::RangeInclusive<u32> = 1_000..=600_000;

/// Accounts that are taken care of at once. A channel has few.
const ACCOUNTS: usize = 64;

/// Bytes of the name of a channel or an account.
const NAME_LIMIT: usize = 256;

/// What is only said to whoever listens just then, and waits to be heard.
const FLEETING: usize = 64;

/// How often deliveries that cannot be made are given up.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(600);

/// How long it is told that a delivery failed for good.
const FAILURES_TOLD: Duration = Duration::from_secs(24 * 3600);

/// Why nothing is given away any more, or nothing can be reported.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The lease is too short or too long.
    #[error("a lease is {} to {} ms", LEASES.start(), LEASES.end())]
    Lease,
    /// There is no channel of that name.
    #[error("the name of a channel or an account is empty or too long")]
    Name,
    /// Too many accounts are taken care of.
    #[error("{ACCOUNTS} accounts are taken care of already")]
    TooMany,
    /// Somebody else takes them now.
    #[error("another client takes the deliveries of this account now")]
    Superseded,
    /// The gateway ends.
    #[error("the gateway is stopping; take them again")]
    Stopping,
    /// There is no such delivery.
    #[error("there is no delivery {0} (any more)")]
    Unknown(u64),
    /// The ledger cannot be used.
    #[error("cannot use the outbox")]
    Unusable(#[from] Fault),
}

/// Gives deliveries away.
pub struct Outbox {
    database: Database,
    /// Counted up when there may be something new.
    news: watch::Sender<u64>,
    fleeting: broadcast::Sender<Delivery>,
    takers: Mutex<HashMap<(String, String), CancellationToken>>,
    /// The last permanent failure of each account.
    failures: Mutex<Vec<Failed>>,
    closing: CancellationToken,
}

impl Outbox {
    pub(crate) fn new(database: Database) -> Arc<Self> {
        Arc::new(Self {
            database,
            news: watch::Sender::new(0),
            fleeting: broadcast::Sender::new(FLEETING),
            takers: Mutex::default(),
            failures: Mutex::default(),
            closing: CancellationToken::new(),
        })
    }

    /// The deliveries of an account, as they come. Whoever had them before has them no more.
    pub fn take(
        self: &Arc<Self>,
        wanted: Wanted,
    ) -> Result<impl Stream<Item = Result<Delivery, Refused>> + Send + use<>, Refused> {
        let lease = match wanted.lease_ms {
            0 => LEASE,
            ms if LEASES.contains(&ms) => Duration::from_millis(ms.into()),
            _ => return Err(Refused::Lease),
        };
        let Wanted {
            channel, account, ..
        } = wanted;
        if channel.is_empty() || channel.len() > NAME_LIMIT || account.len() > NAME_LIMIT {
            return Err(Refused::Name);
        }
        let taken = self.closing.child_token();
        let mut takers = self.lock();
        takers.retain(|_, taker| !taker.is_cancelled());
        let place = (channel.clone(), account.clone());
        if takers.len() >= ACCOUNTS && !takers.contains_key(&place) {
            return Err(Refused::TooMany);
        }
        if let Some(before) = takers.insert(place, taken.clone()) {
            before.cancel();
        }
        drop(takers);
        let taking = Taking::new(Arc::clone(self), channel, account, lease, taken);
        Ok(stream::unfold(taking, Taking::step))
    }

    /// Does `work` in the ledger, which may add deliveries.
    pub async fn change<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let done = self.database.call(operation, work).await?;
        self.look();
        Ok(done)
    }

    /// The agent and the path beneath its workspace of a file that a delivery has
    /// which somebody is delivering.
    pub async fn file(
        &self,
        (channel, account): (String, String),
        id: u64,
        index: usize,
    ) -> Result<Option<(String, String)>, Fault> {
        let find = move |connection: &rusqlite::Connection| {
            outbox::file(connection, &channel, &account, id, index)
        };
        self.database.read("look up a delivery's file", find).await
    }

    /// Notes the outcome of a delivery, and returns its new state.
    pub async fn report(&self, report: Report) -> Result<State, Refused> {
        let id = report.id;
        let is_over = matches!(report.outcome, Outcome::Undeliverable(_));
        if let Outcome::Undeliverable(reason) = &report.outcome {
            tracing::warn!(delivery = id, reason, "a delivery has failed for good");
        }
        let note = move |connection: &rusqlite::Connection| {
            let state = outbox::report(connection, &report, now_ms())?;
            if is_over {
                outbox::tidy(connection, now_ms())?;
            }
            let failures = is_over.then(|| failed(connection)).transpose()?;
            Ok((state, failures))
        };
        let (state, failures) = self.database.call("note a delivery", note).await?;
        if let Some(failures) = failures {
            self.keep_failures(failures);
        }
        self.look();
        state.ok_or(Refused::Unknown(id))
    }

    /// The last recent failure of an account, by its name in the ledger.
    pub fn failed(&self, account: &AccountName) -> Option<Failed> {
        let since = failures_since();
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = failures.iter().filter(|it| it.account == *account);
        own.find(|it| it.at_ms >= since).cloned()
    }

    fn keep_failures(&self, failed: Vec<Failed>) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        *failures = failed;
    }

    /// Waits for the delivery `name` until `patience` is over, and returns its state, the
    /// provider's id, and the reason if it failed.
    pub async fn outcome_of(
        &self,
        name: &str,
        patience: Duration,
    ) -> Result<(State, Vec<String>, String), Fault> {
        // Before the first look, so that nothing is missed between the two.
        let mut news = self.news.subscribe();
        let deadline = Instant::now() + patience;
        loop {
            let name = name.to_owned();
            let look =
                move |connection: &rusqlite::Connection| outcomes::outcome_of(connection, &name);
            let found = self.database.read("look up a delivery", look).await?;
            let found = found.unwrap_or((State::Pending, Vec::new(), String::new()));
            if !matches!(found.0, State::Pending | State::Leased) {
                return Ok(found);
            }
            tokio::select! {
                () = self.closing.cancelled() => return Ok(found),
                heard = timeout_at(deadline, news.changed()) => if heard.is_err() {
                    return Ok(found);
                },
            }
        }
    }

    /// Whether somebody delivers what there is for an account.
    pub fn is_taken(&self, channel: &str, account: &str) -> bool {
        let place = (channel.to_owned(), account.to_owned());
        let takers = self.lock();
        takers
            .get(&place)
            .is_some_and(|taker| !taker.is_cancelled())
    }

    /// Is told when a delivery may have ended.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Gives up what cannot be delivered, now and then.
    pub async fn tidy_now_and_then(self: Arc<Self>) {
        match self
            .database
            .read("look what was not delivered", failed)
            .await
        {
            Ok(failed) => self.keep_failures(failed),
            Err(fault) => failure::report("look what was not delivered", &fault),
        }
        loop {
            let tidy = |connection: &rusqlite::Connection| outbox::tidy(connection, now_ms());
            match self.database.call("tidy the outbox", tidy).await {
                Ok(0) => {}
                Ok(count) => {
                    tracing::warn!(count, "deliveries were given up: nobody made them in time");
                    self.look();
                }
                Err(fault) => failure::report("tidy the outbox, trying again later", &fault),
            }
            tokio::time::sleep(UPKEEP_INTERVAL).await;
        }
    }

    /// Nothing is given away any more.
    pub(crate) fn close(&self) {
        self.closing.cancel();
    }

    /// Makes all takers look whether there is something.
    fn look(&self) {
        self.news.send_modify(|news| *news += 1);
    }

    /// Tells whoever listens that somebody is being answered.
    fn typing(&self, run: &Run) {
        let Some(route) = &run.route else {
            return;
        };
        let delivery = Delivery {
            id: 0,
            attempt: 0,
            lease_until_ms: 0,
            place: Place::of_route(&run.channel, route),
            session_key: run.key.to_string(),
            agent_id: run.key.agent().to_string(),
            run_id: run.id.clone(),
            created_ms: now_ms(),
            kind: Kind::Typing,
            // What is shown before the answer is there answers that already.
            extras: Extras {
                answers_id: route.message.clone().unwrap_or_default(),
                ..Extras::default()
            },
        };
        // There may be nobody.
        let _ = self.fleeting.send(delivery);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), CancellationToken>> {
        self.takers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failures_since() -> i64 {
    let told = i64::try_from(FAILURES_TOLD.as_millis()).unwrap_or(i64::MAX);
    now_ms().saturating_sub(told)
}

fn failed(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<Failed>> {
    outcomes::failed(connection, failures_since())
}

/// The outbox, as the bus knows it.
pub(crate) struct Dispatcher {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) configuration: Configuration,
    pub(crate) runs: Registry,
    pub(crate) tasks: TaskTracker,
}

impl Subscriber for Dispatcher {
    fn take(&self, event: &DomainEvent<'_>) {
        match *event {
            DomainEvent::RunBegan(run) => self.outbox.typing(run),
            DomainEvent::ApprovalRequested(approval) => questions::asked(self, approval),
            DomainEvent::ApprovalResolved {
                approval,
                outcome,
                by,
            } => questions::decided(self, approval, outcome, by),
            DomainEvent::Recorded(events) => {
                let may_add = |kind: &Happened| {
                    matches!(kind, Happened::RunEnded(_) | Happened::Announcement { .. })
                };
                if events.iter().any(|event| may_add(&event.kind)) {
                    self.outbox.look();
                }
            }
            _ => {}
        }
    }
}
