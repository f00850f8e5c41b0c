//! The runs that are live, and the last ones that ended.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_sessions::SessionKey;

use super::Run;

/// Ended runs whose events are kept in memory, for clients that come back
/// after a break. Older ones are made again from the transcript.
const ENDED_LIMIT: usize = 16;

/// Bytes of events of all of them.
const ENDED_BYTES: usize = 1024 * 1024;

/// Finds runs by their id and by their idempotency key. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Registry(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    live: HashMap<String, Arc<Run>>,
    by_key: HashMap<String, Arc<Run>>,
    ended: VecDeque<Arc<Run>>,
}

/// The result of an attempt to start a run.
pub(crate) enum Start {
    /// The given run is live now.
    New,
    /// This run has the same idempotency key.
    Same(Arc<Run>),
}

impl Registry {
    /// Enters `run`, unless a live one has its idempotency key.
    pub(crate) fn start(&self, run: &Arc<Run>) -> Start {
        let mut state = self.lock();
        if let Some(key) = &run.idempotency_key {
            // A client may name a run by its id too.
            let same = state.by_key.get(key).or_else(|| state.live.get(key));
            if let Some(same) = same {
                return Start::Same(Arc::clone(same));
            }
            state.by_key.insert(key.clone(), Arc::clone(run));
        }
        state.live.insert(run.id.clone(), Arc::clone(run));
        Start::New
    }

    /// The run, if it is live or ended not long ago.
    pub fn find(&self, run_id: &str) -> Option<Arc<Run>> {
        let state = self.lock();
        let mut ended = state.ended.iter();
        let found = state.live.get(run_id);
        found
            .or_else(|| ended.find(|run| run.id == run_id))
            .cloned()
    }

    /// The run that clients of the WebSocket protocol know as `id`.
    pub fn find_public(&self, id: &str) -> Option<Arc<Run>> {
        if let Some(run) = self.lock().by_key.get(id) {
            return Some(Arc::clone(run));
        }
        let state = self.lock();
        let mut ended = state.ended.iter().rev();
        let found = ended.find(|run| run.public_id() == id).cloned();
        drop(state);
        found.or_else(|| self.find(id))
    }

    /// A live run is not live any more; its events stay for a while when it had any.
    pub fn end(&self, run: &Arc<Run>) {
        let mut state = self.lock();
        state.live.remove(&run.id);
        if let Some(key) = &run.idempotency_key {
            state.by_key.remove(key);
        }
        if !run.log.has_ended() {
            return;
        }
        state.ended.push_back(Arc::clone(run));
        let mut bytes: usize = state.ended.iter().map(|run| run.log.bytes()).sum();
        while state.ended.len() > ENDED_LIMIT || bytes > ENDED_BYTES {
            let Some(oldest) = state.ended.pop_front() else {
                return;
            };
            bytes -= oldest.log.bytes();
        }
    }

    /// The channels of the session's messages whose turns run now.
    pub fn channels_at_work(&self, key: &SessionKey) -> Vec<String> {
        let state = self.lock();
        let is_at_work = |run: &&Arc<Run>| run.key == *key && run.has_begun.load(Ordering::Relaxed);
        let at_work = state.live.values().filter(is_at_work);
        at_work.map(|run| run.channel.clone()).collect()
    }

    /// All live runs.
    pub fn live(&self) -> Vec<Arc<Run>> {
        self.lock().live.values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
