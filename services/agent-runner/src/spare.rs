//! A turn's process that stands ready, with its agent confined like any other,
//! for the next turn: their start is then no part of what the user waits for.
//!
//! It holds nothing of any turn. Every process serves one turn; the spare is
//! only started earlier, under the run id that the next turn will have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use openclaw_backends::places::{Places, RunFolders};
use openclaw_settings::RunnerSettings;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::path_snapshot::PathSnapshot;
use crate::removal;
use crate::turn_handle::TurnHandle;

/// A spare that had not waited longer came just in time.
const REST: Duration = Duration::from_millis(50);

/// A process that waits for its turn.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) since: Instant,
    pub(crate) held: TurnHandle,
    pub(crate) places: Places,
    /// What is cleaned up with it.
    pub(crate) passing: RunFolders,
    pub(crate) agent_id: String,
    pub(crate) settings: Arc<RunnerSettings>,
    pub(crate) path_snapshot: PathSnapshot,
    /// The parts of its start that differ between turns.
    pub(crate) likeness: String,
}

impl Ready {
    /// Whether it was started with these very settings, and is there.
    fn fits(&self, settings: &Arc<RunnerSettings>, agent_id: &str) -> bool {
        Arc::ptr_eq(&self.settings, settings) && self.agent_id == agent_id && self.held.is_alive()
    }

    /// Ends it, and removes what was made for it.
    pub(crate) async fn dismiss(self) {
        self.held.dismiss().await;
        let passing = self.passing;
        removal::remove(move || passing.remove()).await;
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
    /// The name of the one that is being started, until it stands ready.
    starting: Option<(String, CancellationToken)>,
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
        settings: &Arc<RunnerSettings>,
        agent_id: &str,
    ) -> Option<Ready> {
        let is_waited_for = self.started(run_id).await;
        {
            let mut inner = self.lock();
            let is_it = |ready: &Ready| ready.held.run_id == run_id;
            let fits = |ready: &Ready| {
                is_it(ready) && ready.fits(settings, agent_id) && ready.path_snapshot.holds()
            };
            let ready = inner.ready.take_if(|ready| fits(ready));
            let is_rested = |ready: &Ready| ready.since.elapsed() > REST;
            inner.is_short = is_waited_for || !ready.as_ref().is_some_and(is_rested);
            if ready.is_some() {
                return ready;
            }
        }
        self.end(run_id).await;
        None
    }

    /// Nobody has this run id any more, nor will: the turn of that name is not
    /// one for what stands ready here.
    pub(crate) async fn vacate(&self, run_id: &str) {
        self.retire(run_id);
        self.started(run_id).await;
        self.end(run_id).await;
    }

    /// A run has this id: no process is started under it to stand ready.
    pub(crate) fn retire(&self, run_id: &str) {
        self.lock().names.retain(|_, name| name != run_id);
    }

    /// Waits for the start of the spare of this name and says whether there was one.
    async fn started(&self, run_id: &str) -> bool {
        let starting = self.lock().starting.clone();
        match starting.filter(|(name, _)| name == run_id) {
            Some((_, started)) => {
                started.cancelled().await;
                true
            }
            None => false,
        }
    }

    /// Whether there is one, or one is being started.
    pub(crate) fn stands_ready(&self) -> bool {
        let inner = self.lock();
        let is_there = inner.ready.as_ref().is_some_and(|it| it.held.is_alive());
        is_there || inner.starting.is_some()
    }

    /// Whether turns come about as fast as spares.
    pub(crate) fn is_short(&self) -> bool {
        self.lock().is_short
    }

    /// Waits until a spare of this name that is being ended is gone.
    async fn gone(&self, run_id: &str) {
        let ending = self.lock().ending.get(run_id).cloned();
        if let Some(ending) = ending {
            ending.cancelled().await;
        }
    }

    /// Ends one that was taken out to be ended. It ends even if nobody waits for
    /// that any more: its name stays taken until then.
    async fn dismiss(&self, ready: Ready) {
        let name = ready.held.run_id.clone();
        let spare = self.clone();
        let ended = tokio::spawn(async move {
            ready.dismiss().await;
            let ended = spare.lock().ending.remove(&name);
            if let Some(ended) = ended {
                ended.cancel();
            }
        });
        if let Err(error) = ended.await {
            openclaw_daemon::failure::report("end a process that stood ready", &error);
        }
    }

    /// The run id of the agent's next turn, given that `run_id` is used up.
    pub(crate) fn next_name(&self, agent_id: &str, run_id: &str) -> String {
        let mut inner = self.lock();
        let name = inner.names.entry(agent_id.to_owned()).or_default();
        if name.is_empty() || name == run_id {
            // In order of time, as the ledger's index of runs is best added to.
            *name = Uuid::now_v7().to_string();
        }
        name.clone()
    }

    /// The name a spare for `agent_id` is to have, which is started now;
    /// `None` when there is one. No other process has the name any more.
    pub(crate) async fn wanted(
        &self,
        settings: &Arc<RunnerSettings>,
        agent_id: &str,
    ) -> Option<String> {
        let (name, unfit) = self.claim(settings, agent_id)?;
        if let Some(unfit) = unfit {
            self.dismiss(unfit).await;
        }
        self.gone(&name).await;
        Some(name)
    }

    /// That name, and a spare of that name which does not fit, or was killed.
    fn claim(
        &self,
        settings: &Arc<RunnerSettings>,
        agent_id: &str,
    ) -> Option<(String, Option<Ready>)> {
        let mut inner = self.lock();
        let name = inner.names.get(agent_id).cloned()?;
        let there = inner
            .ready
            .as_ref()
            .is_some_and(|ready| ready.held.run_id == name && ready.fits(settings, agent_id));
        if there || inner.starting.is_some() {
            return None;
        }
        inner.starting = Some((name.clone(), CancellationToken::new()));
        let unfit = inner.take_to_end(|ready| ready.held.run_id == name);
        Some((name, unfit))
    }

    /// The one that was being started stands ready, or could not be started.
    pub(crate) fn put(&self, ready: Option<Ready>) {
        let mut inner = self.lock();
        if let Some((_, started)) = inner.starting.take() {
            started.cancel();
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

    /// Ends the spare, whichever it is, also one that is just being started.
    pub(crate) async fn clear(&self) {
        let starting = self.lock().starting.clone();
        if let Some((_, started)) = starting {
            started.cancelled().await;
        }
        let ready = self.lock().take_to_end(|_| true);
        if let Some(ready) = ready {
            self.dismiss(ready).await;
        }
    }

    /// Ends the spare of this name, if there is one, and waits until it is gone.
    pub(crate) async fn end(&self, run_id: &str) {
        let ready = self.lock().take_to_end(|ready| ready.held.run_id == run_id);
        if let Some(ready) = ready {
            self.dismiss(ready).await;
        }
        self.gone(run_id).await;
    }

    /// Whether it is this very one.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
