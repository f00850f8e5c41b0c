//! Which runs the clients are told of.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_runs::Run;
use tokio_util::sync::CancellationToken;

/// The runs that clients are being told of, and those that wait until a client has its answer.
#[derive(Debug, Default)]
pub(crate) struct ReportedRuns(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// A token for each run, cancelled when all of its events were sent.
    told: HashMap<String, CancellationToken>,
    held: HashSet<String>,
}

/// A run that nobody is told of yet, for as long as the value lives.
#[derive(Debug)]
pub(super) struct Held {
    state: Arc<Mutex<State>>,
    run_id: String,
}

/// A run that is being told of; it was when the value is dropped.
#[derive(Debug)]
pub(super) struct ReportedRun {
    state: Arc<Mutex<State>>,
    run_id: String,
}

impl ReportedRuns {
    /// Keeps the run `run_id`, which is to begin, from being told of.
    pub(super) fn hold(&self, run_id: &str) -> Held {
        lock(&self.0).held.insert(run_id.to_owned());
        Held {
            state: Arc::clone(&self.0),
            run_id: run_id.to_owned(),
        }
    }

    /// Whether the run waits until a client has its answer.
    pub(super) fn holds(&self, run: &Run) -> bool {
        lock(&self.0).held.contains(&run.id)
    }

    /// Begins to tell of a run; None when that was begun before.
    pub(super) fn begin(&self, run: &Run) -> Option<ReportedRun> {
        let mut state = lock(&self.0);
        if state.told.contains_key(&run.id) {
            return None;
        }
        let told = CancellationToken::new();
        state.told.insert(run.id.clone(), told);
        Some(ReportedRun {
            state: Arc::clone(&self.0),
            run_id: run.id.clone(),
        })
    }

    /// Waits until the clients were told all of the run, if they are told of it.
    pub(super) async fn told(&self, run: &Run) {
        let told = lock(&self.0).told.get(&run.id).cloned();
        if let Some(told) = told {
            told.cancelled().await;
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.state).held.remove(&self.run_id);
    }
}

impl Drop for ReportedRun {
    fn drop(&mut self) {
        if let Some(told) = lock(&self.state).told.remove(&self.run_id) {
            told.cancel();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
