//! The schedule: jobs kept in the ledger and run when they are due. It begins runs
//! as clients do, and knows none of the doors.

mod clock;
mod delivery;
mod entry;
mod jobs;
mod perform;
mod rows;
mod timer;

use std::sync::Arc;

use openclaw_conversations::database::Fault;
use openclaw_conversations::sessions::Sessions;
use openclaw_conversations::storage::Storage;
use openclaw_daemon::Configuration;
use openclaw_proto::runner;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use openclaw_jobs::Job;
use openclaw_runs::{Bus, Core, DomainEvent, JobAction, Submitter, Waker};

pub use jobs::{Jobs, Refused};
pub use openclaw_jobs as job;

/// The jobs, and what running them takes.
pub struct Schedule {
    /// The jobs.
    pub jobs: Jobs,
    needs: Needs,
    /// Held by whoever looks whether there is to be a mark.
    marking: Mutex<()>,
}

/// What running a job takes.
struct Needs {
    configuration: Configuration,
    storage: Storage,
    sessions: Sessions,
    bus: Bus,
    submitter: Submitter,
    waker: Waker,
    runner: runner::Client,
    tasks: TaskTracker,
}

impl Schedule {
    /// The schedule of `core`, whose ledger has the jobs.
    pub fn new(core: &Core) -> Arc<Self> {
        Arc::new(Self {
            jobs: Jobs::new(core.database.clone()),
            needs: Needs {
                configuration: core.configuration.clone(),
                storage: core.storage.clone(),
                sessions: core.sessions.clone(),
                bus: core.bus.clone(),
                submitter: core.submitter.clone(),
                waker: core.waker.clone(),
                runner: core.runner.clone(),
                tasks: core.tasks.clone(),
            },
            marking: Mutex::default(),
        })
    }

    /// Runs what is due, and has the gateway be there when something is.
    pub async fn run(self: Arc<Self>) {
        tokio::join!(
            Arc::clone(&self).keep_time(),
            Arc::clone(&self).keep_armed(),
            self.follow_configuration(),
        );
    }

    async fn follow_configuration(&self) {
        let mut configuration = self.needs.configuration.clone();
        while configuration.changed().await {
            self.look_again();
        }
    }

    /// Looks at the jobs once more: what holds for them may have changed.
    fn look_again(&self) {
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
