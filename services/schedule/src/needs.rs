//! What running jobs takes of the gateway, and what its configuration says of all of them.

use std::sync::Arc;

use openclaw_conversations::Lanes;
use openclaw_conversations::database::Database;
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::Storage;
use openclaw_daemon::Configuration;
use openclaw_jobs::{Alerts, CatchUp};
use openclaw_proto::runner;
use openclaw_runs::outbox::Outbox;
use openclaw_runs::{Bus, Core, Registry, Submitter, Waker};
use serde_json::json;
use tokio_util::task::TaskTracker;

use crate::jobs::Rules;

/// What running a job takes.
pub(crate) struct Needs {
    pub(crate) configuration: Configuration,
    pub(crate) storage: Storage,
    pub(crate) sessions: Sessions,
    pub(crate) bus: Bus,
    pub(crate) database: Database,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) lanes: Lanes,
    pub(crate) runs: Registry,
    pub(crate) submitter: Submitter,
    pub(crate) waker: Waker,
    pub(crate) runner: runner::Client,
    pub(crate) tasks: TaskTracker,
}

impl Needs {
    pub(crate) fn of(core: &Core) -> Self {
        Self {
            configuration: core.configuration.clone(),
            storage: core.storage.clone(),
            sessions: core.sessions.clone(),
            bus: core.bus.clone(),
            database: core.database.clone(),
            outbox: Arc::clone(&core.outbox),
            lanes: core.lanes.clone(),
            runs: core.runs.clone(),
            submitter: core.submitter.clone(),
            waker: core.waker.clone(),
            runner: core.runner.clone(),
            tasks: core.tasks.clone(),
        }
    }

    /// What jobs are held to.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            settings: self.configuration.settings(),
            alerts: self.alerts(),
        }
    }

    /// What holds for failures of jobs that do not say it themselves.
    pub(crate) fn alerts(&self) -> Alerts {
        let settings = self.configuration.settings();
        let said = settings.stated.cron.failure_alert.as_ref();
        Alerts::of(said.map(|said| json!(said)))
    }

    /// What is done about missed times of jobs that do not say it themselves.
    pub(crate) fn missed(&self) -> CatchUp {
        if self.configuration.settings().stated.cron.skip_missed_jobs {
            CatchUp::Skip
        } else {
            CatchUp::Once
        }
    }
}
