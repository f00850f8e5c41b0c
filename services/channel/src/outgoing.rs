//! The way out: from the gateway's outbox to the provider. The gateway keeps the
//! order of a chat; chats are served beside each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::outbox::{Delivery, Kind, Outcome, Report, Wanted};
use tokio::task::{AbortHandle, JoinSet};

use crate::link::{self, Link, Pauses};
use crate::provider::Provider;
use openclaw_daemon::configuration::now_ms;

/// How long a delivery is this daemon's without a report. Short, so that what a
/// killed daemon had comes again soon; what takes longer is known when it comes
/// again, and not begun twice.
const LEASE_MS: u32 = 10_000;
/// When a delivery is tried again whose record cannot be written.
const RECORD_PAUSE_MS: i64 = 30_000;
/// Runs that are shown at a time; the gateway says only so many at once.
const RUNS_AT_ONCE: usize = 64;

struct Outgoing<P> {
    provider: Arc<P>,
    link: Link,
    /// Those that are being delivered, with the last attempt they were given as.
    open: Mutex<HashMap<u64, u32>>,
}

/// Delivers what there is to say. Never returns.
pub(crate) async fn run<P: Provider>(provider: Arc<P>, link: Link) {
    let outgoing = Arc::new(Outgoing {
        provider,
        link,
        open: Mutex::default(),
    });
    let mut pauses = Pauses::default();
    let mut tasks = Tasks::default();
    loop {
        let error = outgoing.take(&mut tasks, &mut pauses).await;
        pauses.wait("take what is to be delivered", &error).await;
    }
}

#[derive(Default)]
struct Tasks {
    deliveries: JoinSet<()>,
    runs: HashMap<String, AbortHandle>,
}

impl<P: Provider> Outgoing<P> {
    async fn take(self: &Arc<Self>, tasks: &mut Tasks, pauses: &mut Pauses) -> CallError {
        let wanted = Wanted {
            channel: self.link.account.channel.clone(),
            account: self.link.account.account.clone(),
            lease_ms: LEASE_MS,
        };
        let stream = match self.link.outbox.take(wanted).await {
            Ok(stream) => stream,
            Err(error) => return error,
        };
        let mut stream = std::pin::pin!(stream);
        loop {
            let delivery = tokio::select! {
                delivery = stream.next() => delivery,
                Some(_) = tasks.deliveries.join_next() => continue,
            };
            match delivery {
                Some(Ok(delivery)) => {
                    pauses.renew();
                    self.begin(delivery, tasks);
                }
                Some(Err(error)) => return error,
                None => return CallError::cut_off(),
            }
        }
    }

    fn begin(self: &Arc<Self>, delivery: Delivery, tasks: &mut Tasks) {
        tasks.runs.retain(|_, run| !run.is_finished());
        let is_said = matches!(delivery.kind, Kind::Typing);
        if is_said {
            if tasks.runs.len() < RUNS_AT_ONCE && !tasks.runs.contains_key(&delivery.run_id) {
                let (provider, link) = (Arc::clone(&self.provider), self.link.clone());
                let run_id = delivery.run_id.clone();
                let shown = async move { provider.attend_run(delivery, link).await };
                tasks.runs.insert(run_id, tasks.deliveries.spawn(shown));
            }
            return;
        }
        if delivery.id == 0 {
            return;
        }
        let known = self.open().insert(delivery.id, delivery.attempt);
        // Its lease was over before it was delivered; it is being.
        if known.is_some() {
            return;
        }
        let outgoing = Arc::clone(self);
        tasks
            .deliveries
            .spawn(async move { outgoing.deliver(delivery).await });
    }

    async fn deliver(&self, delivery: Delivery) {
        let id = delivery.id;
        let outcome = self.outcome(&delivery).await;
        if let Outcome::Undeliverable(reason) = &outcome {
            let (kind, to) = (delivery.kind.name(), &delivery.place.to);
            tracing::warn!(
                openclaw_session = delivery.session_key,
                openclaw_run = delivery.run_id,
                "cannot be delivered: {kind} to {to}: {reason}"
            );
        }
        let is_last = !matches!(outcome, Outcome::TryAgain { .. });
        self.report(id, outcome).await;
        if is_last {
            let forgotten = self
                .link
                .records
                .of(id)
                .and_then(crate::progress::Progress::forget);
            if let Err(error) = forgotten {
                openclaw_daemon::failure::report("remove the record of a delivery", &error);
            }
        }
        self.open().remove(&id);
    }

    async fn outcome(&self, delivery: &Delivery) -> Outcome {
        let mut progress = match self.link.records.of(delivery.id) {
            Ok(progress) => progress,
            Err(error) => {
                openclaw_daemon::failure::report("read the record of a delivery", &error);
                return Outcome::TryAgain {
                    at_ms: now_ms() + RECORD_PAUSE_MS,
                    reason: format!("its record cannot be read: {error}"),
                };
            }
        };
        if progress.is_over() {
            return Outcome::Delivered(progress.ids());
        }
        if progress.is_doubtful() {
            tracing::warn!(
                openclaw_run = delivery.run_id,
                delivery = delivery.id,
                "ended while this was being sent: unless it is found there it is sent again, and may be \
                 there twice"
            );
        }
        let outcome = self
            .provider
            .deliver(delivery, &mut progress, &self.link)
            .await;
        if matches!(outcome, Outcome::Delivered(_))
            && let Err(error) = progress.over()
        {
            openclaw_daemon::failure::report("record that a delivery is over", &error);
        }
        outcome
    }

    /// Says what became of a delivery until the gateway knows.
    async fn report(&self, id: u64, outcome: Outcome) {
        let mut pauses = Pauses::default();
        loop {
            let attempt = self.open().get(&id).copied().unwrap_or_default();
            let report = Report {
                id,
                attempt,
                outcome: outcome.clone(),
            };
            match self.link.outbox.report(report).await {
                Ok(_) => return,
                Err(error) if error.is_refused(RefusalCode::NotFound) => return,
                Err(error) if link::is_final(&error) => {
                    openclaw_daemon::failure::report("report a delivery", &error);
                    return;
                }
                Err(error) => pauses.wait("report a delivery", &error).await,
            }
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<u64, u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
