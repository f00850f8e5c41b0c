//! The schedule: jobs kept in the ledger and run when they are due. It begins runs
//! as clients do, and knows none of the doors.

mod agent;
mod audience;
mod call;
mod clock;
mod delivery;
mod entry;
mod heartbeat;
mod jobs;
mod known;
mod limit;
mod needs;
mod people;
mod perform;
mod question;
mod reach;
mod rows;
mod script;
mod terms;
mod timer;
mod visible;
mod wakeup;

use std::sync::Arc;
use std::time::Duration;

use openclaw_conversations::database::Fault;
use openclaw_daemon::failure;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use openclaw_jobs::Job;
use openclaw_runs::{Core, DomainEvent, JobAction};
use openclaw_sessions::now_ms;

use needs::Needs;

use wakeup::Wakeup;

pub use call::{Answer, Call};
pub use jobs::{Jobs, Refused};
pub use openclaw_jobs as job;
pub use openclaw_jobs::Maker;

/// What could not be read or written, on a full disk maybe, is tried again after this long.
const RETRY: Duration = Duration::from_secs(30);

/// The jobs, and what running them takes.
pub struct Schedule {
    /// The jobs.
    pub jobs: Jobs,
    needs: Needs,
    /// What starts the gateway for the job that is due next.
    wakeup: Wakeup,
    /// Locked while it is decided whether there is to be a mark.
    marking: Mutex<()>,
}

impl Schedule {
    /// The schedule of `core`, whose ledger has the jobs.
    pub fn new(core: &Core) -> Arc<Self> {
        Arc::new(Self {
            jobs: Jobs::new(core.database.clone()),
            needs: Needs::of(core),
            wakeup: Wakeup::default(),
            marking: Mutex::default(),
        })
    }

    /// Runs what is due, and has the gateway be there when something is.
    pub async fn run(self: Arc<Self>) {
        tokio::join!(
            Arc::clone(&self).keep_time(),
            Arc::clone(&self).keep_armed(),
            self.follow_deliveries(),
            self.follow_configuration(),
        );
    }

    async fn follow_configuration(&self) {
        let mut configuration = self.needs.configuration.clone();
        loop {
            self.keep_heartbeats().await;
            if !configuration.changed().await {
                return;
            }
            self.look_again();
        }
    }

    /// Keeps a job for each heartbeat of the configuration.
    async fn keep_heartbeats(&self) {
        let settings = self.needs.configuration.settings();
        let wanted = settings.agents.keys().filter_map(|agent| {
            let every = settings.heartbeat(agent)?.every.0.as_millis();
            Some((agent.clone(), i64::try_from(every).unwrap_or(i64::MAX)))
        });
        while let Err(fault) = self.jobs.converge(wanted.clone().collect()).await {
            failure::report("keep the heartbeats, trying again later", &fault);
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Looks at the jobs once more: what holds for them may have changed.
    fn look_again(&self) {
        self.jobs.look_again();
    }

    /// Adds a job made from `params`.
    pub async fn add(&self, params: Value) -> Result<Job, Refused> {
        self.add_made(params, None).await
    }

    async fn add_made(&self, params: Value, maker: Option<Maker>) -> Result<Job, Refused> {
        delivery::reachable(&self.needs, &params).await?;
        delivery::allowed(&self.needs, &params).await?;
        let job = self.jobs.add(params, maker, self.needs.rules()).await?;
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
        let said = Value::Object(fields.clone());
        delivery::reachable(&self.needs, &said).await?;
        delivery::allowed(&self.needs, &said).await?;
        self.stays_in_reach(id, &fields).await?;
        let missed = self.is_on().then(|| self.needs.missed());
        let known = (missed, self.needs.rules());
        let job = self.jobs.patch(id, fields, revision, known).await?;
        self.marked(&job).await;
        self.tell(job.id(), JobAction::Updated, Some(&job), None);
        Ok(job)
    }

    /// Refuses a change by which a job of an agent would reach further than it may, unless
    /// it did so as much before.
    async fn stays_in_reach(&self, id: &str, fields: &Map<String, Value>) -> Result<(), Refused> {
        let Some(job) = self.jobs.find(id).await? else {
            return Ok(());
        };
        let Ok(patched) = job.patched(fields.clone(), now_ms()) else {
            // It is refused for that.
            return Ok(());
        };
        let before = reach::checked(&self.needs, &job).await;
        match reach::checked(&self.needs, &patched).await {
            Err(invalid) if before.as_ref() != Err(&invalid) => Err(invalid.into()),
            _ => Ok(()),
        }
    }

    /// A job as clients are told of it, with the reason why it is not run as it is, if there
    /// is one: it reaches further than what an agent made may.
    pub async fn shown(&self, job: &Job) -> Value {
        let mut shown = job.to_json();
        if let Err(invalid) = reach::checked(&self.needs, job).await {
            shown[job::PROBLEM] = Value::String(invalid.to_string());
        }
        shown
    }

    /// Looks whether a job is due; when the next one is.
    pub async fn wake(&self) -> Result<Option<i64>, Fault> {
        self.look_again();
        let next = self.jobs.next().await?;
        Ok(next.map(|(at_ms, _)| at_ms).filter(|_| self.is_on()))
    }

    /// Removes a job; false when there is none.
    pub async fn remove(&self, id: &str) -> Result<bool, Refused> {
        let is_removed = self.jobs.remove(id).await?;
        if is_removed {
            self.tell(id, JobAction::Removed, None, None);
        }
        Ok(is_removed)
    }

    /// Removes the jobs that agents made, of one agent or of all; how many.
    pub async fn remove_made(&self, agent: Option<String>) -> Result<usize, Fault> {
        let removed = self.jobs.remove_made(agent).await?;
        for id in &removed {
            self.tell(id, JobAction::Removed, None, None);
        }
        Ok(removed.len())
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
