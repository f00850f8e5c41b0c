//! That a session's history is being summarised.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_sessions::SessionKey;

/// While this lives, the session is compacting.
#[derive(Debug)]
pub struct Compacting {
    all: Arc<Mutex<HashSet<SessionKey>>>,
    key: SessionKey,
}

impl Compacting {
    /// None: somebody does it already.
    pub(super) fn begin(all: &Arc<Mutex<HashSet<SessionKey>>>, key: &SessionKey) -> Option<Self> {
        let is_new = lock(all).insert(key.clone());
        is_new.then(|| Self {
            all: Arc::clone(all),
            key: key.clone(),
        })
    }

    /// The session.
    pub(super) fn key(&self) -> &SessionKey {
        &self.key
    }
}

impl Drop for Compacting {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.key);
    }
}

fn lock(all: &Mutex<HashSet<SessionKey>>) -> std::sync::MutexGuard<'_, HashSet<SessionKey>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_sessions::AgentId;

    #[test]
    fn session_is_compacted_once_at_a_time() {
        let all = Arc::default();
        let key = SessionKey::main(&AgentId::main());
        let first = Compacting::begin(&all, &key).unwrap();
        assert!(Compacting::begin(&all, &key).is_none());
        drop(first);
        assert!(Compacting::begin(&all, &key).is_some());
    }
}
