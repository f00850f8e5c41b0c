//! A turn's process that stands ready, with its agent confined like any other,
//! for the next turn: their start is then no part of what the user waits for.
//!
//! It holds nothing of any turn. Every process serves one turn; the spare is
//! only started earlier, under the run id that the next turn will have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_config::settings::Settings;
use uuid::Uuid;

use crate::keeper::Held;
use crate::places::Places;

/// How long a spare stands ready. A conversation goes on within minutes; a
/// machine that nobody talks to runs no agent.
pub(crate) const LIFE: Duration = Duration::from_secs(300);

/// A process that waits for its turn.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) held: Held,
    pub(crate) places: Places,
    pub(crate) agent_id: String,
    pub(crate) settings: Arc<Settings>,
}

impl Ready {
    /// Whether it was started with these very settings, and is there.
    fn fits(&self, settings: &Arc<Settings>, agent_id: &str) -> bool {
        Arc::ptr_eq(&self.settings, settings) && self.agent_id == agent_id && self.held.is_alive()
    }
}

/// The one spare, and the run ids that next turns will have. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    ready: Option<Ready>,
    /// By agent.
    names: HashMap<String, String>,
}

impl Spare {
    /// Takes the spare of this run, if it fits. One that does not is ended:
    /// its run id is in use.
    pub(crate) fn take(
        &self,
        run_id: &str,
        settings: &Arc<Settings>,
        agent_id: &str,
    ) -> Option<Ready> {
        let mut inner = self.lock();
        let ready = inner.ready.take_if(|ready| ready.held.run_id == run_id)?;
        ready.fits(settings, agent_id).then_some(ready)
    }

    /// The run id of the agent's next turn, given that `run_id` is used up.
    pub(crate) fn next_name(&self, agent_id: &str, run_id: &str) -> String {
        let mut inner = self.lock();
        let name = inner.names.entry(agent_id.to_owned()).or_default();
        if name.is_empty() || name == run_id {
            *name = Uuid::new_v4().to_string();
        }
        name.clone()
    }

    /// The name a spare for `agent_id` is to have; `None` when there is one.
    pub(crate) fn wanted(&self, settings: &Arc<Settings>, agent_id: &str) -> Option<String> {
        let inner = self.lock();
        let there = inner
            .ready
            .as_ref()
            .is_some_and(|ready| ready.fits(settings, agent_id));
        (!there).then(|| inner.names.get(agent_id).cloned())?
    }

    /// Keeps `ready`, unless its name is in use by now.
    pub(crate) fn put(&self, ready: Ready) {
        let mut inner = self.lock();
        if inner.names.get(&ready.agent_id) == Some(&ready.held.run_id) {
            inner.ready = Some(ready);
        }
    }

    /// Ends the spare, whichever it is.
    pub(crate) fn clear(&self) {
        self.lock().ready = None;
    }

    /// Ends the spare of this name.
    pub(crate) fn end(&self, run_id: &str) {
        let mut inner = self.lock();
        inner.ready.take_if(|ready| ready.held.run_id == run_id);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
