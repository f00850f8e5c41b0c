//! The jobs as the ledger keeps them.

use openclaw_conversations::database::{Database, Fault};
use openclaw_proto::schedule::JobRun;
use openclaw_sessions::now_ms;
use openclaw_settings::Settings;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;
use uuid::Uuid;

use openclaw_jobs::{Alerts, CatchUp, Delivered, Ended, Invalid, Job, Maker};

use crate::audience;
use crate::rows::{self, Begun, ByHand, Look, Settled, State};

/// Jobs that may be kept.
const JOB_LIMIT: usize = 1000;

/// The jobs.
#[derive(Debug)]
pub struct Jobs {
    database: Database,
    /// Told when a job was added or changed.
    changed: Notify,
    /// Told when the next time may be another one.
    planned: Notify,
    /// How often that was.
    plan: AtomicU64,
    /// Whether channels may have to say yet what became of results.
    is_waiting: AtomicBool,
    /// Told when one more result is waited for.
    waits: Notify,
}

/// Why something is not done with a job.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// There is no room for one more.
    #[error("{JOB_LIMIT} jobs are kept already")]
    TooMany,
    /// There is no such job.
    #[error("cron job not found: {0}")]
    Unknown(String),
    /// It is not the one that was read.
    #[error("the job has changed since; read it again and retry")]
    Changed,
    /// A run of it is under way.
    #[error("a run of this job is under way")]
    Running,
    /// What its runs may cost on a day is used up.
    #[error("{}", rows::OVER_BUDGET)]
    OverBudget,
    /// The gateway makes it.
    #[error("this job is what agents.*.heartbeat of the configuration makes; change it there")]
    Heartbeat,
    /// An agent may not do that; why.
    #[error("{0}")]
    Agent(String),
    /// Its fields make no job.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It is not on the disk.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// How a run of a job ended, and what follows from that.
pub(crate) struct Closed {
    /// The job after it; as it was, where it is gone.
    pub(crate) job: Job,
    /// What somebody is to be told.
    pub(crate) notice: Option<String>,
    pub(crate) entry: Value,
    /// It was there to be run once, and has been.
    pub(crate) is_removed: bool,
}

/// Whether both are declared as the same job.
fn is_same(one: &Job, other: &Job) -> bool {
    one.declaration_key() == other.declaration_key()
        && one.agent_id() == other.agent_id()
        && one.maker() == other.maker()
}

/// What the configuration says of jobs.
pub(crate) struct Rules {
    pub(crate) settings: Arc<Settings>,
    /// What holds for failures of those that do not say it themselves.
    pub(crate) alerts: Alerts,
}

impl Rules {
    /// The job, if it comes some time, what it names is there, and what it tells leads
    /// somewhere and to nobody who may not know it, or was as little so `before`.
    pub(crate) fn checked(&self, job: Job, before: Option<&Job>) -> Result<Job, Invalid> {
        let channels = &self.settings.channels;
        let job = job
            .to_come(before, now_ms())?
            .leading(before, (channels, &self.alerts))?;
        let known = |job: &Job| {
            audience::known(&self.settings, job)?;
            audience::kept_apart(&self.settings, job)
        };
        let kept = known(&job);
        let before = before.map(known);
        if before.is_some_and(|before| before == kept) {
            return Ok(job);
        }
        kept.map(|()| job)
    }
}

/// A page of runs.
#[derive(Debug)]
pub struct Runs {
    /// The runs of the page, in OpenClaw's fields.
    pub entries: Vec<Value>,
    /// How many there are on all pages.
    pub total: usize,
}

impl Jobs {
    pub(crate) fn new(database: Database) -> Self {
        Self {
            database,
            changed: Notify::new(),
            planned: Notify::new(),
            plan: AtomicU64::new(0),
            is_waiting: AtomicBool::new(true),
            waits: Notify::new(),
        }
    }

    /// Looks at the jobs once more: what holds for them may have changed.
    pub(crate) fn look_again(&self) {
        self.changed.notify_one();
        self.replan();
    }

