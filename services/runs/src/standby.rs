//! Processes that the runner has ready for the next turn: each stands ready
//! under the run id that the turn will have.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_conversations::storage::Storage;
use openclaw_proto::runner;
use openclaw_sessions::{AgentId, SessionKey};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::run::Registry;
use openclaw_kept_turns as kept;

/// The run ids by agent; those of one session beside those of any.
type Ready = HashMap<(AgentId, Option<SessionKey>), String>;

/// The run ids under which a process stands ready. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Standby {
    ready: Arc<Mutex<Ready>>,
    runs: Registry,
    storage: Storage,
    runner: runner::Client,
    tasks: TaskTracker,
}

impl Standby {
    pub(crate) fn new(
        runs: Registry,
        storage: Storage,
        runner: runner::Client,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            ready: Arc::default(),
            runs,
            storage,
            runner,
            tasks,
        }
    }

    /// The run id for the next turn of a session, if a process stands ready for it.
    pub(crate) fn take(&self, key: &SessionKey) -> Option<String> {
        let mut ready = self.lock();
        let agent = key.agent();
        ready
            .remove(&(agent.clone(), Some(key.clone())))
            .or_else(|| ready.remove(&(agent.clone(), None)))
            .filter(|run_id| self.runs.find(run_id).is_none())
    }

    /// Ends the process that stands ready for a session that ended.
    pub(crate) fn release(&self, key: &SessionKey) {
        let place = (key.agent().clone(), Some(key.clone()));
        let taken = self.lock().remove(&place);
        if let Some(run_id) = taken {
            self.end(run_id);
        }
    }

    /// Ends the processes that have read a session of `agent`, or of any agent when that is empty.
    pub(crate) fn release_readers(&self, agent: &str) {
        let has_read = |(of, session): &(AgentId, Option<SessionKey>)| {
            session.is_some() && (agent.is_empty() || of.as_str() == agent)
        };
        let taken: Vec<String> = self
            .lock()
            .extract_if(|place, _| has_read(place))
            .map(|(_, run_id)| run_id)
            .collect();
        for run_id in taken {
            self.end(run_id);
        }
    }

    fn end(&self, run_id: String) {
        let runner = self.runner.clone();
        self.tasks
            .spawn(async move { kept::close(&runner, &run_id).await });
    }

    /// Keeps the run id that the agent's next turn is to have, or the one of this session, unless
    /// there is a run of that id: one that waits for its turn, or that never had one.
    pub(crate) async fn reserve(&self, agent: &AgentId, session: Option<SessionKey>, run_id: &str) {
        let known = self.storage.find(run_id).await;
        if Uuid::parse_str(run_id).is_err() || !matches!(known, Ok(None)) {
            return;
        }
        let mut ready = self.lock();
        if self.runs.find(run_id).is_none() {
            ready.insert((agent.clone(), session), run_id.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
