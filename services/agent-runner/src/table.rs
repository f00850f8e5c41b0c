//! The turns that run and those that ended a while ago.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicI32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_proto::event::Kind;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::log::Log;

/// Turns at once. The gateway has its own, lower, limit from the
/// configuration; this one holds against any client.
const RUNNING_LIMIT: usize = 256;
/// Ended turns that can still be attached to: enough for a gateway that
/// restarts, little enough to weigh nothing.
const ENDED_LIMIT: usize = 32;

/// How long a turn that is killed may take to be gone.
const GONE_DEADLINE: Duration = Duration::from_secs(8);

/// A turn as the table knows it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its events.
    pub(crate) log: Arc<Log>,
    /// Cancelled to end the turn, after the reason is set.
    pub(crate) cancel: CancellationToken,
    /// Cancelled too when it is to be killed soon.
    pub(crate) kill: CancellationToken,
    /// Why it was cancelled.
    pub(crate) reason: Arc<Mutex<String>>,
    /// The turn's process, once it is known; 0 before.
    pub(crate) pid: Arc<AtomicI32>,
    /// Cancelled when the turn's process is gone.
    gone: CancellationToken,
}

impl Entry {
    fn new(run_id: &str) -> Self {
        Self {
            log: Arc::new(Log::new(run_id.to_owned())),
            cancel: CancellationToken::new(),
            kill: CancellationToken::new(),
            reason: Arc::default(),
            pid: Arc::default(),
            gone: CancellationToken::new(),
        }
    }

    /// How it ends when it is cancelled.
    pub(crate) fn aborted(&self) -> Kind {
        let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        Kind::Aborted {
            reason: reason.clone(),
            backend_session: None,
            backend: String::new(),
        }
    }
}

/// Why a turn cannot be started.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// The run id is taken.
    #[error("a turn for run {0} is there already")]
    Exists(String),
    /// Enough turns are running.
    #[error("{RUNNING_LIMIT} turns are running, which is as many as may")]
    Full,
    /// The daemon is ending.
    #[error("the agent-runner is stopping")]
    Stopping,
}

