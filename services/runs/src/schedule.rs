//! Scheduled jobs: kept in the ledger, run when they are due.

mod clock;
mod delivery;
mod entry;
mod jobs;
mod perform;
mod rows;
mod timer;

use std::sync::Arc;

use openclaw_conversations::database::{Database, Fault};
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::Storage;
use openclaw_daemon::Configuration;
use openclaw_proto::runner;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use crate::bus::{Bus, DomainEvent, JobAction};
use crate::submission::Submitter;
use crate::wake::Waker;
use openclaw_jobs::Job;

pub use jobs::{Jobs, Refused};

/// The jobs, and what running them takes.
pub struct Schedule {
    /// The jobs.
    pub jobs: Jobs,
    needs: Needs,
    /// Held by whoever looks whether there is to be a mark.
    marking: Mutex<()>,
}

/// What running a job takes.
pub(crate) struct Needs {
    pub(crate) configuration: Configuration,
    pub(crate) storage: Storage,
    pub(crate) sessions: Sessions,
    pub(crate) bus: Bus,
    pub(crate) submitter: Submitter,
    pub(crate) waker: Waker,
    pub(crate) runner: runner::Client,
    pub(crate) tasks: TaskTracker,
}

impl Schedule {
    pub(crate) fn new(database: Database, needs: Needs) -> Arc<Self> {
        Arc::new(Self {
            jobs: Jobs::new(database),
            needs,
            marking: Mutex::default(),
        })
    }

    /// Looks at the jobs once more: what holds for them may have changed.
    pub(crate) fn look_again(&self) {
        self.jobs.look_again();
    }

    /// Adds a job made from `params`.
    pub async fn add(&self, params: Value) -> Result<Job, Refused> {
        let job = self.jobs.add(params).await?;
        self.marked(&job).await;
        self.tell(job.id(), JobAction::Added, Some(&job), None);
        Ok(job)
    }

    /// Changes fields of a job that is still as `revision` says, where one is given.
    pub async fn change(
        &self,
        id: &str,
        fields: Map<String, Value>,
        revision: Option<String>,
    ) -> Result<Job, Refused> {
        let job = self.jobs.patch(id, fields, revision, self.is_on()).await?;
        self.marked(&job).await;
        self.tell(job.id(), JobAction::Updated, Some(&job), None);
        Ok(job)
    }

    /// Looks whether a job is due; when the next one is.
    pub async fn wake(&self) -> Result<Option<i64>, Fault> {
        self.look_again();
        let next = self.jobs.next().await?;
        Ok(next.map(|(at_ms, _)| at_ms).filter(|_| self.is_on()))
    }

    /// Removes a job; false when there is none.
    pub async fn remove(&self, id: &str) -> Result<bool, Fault> {
        let is_removed = self.jobs.remove(id).await?;
        if is_removed {
            self.tell(id, JobAction::Removed, None, None);
        }
        Ok(is_removed)
    }

    /// A start of the machine is to know of a job before its maker does.
    async fn marked(&self, job: &Job) {
        if self.is_on() && job.next_ms().is_some() {
            self.mark().await;
        }
    }

    fn tell(&self, job_id: &str, action: JobAction, job: Option<&Job>, entry: Option<&Value>) {
        self.needs.bus.publish(&DomainEvent::JobChanged {
            job_id,
            action,
            job,
            entry,
        });
    }
}
