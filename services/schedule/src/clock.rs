//! Runs jobs when they are due.

use std::sync::Arc;

use openclaw_conversations::database::Fault;
use openclaw_daemon::{clock, failure};
use openclaw_sessions::{SessionKey, now_ms};
use tokio::time::sleep;

use crate::heartbeat::Beat;
use crate::perform::{Outcome, Run};
use crate::rows::{Settled, State};
use crate::{RETRY, Refused, Schedule, audience, delivery, entry, reach, script};
use openclaw_jobs::{Delivered, Ended, Job, Payload};
use openclaw_runs::JobAction;

/// Runs that ended of which the runner may have to forget commands yet: at the moment
/// of its end a gateway has hardly more.
const REMEMBERED: u32 = 200;

impl Schedule {
    /// Runs what is due, while `cron.enabled` does not say otherwise. Jobs that
    /// were due while the gateway was not there are run as they say, and so are
    /// those that are due while it stops: the next one runs them.
    pub(crate) async fn keep_time(self: Arc<Self>) {
        self.take_up().await;
        let mut was_off = false;
        while !self.needs.tasks.is_closed() {
            let is_off = !self.is_on();
            if is_off != was_off {
                report(is_off);
                was_off = is_off;
            }
            let due = if is_off {
                Ok(None)
            } else {
                self.start_due().await
            };
            match due {
                Ok(next) => tokio::select! {
                    () = self.jobs.changed() => {}
                    () = reached(next) => {}
                },
                Err(fault) => {
                    failure::report("look for jobs that are due, trying again later", &fault);
                    sleep(RETRY).await;
                }
            }
        }
    }

    /// Runs that the last gateway did not see the end of. A turn went on without
    /// it, or was begun again; what it is asked again is the same run.
    async fn take_up(self: &Arc<Self>) {
        let left = loop {
            match self.jobs.left().await {
                Ok(left) => break left,
                Err(fault) => failure::report("take up runs of jobs, trying again later", &fault),
            }
            sleep(RETRY).await;
        };
        for begun in left {
            let run = Run::resumed(begun);
            self.needs.tasks.spawn(Arc::clone(self).finish(run));
        }
        let own = Arc::clone(self);
        self.needs.tasks.spawn(async move {
            // The last ones that ended may have commands that the runner keeps.
            let ended = own.jobs.history(None, REMEMBERED).await.unwrap_or_default();
            let ended = ended.into_iter().filter(|run| run.ended_ms.is_some());
            let ended: Vec<String> = ended.map(|run| run.run_id).collect();
            if !ended.is_empty() {
                script::forget_ended(&own.needs, &ended).await;
            }
        });
    }

    /// Starts what is due; says when the next one is.
    async fn start_due(self: &Arc<Self>) -> Result<Option<i64>, Fault> {
        loop {
            let look = self.jobs.take_due(self.needs.missed()).await?;
            for begun in look.begun {
                self.tell(begun.job.id(), JobAction::Started, Some(&begun.job), None);
                let run = Run::begun(begun);
                self.needs.tasks.spawn(Arc::clone(self).finish(run));
            }
            if !look.has_more {
                return Ok(look.next_ms);
            }
        }
    }

    /// Runs a job now, due or not; its run's id. Returns once it is under way.
    pub async fn run_now(self: &Arc<Self>, id: &str) -> Result<String, Refused> {
        let begun = self.jobs.begin(id).await?;
        self.tell(begun.job.id(), JobAction::Started, Some(&begun.job), None);
        let run = Run::begun(begun);
        let id = run.id.clone();
        self.needs.tasks.spawn(Arc::clone(self).finish(run));
        Ok(id)
    }

    /// Follows a run to its end, and notes and tells how that was. What a gateway
    /// that stops does not see the end of is the next one's.
    async fn finish(self: Arc<Self>, run: Run) {
        let (outcome, key, delivered) = self.complete(&run).await;
        while !self.needs.tasks.is_closed() {
            match self.close(&run, &outcome, key.as_ref(), &delivered).await {
                Ok(()) => {
                    if run.runs_commands() {
                        script::forget(&self.needs, &run.id).await;
                    }
                    return;
                }
                Err(fault) => failure::report("note how a job ended, trying again later", &fault),
            }
            sleep(RETRY).await;
        }
    }