/// All turns.
#[derive(Debug)]
pub(crate) struct Table {
    inner: Mutex<Inner>,
    running: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Inner {
    turns: HashMap<String, Entry>,
    ended: VecDeque<String>,
    ended_count: u64,
    stopping: bool,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            inner: Mutex::default(),
            running: watch::Sender::new(0),
        }
    }

    /// Makes room for a turn.
    pub(crate) fn open(&self, run_id: &str) -> Result<Entry, Refusal> {
        let mut inner = self.lock();
        if inner.turns.contains_key(run_id) {
            return Err(Refusal::Exists(run_id.to_owned()));
        }
        if inner.stopping {
            return Err(Refusal::Stopping);
        }
        if *self.running.borrow() >= RUNNING_LIMIT {
            return Err(Refusal::Full);
        }
        let entry = Entry::new(run_id);
        inner.turns.insert(run_id.to_owned(), entry.clone());
        self.running.send_modify(|running| *running += 1);
        Ok(entry)
    }

    /// Takes back [`Table::open`]: the turn will not be.
    pub(crate) fn retract(&self, run_id: &str) {
        self.lock().turns.remove(run_id);
        self.running.send_modify(|running| *running -= 1);
    }

    /// Enters a turn that an earlier daemon started. It counts as running until it is closed.
    pub(crate) fn adopt(&self, run_id: &str) -> Entry {
        let entry = Entry::new(run_id);
        self.lock().turns.insert(run_id.to_owned(), entry.clone());
        self.running.send_modify(|running| *running += 1);
        entry
    }

    /// Notes that a turn ended and forgets the oldest ended one over the limit.
    pub(crate) fn close(&self, run_id: &str) {
        let mut inner = self.lock();
        if let Some(entry) = inner.turns.get(run_id) {
            entry.gone.cancel();
        }
        inner.ended_count += 1;
        inner.ended.push_back(run_id.to_owned());
        if inner.ended.len() > ENDED_LIMIT
            && let Some(oldest) = inner.ended.pop_front()
        {
            inner.turns.remove(&oldest);
        }
        drop(inner);
        self.running.send_modify(|running| *running -= 1);
    }

    /// Forgets a turn that has said its last word, once its process is gone.
    pub(crate) async fn forget(&self, run_id: &str) {
        let Some(entry) = self.get(run_id).filter(|entry| entry.log.ended()) else {
            return;
        };
        entry.gone.cancelled().await;
        let mut inner = self.lock();
        inner.turns.remove(run_id);
        inner.ended.retain(|ended| ended != run_id);
    }

    pub(crate) fn get(&self, run_id: &str) -> Option<Entry> {
        self.lock().turns.get(run_id).cloned()
    }

    /// The turns that have not ended, by run id.
    pub(crate) fn live(&self) -> Vec<(String, Entry)> {
        let inner = self.lock();
        let live = inner.turns.iter().filter(|(_, entry)| !entry.log.ended());
        live.map(|(run_id, entry)| (run_id.clone(), entry.clone()))
            .collect()
    }

    /// Ends a turn; false when it had ended or is not known.
    pub(crate) fn cancel(&self, run_id: &str, reason: &str) -> bool {
        let Some(entry) = self.get(run_id).filter(|entry| !entry.log.ended()) else {
            return false;
        };
        let mut slot = entry.reason.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_empty() {
            reason.clone_into(&mut slot);
        }
        drop(slot);
        entry.cancel.cancel();
        true
    }

    /// Ends a turn that may not go on, whatever its process does, and waits until
    /// that is gone, some seconds at most; false when it had ended or is not known.
    pub(crate) async fn end_at_once(&self, run_id: &str, reason: &str) -> bool {
        let Some(entry) = self.get(run_id) else {
            return false;
        };
        let is_cancelled = self.cancel(run_id, reason);
        entry.kill.cancel();
        if timeout(GONE_DEADLINE, entry.gone.cancelled())
            .await
            .is_err()
        {
            tracing::warn!(
                openclaw_run = run_id,
                "a turn that was ended is still there"
            );
        }
        is_cancelled
    }

    /// Takes no more turns.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
    }

    /// Ends every turn.
    pub(crate) fn cancel_all(&self, reason: &str) {
        let running: Vec<String> = self.lock().turns.keys().cloned().collect();
        for run_id in running {
            self.cancel(&run_id, reason);
        }
    }

    /// Waits until no turn runs.
    pub(crate) async fn idle(&self) {
        // The sender lives as long as the table, so this cannot fail.
        let _ = self
            .running
            .subscribe()
            .wait_for(|running| *running == 0)
            .await;
    }

    /// How many turns run, and news of it.
    pub(crate) fn running(&self) -> watch::Receiver<usize> {
        self.running.subscribe()
    }

    /// How many turns ended since the start.
    pub(crate) fn ended(&self) -> u64 {
        self.lock().ended_count
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::{Done, Kind};

    use super::*;

    #[tokio::test]
    async fn turns_come_and_go_within_limits() {
        let table = Table::new();
        let entry = table.open("r1").unwrap();
        assert_eq!(
            table.open("r1").unwrap_err(),
            Refusal::Exists("r1".to_owned())
        );
        assert!(table.cancel("r1", "user"));
        assert!(entry.cancel.is_cancelled());
        entry.log.add(Kind::Done(Done::default()));
        table.close("r1");
        assert!(!table.cancel("r1", "user"));
        table.idle().await;
        table.open("r1").unwrap_err();
        table.forget("r1").await;
        table
            .open("r1")
            .unwrap()
            .log
            .add(Kind::Done(Done::default()));
        table.close("r1");

        for index in 0..RUNNING_LIMIT {
            table.open(&format!("x{index}")).unwrap();
        }
        assert_eq!(table.open("more").unwrap_err(), Refusal::Full);
        for index in 0..RUNNING_LIMIT {
            table.close(&format!("x{index}"));
        }
        assert!(table.get("r1").is_none(), "old turns are forgotten");
        assert!(table.get(&format!("x{}", RUNNING_LIMIT - 1)).is_some());
        table.stop();
        assert_eq!(table.open("late").unwrap_err(), Refusal::Stopping);
    }
}