    /// Waits until a job was added or changed.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn replan(&self) {
        self.plan.fetch_add(1, Ordering::Relaxed);
        self.planned.notify_one();
    }

    /// A number that is another one when the next time may be another one.
    pub(crate) fn plan(&self) -> u64 {
        self.plan.load(Ordering::Relaxed)
    }

    /// Waits until the next time may be another one.
    pub(crate) async fn planned(&self) {
        self.planned.notified().await;
    }

    /// All jobs, in the order in which they were made.
    pub async fn all(&self) -> Result<Vec<Job>, Fault> {
        let mut jobs = self.database.read("list the jobs", rows::read_all).await?;
        jobs.sort_by_key(Job::created_ms);
        Ok(jobs)
    }

    /// The job `id`.
    pub async fn find(&self, id: &str) -> Result<Option<Job>, Fault> {
        let id = id.to_owned();
        self.database
            .read("look a job up", move |connection| {
                rows::read(connection, &id)
            })
            .await
    }

    /// Adds a job made from `params`, if it is as the `rules` want. One that is declared
    /// again is changed.
    pub(crate) async fn add(
        &self,
        params: Value,
        maker: Option<Maker>,
        rules: Rules,
    ) -> Result<Job, Refused> {
        let mut job = Job::new(Uuid::new_v4().to_string(), params.clone(), now_ms())?;
        if let Some(maker) = maker {
            job = job.made_by(maker);
        }
        let add = move |connection: &rusqlite::Connection| {
            let declared = match job.declaration_key() {
                Some(_) => rows::declared(connection)?,
                None => Vec::new(),
            };
            let same = declared.iter().find(|it| is_same(it, &job));
            let job = match (same, params) {
                (Some(declared), Value::Object(fields)) => {
                    let patched = declared.patched(fields, now_ms());
                    patched.and_then(|it| rules.checked(it, Some(declared)))
                }
                _ if rows::count(connection)? >= JOB_LIMIT => return Ok(Err(Refused::TooMany)),
                _ => rules.checked(job, None),
            };
            let job = match job {
                Ok(job) => job,
                Err(invalid) => return Ok(Err(invalid.into())),
            };
            rows::write(connection, &job, now_ms())?;
            Ok(Ok(job))
        };
        let added = self.database.call("add a job", add).await?;
        self.look_again();
        added
    }

    /// Changes fields of a job, which is still as `revision` says, where one is
    /// given. Its times that have come by then are noted before, with what is done
    /// about those that were `missed`; None: jobs do not run.
    pub(crate) async fn patch(
        &self,
        id: &str,
        fields: Map<String, Value>,
        revision: Option<String>,
        (missed, rules): (Option<CatchUp>, Rules),
    ) -> Result<Job, Refused> {
        let id = id.to_owned();
        let patch = move |connection: &rusqlite::Connection| {
            let now = now_ms();
            let Some(mut job) = rows::read(connection, &id)? else {
                return Ok(Err(Refused::Unknown(id)));
            };
            if job.is_heartbeat() {
                return Ok(Err(Refused::Heartbeat));
            }
            if revision.is_some_and(|revision| revision != job.revision()) {
                return Ok(Err(Refused::Changed));
            }
            let patched = job.patched(fields, now);
            let patched = match patched.and_then(|it| rules.checked(it, Some(&job))) {
                Ok(patched) => patched,
                Err(invalid) => return Ok(Err(invalid.into())),
            };
            if let Some(missed) = missed {
                rows::fall_due(connection, &mut job, missed, now)?;
            }
            rows::write(connection, &patched, now)?;
            Ok(Ok(patched))
        };
        let patched = self.database.call("change a job", patch).await?;
        self.look_again();
        patched
    }

    /// Removes a job; false when there is none.
    pub(crate) async fn remove(&self, id: &str) -> Result<bool, Refused> {
        let id = id.to_owned();
        let remove = move |connection: &rusqlite::Connection| match rows::read(connection, &id)? {
            Some(job) if job.is_heartbeat() => Ok(Err(Refused::Heartbeat)),
            _ => Ok(Ok(rows::remove(connection, &id)?)),
        };
        let removed = self.database.call("remove a job", remove).await?;
        self.look_again();
        removed
    }

    /// Removes the jobs that agents made, of one agent or of all; which those were.
    pub(crate) async fn remove_made(&self, agent: Option<String>) -> Result<Vec<String>, Fault> {
        let remove = move |connection: &rusqlite::Connection| {
            let is_meant = |job: &Job| {
                let maker = job.maker();
                maker.is_some_and(|it| agent.as_ref().is_none_or(|agent| it.agent_id == *agent))
            };
            let mut all = rows::read_all(connection)?;
            all.retain(is_meant);
            let ids: Vec<String> = all.iter().map(|job| job.id().to_owned()).collect();
            for id in &ids {
                rows::remove(connection, id)?;
            }
            Ok(ids)
        };
        let removed = self.database.call("remove jobs of agents", remove).await;
        self.look_again();
        removed
    }

    /// Keeps a heartbeat for each of `wanted`, agents with the milliseconds between
    /// two, and no others.
    pub(crate) async fn converge(&self, wanted: Vec<(String, i64)>) -> Result<(), Fault> {
        let converge = move |connection: &rusqlite::Connection| {
            let now = now_ms();
            let there = rows::heartbeats(connection)?;
            let made = wanted.iter().filter_map(|(agent, every_ms)| {
                // What the configuration says has been checked.
                Job::heartbeat(agent, *every_ms, now).ok()
            });
            let made: Vec<Job> = made.collect();
            for job in &there {
                if !made.iter().any(|it| it.id() == job.id()) {
                    rows::remove(connection, job.id())?;
                }
            }
            for job in made {
                let same = there.iter().find(|it| it.id() == job.id());
                if !same.is_some_and(|it| {
                    it.enabled && it.schedule.every_ms() == job.schedule.every_ms()
                }) {
                    rows::write(connection, &job, now)?;
                }
            }
            Ok(())
        };
        self.database.call("keep the heartbeats", converge).await?;
        self.look_again();
        Ok(())
    }

    /// What the runs of a job have cost today, and how many asked a model.
    pub(crate) async fn spent_today(&self, id: &str) -> Result<(f64, u32), Fault> {
        let id = id.to_owned();
        let read = move |connection: &rusqlite::Connection| {
            rows::spent_since(connection, &id, rows::day_begin(now_ms()))
        };
        self.database.read("add up what a job cost", read).await
    }

    /// Whether the message of a run was taken already.
    pub(crate) async fn is_asked(&self, run_id: &str) -> Result<bool, Fault> {
        let run_id = run_id.to_owned();
        let read = move |connection: &rusqlite::Connection| rows::is_asked(connection, &run_id);
        self.database.read("look a job's message up", read).await
    }

    /// Notes the times that have come, and begins the runs that can.
    pub(crate) async fn take_due(&self, missed: CatchUp) -> Result<Look, Fault> {
        let look =
            move |connection: &rusqlite::Connection| rows::look(connection, missed, now_ms());
        let look = self.database.call("look for jobs that are due", look);
        let look = look.await?;
        if !look.begun.is_empty() {
            self.replan();
        }
        Ok(look)
    }

    /// When the next job is due, and when the next one for which a machine that sleeps is woken.
    pub(crate) async fn next(&self) -> Result<Option<(i64, Option<i64>)>, Fault> {
        let next = self.database.read("look for the next job", rows::next);
        next.await
    }

    /// The runs that the gateway before did not see the end of.
    pub(crate) async fn left(&self) -> Result<Vec<Begun>, Fault> {
        let left = |connection: &rusqlite::Connection| rows::left(connection, now_ms());
        self.database.call("take up runs of jobs", left).await
    }

    /// Begins a run of a job now.
    pub(crate) async fn begin(&self, id: &str) -> Result<Begun, Refused> {
        let job_id = id.to_owned();
        let begin = move |connection: &rusqlite::Connection| {
            let Some(mut job) = rows::read(connection, &job_id)? else {
                return Ok(ByHand::Unknown);
            };
            rows::begin_by_hand(connection, &mut job, now_ms())
        };
        match self.database.call("begin a run of a job", begin).await? {
            ByHand::Begun(begun) => Ok(*begun),
            ByHand::Unknown => Err(Refused::Unknown(id.to_owned())),
            ByHand::Running => Err(Refused::Running),
            ByHand::OverBudget => Err(Refused::OverBudget),
        }
    }

    /// Notes that a run was answered.
    pub(crate) async fn ran(&self, run_id: &str) -> Result<(), Fault> {
        let run_id = run_id.to_owned();
        let ran = move |connection: &rusqlite::Connection| rows::ran(connection, &run_id);
        self.database.call("note that a job ran", ran).await
    }

    /// Waits until one more result is waited for.
    pub(crate) async fn waits(&self) {
        self.waits.notified().await;
    }

    /// Notes what channels have said since of results whose runs are over.
    pub(crate) async fn settle(&self, alerts: Alerts) -> Result<Vec<Settled>, Fault> {
        if !self.is_waiting.swap(false, Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let settle =
            move |connection: &rusqlite::Connection| rows::settle(connection, &alerts, now_ms());
        let settled = self
            .database
            .call("note what became of results", settle)
            .await;
        if settled.as_ref().map_or(true, |(_, is_waiting)| *is_waiting) {
            self.is_waiting.store(true, Ordering::Relaxed);
        }
        Ok(settled?.0)
    }

    /// Notes how a run of `job` ended, with the entry that is made of the job as
    /// it is then and of how it passed its budget; None when that is noted already.
    pub(crate) async fn close(
        &self,
        job: &Job,
        (run_id, state): (&str, State),
        (mut ended, alerts): (Ended, Alerts),
        entry: impl FnOnce(&Job, Option<&str>) -> Value + Send + 'static,
    ) -> Result<Option<Closed>, Fault> {
        let (begun, run_id) = (job.clone(), run_id.to_owned());
        let is_waiting = ended.delivered == Delivered::Waiting;
        let close = move |connection: &rusqlite::Connection| {
            let now = now_ms();
            // It may have been changed or removed meanwhile.
            let found = rows::read(connection, begun.id())?;
            let is_there = found.is_some();
            let mut job = found.unwrap_or_else(|| begun.clone());
            if ended.error.is_none() {
                let run = (run_id.as_str(), ended.at_ms);
                ended.over_budget = rows::over_budget(connection, &begun, run)?;
            }
            let is_waiting = rows::is_waiting(connection, job.id())?;
            let was_on = job.enabled;
            let notice = job.end(&ended, &alerts, now);
            // What somebody began by hand is not the run of its time.
            job.enabled |= was_on && is_waiting && job.schedule.kind() == "at";
            let entry = entry(&job, ended.over_budget.as_deref());
            if !rows::end(connection, &run_id, state, &entry, now)? {
                return Ok(None);
            }
            let is_removed = is_there && !is_waiting && job.is_done_with(&ended);
            if is_removed {
                rows::remove(connection, job.id())?;
            } else if is_there {
                rows::write(connection, &job, now)?;
            }
            Ok(Some(Closed {
                job,
                notice,
                entry,
                is_removed,
            }))
        };
        let closed = self.database.call("note how a job ended", close).await;
        if is_waiting {
            self.is_waiting.store(true, Ordering::Relaxed);
            // The channel may have said it before that was noted.
            self.waits.notify_one();
        }
        self.look_again();
        closed
    }

    /// The last runs, the newest first, also those that are not over; of one job or of all.
    pub async fn history(&self, job_id: Option<String>, limit: u32) -> Result<Vec<JobRun>, Fault> {
        self.database
            .read("list the jobs' runs", move |connection| {
                rows::history(connection, job_id.as_deref(), limit)
            })
            .await
    }

    /// How runs ended, the newest first; of one job or of all.
    pub async fn runs(
        &self,
        job_id: Option<String>,
        keep: impl Fn(&Value) -> bool + Send + 'static,
        offset: usize,
        limit: usize,
    ) -> Result<Runs, Fault> {
        self.database
            .read("list the jobs' runs", move |connection| {
                let mut statement = connection.prepare(
                    "SELECT entry FROM job_runs WHERE ended_ms IS NOT NULL \
                     AND (?1 IS NULL OR job_id = ?1) ORDER BY number DESC",
                )?;
                let rows = statement.query_map([job_id], |row| row.get::<_, String>(0))?;
                let mut entries = Vec::new();
                for row in rows {
                    let entry = serde_json::from_str(&row?).unwrap_or(Value::Null);
                    if keep(&entry) {
                        entries.push(entry);
                    }
                }
                let total = entries.len();
                let entries = entries.into_iter().skip(offset).take(limit).collect();
                Ok(Runs { entries, total })
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};
    use serde_json::json;

    use super::*;

    #[test]
    fn agent_of_a_job_is_one_that_there_is_or_that_there_was() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let places: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&places).unwrap();
        let document = json!({"agents": {"list": [{"id": "work"}]}});
        let settings = Settings::assemble(paths, document, &Environment::default()).unwrap();
        let rules = Rules {
            settings: Arc::new(settings),
            alerts: Alerts::default(),
        };
        let job = |agent: &str| {
            let fields = json!({
                "name": "n", "schedule": {"kind": "every", "everyMs": 60_000}, "agentId": agent,
                "sessionTarget": "isolated", "wakeMode": "now",
                "payload": {"kind": "agentTurn", "message": "m"},
            });
            Job::new("j".to_owned(), fields, now_ms()).unwrap()
        };
        for agent in ["work", "main", "Work"] {
            assert!(rules.checked(job(agent), None).is_ok(), "{agent}");
        }
        let refused = rules.checked(job("nobody"), None).unwrap_err().to_string();
        let words = "at /agentId: agent nobody is not configured; configured: main, work";
        assert_eq!(refused, words);
        // A job of an agent that is gone may still be changed, and switched off.
        assert!(rules.checked(job("nobody"), Some(&job("nobody"))).is_ok());
        assert!(rules.checked(job("nobody"), Some(&job("work"))).is_err());
    }
}
