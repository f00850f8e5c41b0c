//! Which agent has which workspace.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_daemon::Configuration;

use crate::error::Error;
use crate::store::Store;

/// The stores of all agents; agents may share one.
#[derive(Debug)]
pub(crate) struct Agents {
    configuration: Configuration,
    stores: Mutex<BTreeMap<PathBuf, Arc<Store>>>,
}

impl Agents {
    /// The agents that `configuration` names, whenever it changes.
    pub(crate) fn new(configuration: Configuration) -> Self {
        Self {
            configuration,
            stores: Mutex::default(),
        }
    }

    /// The configuration they are named in.
    pub(crate) fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The store of agent `id`; an empty id is the default agent's.
    pub(crate) fn store(&self, id: &str) -> Result<Arc<Store>, Error> {
        let settings = self.configuration.settings();
        let id = if id.is_empty() {
            &settings.default_agent
        } else {
            id
        };
        let agent = settings.agent(id).ok_or_else(|| Error::UnknownAgent {
            id: id.to_owned(),
            known: settings.agents.keys().cloned().collect(),
        })?;
        Ok(self.at(&agent.workspace))
    }

    /// The stores of all agents there are now. Those of workspaces that are no
    /// agent's any more are dropped.
    pub(crate) fn stores(&self) -> Vec<Arc<Store>> {
        let settings = self.configuration.settings();
        let agents = settings.agents.values();
        let stores: Vec<Arc<Store>> = agents.map(|agent| self.at(&agent.workspace)).collect();
        let kept = stores
            .iter()
            .map(|store| (store.path().to_owned(), Arc::clone(store)));
        let kept: BTreeMap<PathBuf, Arc<Store>> = kept.collect();
        let stores = kept.values().cloned().collect();
        *self.stores.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        stores
    }

    /// Indexed files and passages of all agents.
    pub(crate) fn size(&self) -> (usize, usize) {
        let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let sizes = stores.values().map(|store| store.size());
        sizes.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    fn at(&self, workspace: &std::path::Path) -> Arc<Store> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let store = stores
            .entry(workspace.to_owned())
            .or_insert_with(|| Arc::new(Store::new(workspace.to_owned())));
        Arc::clone(store)
    }
}