    async fn close(
        &self,
        run: &Run,
        outcome: &Outcome,
        key: Option<&SessionKey>,
        delivered: &Delivered,
    ) -> Result<(), Fault> {
        let ended_ms = now_ms();
        let ended = Ended {
            at_ms: run.started_ms,
            took_ms: ended_ms - run.started_ms,
            error: match outcome {
                Outcome::Failed(why) => Some(why.clone()),
                _ => None,
            },
            over_budget: None,
            delivered: delivered.clone(),
            is_skipped: matches!(outcome, Outcome::Skipped(_)),
        };
        let state = match (outcome, delivered) {
            (Outcome::Failed(_), _) => State::Failed,
            (Outcome::Skipped(_), _) => State::Skipped,
            (_, Delivered::Yes) => State::Delivered,
            _ => State::Ran,
        };
        let entry = entry::of(run, ended_ms, key, outcome, delivered);
        let closed = self.jobs.close(
            &run.job,
            (&run.id, state),
            (ended, self.needs.alerts()),
            entry,
        );
        let Some(closed) = closed.await? else {
            return Ok(());
        };
        let job = &closed.job;
        self.tell(
            job.id(),
            JobAction::Finished,
            Some(job),
            Some(&closed.entry),
        );
        if closed.is_removed {
            self.tell(job.id(), JobAction::Removed, None, None);
        }
        if let Some(notice) = closed.notice {
            self.alert(job, &notice).await;
        }
        Ok(())
    }

    /// Notes what channels say of results after their runs were over.
    pub(crate) async fn follow_deliveries(&self) {
        let mut news = self.needs.outbox.news();
        while !self.needs.tasks.is_closed() {
            match self.jobs.settle(self.needs.alerts()).await {
                Ok(settled) => {
                    for settled in settled {
                        self.settled(settled).await;
                    }
                }
                Err(fault) => {
                    failure::report("note what became of results, trying again later", &fault);
                    sleep(RETRY).await;
                    continue;
                }
            }
            tokio::select! {
                heard = news.changed() => if heard.is_err() {
                    return;
                },
                () = self.jobs.waits() => {}
            }
        }
    }

    async fn settled(&self, settled: Settled) {
        let Settled {
            job,
            job_id,
            entry,
            notice,
            is_removed,
        } = settled;
        self.tell(&job_id, JobAction::Finished, job.as_ref(), Some(&entry));
        if is_removed {
            self.tell(&job_id, JobAction::Removed, None, None);
        }
        if let (Some(job), Some(notice)) = (job, notice) {
            self.alert(&job, &notice).await;
        }
    }

    async fn alert(&self, job: &Job, notice: &str) {
        if let Delivered::Failed(problem) = delivery::alert(&self.needs, job, notice).await {
            tracing::error_span!("failed", job = job.id())
                .in_scope(|| failure::report_text("tell that a job failed", &problem));
        }
    }

    /// Does what the job says and announces the answer.
    async fn complete(&self, run: &Run) -> (Outcome, Option<SessionKey>, Delivered) {
        if run.job.is_heartbeat() {
            return Beat::of(&self.needs, &self.jobs, run).perform().await;
        }
        let settings = self.needs.configuration.settings();
        let key = audience::target(&settings, &run.job);
        let key = key.map_err(|refusal| failure::chain(&refusal));
        // A job may be older than the rule, or what it is told by.
        let is_kept = audience::kept_apart(&settings, &run.job);
        let is_kept = is_kept.map_err(|invalid| invalid.to_string());
        let reaches = reach::checked(&self.needs, &run.job).await;
        let is_kept = is_kept.and(reaches.map_err(|invalid| invalid.to_string()));
        let key = match is_kept.and(key) {
            Ok(key) => key,
            Err(why) => return (Outcome::Failed(why), None, Delivered::NotRequested),
        };
        let outcome = run.perform(&self.needs, &key).await;
        if self.needs.tasks.is_closed() {
            return (outcome, Some(key), Delivered::NotRequested);
        }
        if let Outcome::Answered(_) = &outcome {
            // What is not noted is asked again, and the answer is the same.
            if let Err(fault) = self.jobs.ran(&run.id).await {
                failure::report("note that a job ran", &fault);
            }
        }
        // What no agent said is in no session yet.
        let is_said = matches!(
            run.job.payload,
            Payload::AgentTurn { .. } | Payload::SystemEvent { .. }
        );
        let made_in = Some(&key).filter(|_| is_said);
        let delivered = delivery::announce(&self.needs, run, made_in, &outcome).await;
        (outcome, Some(key), delivered)
    }

    /// Whether jobs run by themselves.
    pub(crate) fn is_on(&self) -> bool {
        self.needs.configuration.settings().cron_enabled
    }
}

/// Waits for a time, or until the clock is set; for ever where there is none.
async fn reached(next_ms: Option<i64>) {
    let Some(next_ms) = next_ms else {
        return std::future::pending().await;
    };
    if let Err(error) = clock::reached(next_ms).await {
        failure::report("wait for a time, looking again later", &error);
        sleep(RETRY).await;
    }
}

fn report(is_off: bool) {
    if is_off {
        tracing::warn!("cron.enabled is false: no job runs by itself")
    } else {
        tracing::info!("jobs run when they are due again")
    }
}
