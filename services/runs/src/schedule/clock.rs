//! Runs jobs when they are due.

use std::sync::Arc;
use std::time::Duration;

use openclaw_conversations::database::Fault;
use openclaw_daemon::failure;
use openclaw_sessions::{SessionKey, now_ms};
use tokio::time::sleep;

use super::perform::{self, Outcome, Run};
use super::{Refused, Schedule, delivery, entry};
use crate::bus::JobAction;
use openclaw_jobs::{Delivered, Ended, Job, Payload};

/// The longest sleep: the clock may be set, and the machine suspended.
const NAP: Duration = Duration::from_secs(60);

/// Jobs that are started in one go.
const BATCH: usize = 16;

impl Schedule {
    /// Runs what is due, while `cron.enabled` does not say otherwise. Jobs that
    /// were due while the gateway was not there are run once, and so are those
    /// that are due while it stops: the next one runs them.
    pub async fn keep_time(self: Arc<Self>) {
        self.take_up().await;
        let mut was_off = false;
        while !self.needs.tasks.is_closed() {
            let is_off = !self.needs.configuration.settings().cron_enabled;
            if is_off != was_off {
                report(is_off);
                was_off = is_off;
            }
            let due = if is_off {
                Ok(None)
            } else {
                self.start_due().await
            };
            let nap = match due {
                Ok(next) => next.map_or(NAP, until).min(NAP),
                Err(fault) => {
                    failure::report("look for jobs that are due, trying again later", &fault);
                    NAP
                }
            };
            tokio::select! {
                () = self.jobs.changed() => {}
                () = sleep(nap) => {}
            }
        }
    }

    /// Jobs whose run the last gateway did not see the end of. A turn went on
    /// without it, or was begun again; what it is asked again is the same run.
    async fn take_up(self: &Arc<Self>) {
        let Ok(jobs) = self.jobs.all().await else {
            return;
        };
        for mut job in jobs {
            if let (Some(started), Payload::AgentTurn { .. }) = (job.running_since(), &job.payload)
            {
                let run = Run::resumed(job, started);
                self.needs.tasks.spawn(Arc::clone(self).finish(run));
                continue;
            }
            let before = job.clone();
            job.forget_run(now_ms());
            if job != before
                && let Err(fault) = self.jobs.update(&job).await
            {
                failure::report("take a job up again", &fault);
            }
        }
    }

    /// Starts what is due; says when the next one is.
    async fn start_due(self: &Arc<Self>) -> Result<Option<i64>, Fault> {
        let now = now_ms();
        let mut jobs = self.jobs.all().await?;
        jobs.retain(|job| !job.is_running());
        let due = jobs
            .iter()
            .filter(|job| job.next_ms().is_some_and(|next| next <= now));
        for job in due.take(BATCH) {
            if let Err(refused) = self.run_now(job.clone()).await {
                tracing::error_span!("due", job = job.id())
                    .in_scope(|| failure::report_text("run a scheduled job", &refused.to_string()));
            }
        }
        let later = jobs
            .iter()
            .filter_map(Job::next_ms)
            .filter(|next| *next > now);
        Ok(later.min())
    }

    /// Runs a job now, due or not; its run's id. Returns once it is under way.
    pub async fn run_now(self: &Arc<Self>, mut job: Job) -> Result<String, Refused> {
        let started = now_ms();
        job.begin(started);
        self.jobs.update(&job).await?;
        self.tell(job.id(), JobAction::Started, Some(&job), None);
        let run = Run::begun(job, started);
        let id = run.id.clone();
        self.needs.tasks.spawn(Arc::clone(self).finish(run));
        Ok(id)
    }

    /// Follows a run to its end, and notes and tells how that was.
    async fn finish(self: Arc<Self>, run: Run) {
        let (outcome, key, delivered) = self.complete(&run).await;
        let ended_ms = now_ms();
        // It may have been changed meanwhile.
        let mut job = match self.jobs.find(run.job.id()).await {
            Ok(Some(current)) => current,
            _ => run.job.clone(),
        };
        let notice = job.end(
            &Ended {
                at_ms: run.started_ms,
                took_ms: ended_ms - run.started_ms,
                error: outcome.error().map(str::to_owned),
                delivered: delivered.clone(),
            },
            ended_ms,
        );
        let entry = entry::of(&job, &run, ended_ms, key.as_ref(), &outcome, &delivered);
        let noted = self
            .jobs
            .note(job.id(), Some(run.id.clone()), entry.clone())
            .await;
        let kept = if job.ends_with_its_run() {
            self.jobs.remove(job.id()).await.map(|_| ())
        } else {
            self.jobs.update(&job).await
        };
        if let Err(fault) = noted.and(kept) {
            failure::report("note how a job ended", &fault);
        }
        self.tell(job.id(), JobAction::Finished, Some(&job), Some(&entry));
        if let Some(notice) = notice
            && let Delivered::Failed(problem) = delivery::alert(&self.needs, &job, &notice).await
        {
            tracing::error_span!("failed", job = job.id())
                .in_scope(|| failure::report_text("tell that a job failed", &problem));
        }
    }

    /// Does what the job says and announces the answer.
    async fn complete(&self, run: &Run) -> (Outcome, Option<SessionKey>, Delivered) {
        let key = match perform::target(&self.needs.configuration.settings(), &run.job) {
            Ok(key) => key,
            Err(refusal) => {
                let failed = Outcome::Failed(failure::chain(&refusal));
                return (failed, None, Delivered::NotRequested);
            }
        };
        let outcome = run.perform(&self.needs, &key).await;
        let delivered = match &outcome {
            Outcome::Answered(text) => delivery::announce(&self.needs, &run.job, &key, text).await,
            Outcome::Told | Outcome::Failed(_) => Delivered::NotRequested,
        };
        (outcome, Some(key), delivered)
    }
}

fn report(is_off: bool) {
    if is_off {
        tracing::warn!("cron.enabled is false: no job runs by itself")
    } else {
        tracing::info!("jobs run when they are due again")
    }
}

fn until(next_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(next_ms - now_ms()).unwrap_or_default())
}
