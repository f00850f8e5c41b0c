//! The memories of all agents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_daemon::Configuration;
use openclaw_retrieval::Options;
use openclaw_settings::{AgentSettings, Settings};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::embedding::{Hub, backlog};
use crate::error::Error;
use crate::index::Index;
use crate::indexer::{Command, Indexer};
use crate::store::Store;
use crate::worker::Worker;

/// Where indexes are, in the state directory.
const FOLDER: &str = "memory";
/// Commands on their way to an indexer; each has somebody who waits for it.
const COMMANDS: usize = 8;

/// The memories of the agents that the configuration names, whenever it
/// changes.
#[derive(Debug)]
pub(crate) struct Agents {
    configuration: Configuration,
    table: Option<PathBuf>,
    worker: Worker,
    hub: Hub,
    kept: Mutex<BTreeMap<String, AgentMemory>>,
}

/// An agent's memory and those who work on it.
#[derive(Debug)]
struct AgentMemory {
    store: Arc<Store>,
    commands: mpsc::Sender<Command>,
    _task: AbortOnDropHandle<()>,
    _backlog: AbortOnDropHandle<()>,
}

impl Agents {
    /// None yet, see [`Agents::follow`]. `table` is the folder of the static
    /// table.
    pub(crate) fn new(
        configuration: Configuration,
        table: Option<PathBuf>,
        worker: Worker,
        hub: Hub,
    ) -> Self {
        Self {
            configuration,
            table,
            worker,
            hub,
            kept: Mutex::default(),
        }
    }

    /// The configuration they are named in.
    pub(crate) fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Who makes vectors elsewhere.
    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Who does what blocks.
    pub(crate) fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Keeps the agents there are now, and drops those that are no more.
    /// Needs a runtime around it.
    pub(crate) fn follow(&self) {
        let settings = self.configuration.settings();
        let mut kept = self.lock();
        kept.retain(|id, _| settings.agents.contains_key(id));
        for agent in settings.agents.values() {
            self.keep(&mut kept, agent, &settings);
        }
    }

    /// The memory of agent `id`; an empty id is the default agent's.
    pub(crate) fn store(&self, id: &str) -> Result<Arc<Store>, Error> {
        self.of(id, |kept| Arc::clone(&kept.store))
    }

    /// The way to the indexer of agent `id`.
    pub(crate) fn commands(&self, id: &str) -> Result<mpsc::Sender<Command>, Error> {
        self.of(id, |kept| kept.commands.clone())
    }

    /// All memories.
    pub(crate) fn stores(&self) -> Vec<Arc<Store>> {
        self.lock()
            .values()
            .map(|kept| Arc::clone(&kept.store))
            .collect()
    }

    /// Ends all work, and writes what is not on disk yet. Blocks.
    pub(crate) fn close(&self) {
        let kept = std::mem::take(&mut *self.lock());
        for kept in kept.into_values() {
            if let Some(engine) = kept.store.index().opened()
                && let Err(error) = engine.flush()
            {
                openclaw_daemon::failure::report("write the index", &error);
            }
        }
    }

    fn of<T>(&self, id: &str, what: impl FnOnce(&AgentMemory) -> T) -> Result<T, Error> {
        let settings = self.configuration.settings();
        let id = match id {
            "" => &settings.default_agent,
            id => id,
        };
        let agent = settings.agent(id).ok_or_else(|| Error::UnknownAgent {
            id: id.to_owned(),
            known: settings.agents.keys().cloned().collect(),
        })?;
        let mut kept = self.lock();
        Ok(what(self.keep(&mut kept, agent, &settings)))
    }

    /// The memory of `agent` as it is configured now.
    fn keep<'a>(
        &self,
        kept: &'a mut BTreeMap<String, AgentMemory>,
        agent: &AgentSettings,
        settings: &Settings,
    ) -> &'a AgentMemory {
        let before = kept.remove(&agent.id);
        let index = before
            .as_ref()
            .filter(|before| before.store.embedder == settings.memory.embedder)
            .map(|before| Arc::clone(before.store.index()));
        let index = index.unwrap_or_else(|| Arc::new(self.index(agent, settings)));
        let store = Store::new(agent, settings, index);
        let same = before.filter(|before| before.store.is_like(&store));
        let now = same.unwrap_or_else(|| self.start(Arc::new(store)));
        kept.entry(agent.id.clone()).or_insert(now)
    }

    fn index(&self, agent: &AgentSettings, settings: &Settings) -> Index {
        let options = Options {
            table: self.table.clone(),
        };
        Index::new(settings.paths.state.join(FOLDER).join(&agent.id), options)
    }

    fn start(&self, store: Arc<Store>) -> AgentMemory {
        let (commands, received) = mpsc::channel(COMMANDS);
        let indexer = Indexer::new(Arc::clone(&store), self.worker.clone(), received);
        let backlog = backlog::work(Arc::clone(&store), self.worker.clone(), self.hub.clone());
        AgentMemory {
            store,
            commands,
            _task: AbortOnDropHandle::new(tokio::spawn(indexer.keep())),
            _backlog: AbortOnDropHandle::new(tokio::spawn(backlog)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, AgentMemory>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
