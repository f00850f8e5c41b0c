//! A turn's process that stands ready, with its agent confined like any other,
//! for the next turn: their start is then no part of what the user waits for.
//!
//! It holds nothing of any turn. Every process serves one turn; the spare is
//! only started earlier, under the run id that the next turn will have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use openclaw_config::settings::Settings;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::keeper::Held;
use crate::places::{Passing, Places};
use crate::sight::Sight;

/// How long a spare stands ready. A conversation goes on within minutes; a
/// machine that nobody talks to runs no agent.
pub(crate) const LIFE: Duration = Duration::from_secs(300);

/// A spare that had not waited longer came just in time.
const REST: Duration = Duration::from_millis(50);

/// A process that waits for its turn.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) since: Instant,
    pub(crate) held: Held,
    pub(crate) places: Places,
    /// What ends with it.
    pub(crate) passing: Passing,
    pub(crate) agent_id: String,
    pub(crate) settings: Arc<Settings>,
    pub(crate) sight: Sight,
    /// What it was started with, where that is not the same for every turn.
    pub(crate) likeness: String,
}

impl Ready {
    /// Whether it was started with these very settings, and is there.
    fn fits(&self, settings: &Arc<Settings>, agent_id: &str) -> bool {
        Arc::ptr_eq(&self.settings, settings) && self.agent_id == agent_id && self.held.is_alive()
    }

    /// Ends it, and removes what was made for it.
    async fn dismiss(self) {
        self.held.dismiss().await;
        self.passing.remove();
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
    /// The name of the one that is being started, and who waits for it.
    starting: Option<(String, Arc<Notify>)>,
    /// Whether the last turn came when its process was not there yet, or just.
    is_short: bool,
    /// The names of those that are being ended, each until its folder is
    /// removed: a turn of that name must not be started before.
    ending: HashMap<String, CancellationToken>,
}

impl Inner {
    /// Takes the spare out, if `is_it`, to be ended.
    fn take_to_end(&mut self, is_it: impl FnOnce(&Ready) -> bool) -> Option<Ready> {
        let ready = self.ready.take_if(|ready| is_it(ready))?;
        self.ends(&ready);
        Some(ready)
    }

    fn ends(&mut self, ready: &Ready) {
        let name = ready.held.run_id.clone();
        self.ending.insert(name, CancellationToken::new());
    }
}

impl Spare {
    /// Takes the spare of this run, if it fits; one that is just being started
    /// is waited for. One that does not fit is ended: its run id is in use.
    pub(crate) async fn take(
        &self,
        run_id: &str,
        settings: &Arc<Settings>,
        agent_id: &str,
    ) -> Option<Ready> {
        let starting = self.lock().starting.clone();
        let starting = starting.filter(|(name, _)| name == run_id);
        let is_waited_for = starting.is_some();
        if let Some((_, done)) = starting {
            done.notified().await;
        }
        let taken = {
            let mut inner = self.lock();
            let is_it = |ready: &Ready| ready.held.run_id == run_id;
            let fits = |ready: &Ready| {
                is_it(ready) && ready.fits(settings, agent_id) && ready.sight.holds()
            };
            let ready = inner.ready.take_if(|ready| fits(ready));
            let is_rested = |ready: &Ready| ready.since.elapsed() > REST;
            inner.is_short = is_waited_for || !ready.as_ref().is_some_and(is_rested);
            match ready {
                Some(ready) => return Some(ready),
                None => inner.take_to_end(is_it),
            }
        };
        if let Some(ready) = taken {
            self.dismiss(ready).await;
        }
        self.gone(run_id).await;
        None
    }

    /// Whether turns come about as fast as spares.
    pub(crate) fn is_short(&self) -> bool {
        self.lock().is_short
    }

    /// Waits until a spare of this name that is being ended is gone.
    pub(crate) async fn gone(&self, run_id: &str) {
        let ending = self.lock().ending.get(run_id).cloned();
        if let Some(ending) = ending {
            ending.cancelled().await;
        }
    }

    /// Ends one that was taken out to be ended.
    async fn dismiss(&self, ready: Ready) {
        let name = ready.held.run_id.clone();
        ready.dismiss().await;
        let ended = self.lock().ending.remove(&name);
        if let Some(ended) = ended {
            ended.cancel();
        }
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

    /// The name a spare for `agent_id` is to have, which is started now;
    /// `None` when there is one. No other process has the name any more.
    pub(crate) async fn wanted(&self, settings: &Arc<Settings>, agent_id: &str) -> Option<String> {
        let (name, unfit) = self.claim(settings, agent_id)?;
        if let Some(unfit) = unfit {
            self.dismiss(unfit).await;
        }
        self.gone(&name).await;
        Some(name)
    }

    /// That name, and a spare of that name which does not fit, or was killed.
    fn claim(&self, settings: &Arc<Settings>, agent_id: &str) -> Option<(String, Option<Ready>)> {
        let mut inner = self.lock();
        let there = inner
            .ready
            .as_ref()
            .is_some_and(|ready| ready.fits(settings, agent_id));
        if there || inner.starting.is_some() {
            return None;
        }
        let name = inner.names.get(agent_id).cloned()?;
        inner.starting = Some((name.clone(), Arc::default()));
        let unfit = inner.take_to_end(|ready| ready.held.run_id == name);
        Some((name, unfit))
    }

    /// The one that was being started stands ready, or could not be started.
    pub(crate) fn put(&self, ready: Option<Ready>) {
        let mut inner = self.lock();
        if let Some((_, waiting)) = inner.starting.take() {
            // Also for one that begins to wait after this.
            waiting.notify_one();
        }
        let Some(ready) = ready else {
            return;
        };
        if let Some(old) = inner.ready.replace(ready) {
            inner.ends(&old);
            let spare = self.clone();
            tokio::spawn(async move { spare.dismiss(old).await });
        }
    }

    /// Ends the spare, whichever it is.
    pub(crate) async fn clear(&self) {
        let ready = self.lock().take_to_end(|_| true);
        if let Some(ready) = ready {
            self.dismiss(ready).await;
        }
    }

    /// Ends the spare of this name, if there is one.
    pub(crate) async fn end(&self, run_id: &str) {
        let ready = self.lock().take_to_end(|ready| ready.held.run_id == run_id);
        if let Some(ready) = ready {
            self.dismiss(ready).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
