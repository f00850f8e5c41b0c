//! Processes of CLIs that stand ready, one for each session that goes on: the start of a CLI, which
//! takes longer than most answers, is then no part of what the user waits for (`cliWarmSeconds`).
//!
//! Like every spare it serves one turn, in a unit and a sandbox of its own, so that nothing of a
//! turn outlives its limits; the CLI has read its session when the turn comes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_daemon::Configuration;
use openclaw_settings::RunnerSettings;

use crate::spare::Spare;

/// Sessions that have one at the same time: a CLI takes a hundred megabytes and more.
const MOST: usize = 4;

/// The spares of sessions, by the sessions' keys. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warm(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    sessions: HashMap<String, Spare>,
    /// Their keys, that of the latest turn last.
    order: Vec<String>,
}

impl Warm {
    /// The session's, from now on the latest one.
    pub(crate) fn of(&self, session_key: &str) -> Spare {
        let mut inner = self.lock();
        inner.order.retain(|key| key != session_key);
        inner.order.push(session_key.to_owned());
        let spare = inner.sessions.entry(session_key.to_owned()).or_default();
        spare.clone()
    }

    /// Ends those of sessions that are too many.
    pub(crate) async fn prune(&self) {
        let surplus: Vec<(String, Spare)> = {
            let mut inner = self.lock();
            let count = inner.order.len().saturating_sub(MOST);
            let keys: Vec<String> = inner.order.drain(..count).collect();
            let spare = |key: String| Some((inner.sessions.get(&key)?.clone(), key));
            let spares = keys.into_iter().filter_map(spare);
            spares.map(|(spare, key)| (key, spare)).collect()
        };
        for (key, spare) in surplus {
            spare.clear().await;
            // Only now: until then a turn of its name has to find it.
            let mut inner = self.lock();
            if !inner.order.contains(&key) {
                inner.sessions.remove(&key);
            }
        }
    }

    /// Ends all of them whenever the configuration changes: they were started with the one before.
    pub(crate) async fn follow(self, mut configuration: Configuration<RunnerSettings>) {
        while configuration.changed().await {
            self.clear().await;
        }
    }

    /// Ends all of them.
    pub(crate) async fn clear(&self) {
        for spare in self.all() {
            spare.clear().await;
        }
    }

    /// All there are.
    pub(crate) fn all(&self) -> Vec<Spare> {
        self.lock().sessions.values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
