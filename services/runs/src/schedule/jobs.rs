//! The jobs as the ledger keeps them.

use openclaw_conversations::database::{Database, Fault};
use openclaw_sessions::now_ms;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;
use tokio::sync::Notify;
use uuid::Uuid;

use openclaw_jobs::{Invalid, Job};

/// Jobs that may be kept.
const JOB_LIMIT: usize = 1000;

/// Runs that are remembered, over all jobs, as in OpenClaw.
const RUN_LIMIT: i64 = 2000;

/// The jobs.
#[derive(Debug)]
pub struct Jobs {
    database: Database,
    /// Told when a job was added or changed.
    changed: Notify,
}

/// Why a job cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// There is no room for one more.
    #[error("{JOB_LIMIT} jobs are kept already")]
    TooMany,
    /// Its fields make no job.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It is not on the disk.
    #[error(transparent)]
    Fault(#[from] Fault),
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
    pub(super) fn new(database: Database) -> Self {
        Self {
            database,
            changed: Notify::new(),
        }
    }

    /// Looks at the jobs once more: what holds for them may have changed.
    pub(super) fn look_again(&self) {
        self.changed.notify_one();
    }

    /// Waits until a job was added or changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// All jobs, in the order in which they were made.
    pub async fn all(&self) -> Result<Vec<Job>, Fault> {
        let mut jobs = self.database.read("list the jobs", read_all).await?;
        jobs.sort_by_key(Job::created_ms);
        Ok(jobs)
    }

    /// The job `id`.
    pub async fn find(&self, id: &str) -> Result<Option<Job>, Fault> {
        let id = id.to_owned();
        self.database
            .read("look a job up", move |connection| read(connection, &id))
            .await
    }

    /// Adds a job made from `params`.
    pub(super) async fn add(&self, params: Value) -> Result<Job, Refused> {
        let job = Job::new(Uuid::new_v4().to_string(), params, now_ms())?;
        let added = job.clone();
        let there = self
            .database
            .call("add a job", move |connection| {
                let count: i64 =
                    connection.query_row("SELECT count(*) FROM jobs", [], |row| row.get(0))?;
                let room = usize::try_from(count).unwrap_or(usize::MAX) < JOB_LIMIT;
                if room {
                    write(connection, &added)?;
                }
                Ok(room)
            })
            .await?;
        if !there {
            return Err(Refused::TooMany);
        }
        self.look_again();
        Ok(job)
    }

    /// Writes a job that was changed, unless it was removed meanwhile.
    pub(super) async fn update(&self, job: &Job) -> Result<(), Fault> {
        let job = job.clone();
        self.database
            .call("change a job", move |connection| {
                if read(connection, job.id())?.is_some() {
                    write(connection, &job)?;
                }
                Ok(())
            })
            .await?;
        self.look_again();
        Ok(())
    }

    /// Removes a job; false when there is none.
    pub(super) async fn remove(&self, id: &str) -> Result<bool, Fault> {
        let id = id.to_owned();
        let removed = self
            .database
            .call("remove a job", move |connection| {
                Ok(connection.execute("DELETE FROM jobs WHERE job_id = ?1", [id])? > 0)
            })
            .await?;
        self.look_again();
        Ok(removed)
    }

    /// Notes how a run of a job ended.
    pub(super) async fn note(
        &self,
        job_id: &str,
        run_id: Option<String>,
        entry: Value,
    ) -> Result<(), Fault> {
        let job_id = job_id.to_owned();
        self.database
            .call("note a job's run", move |connection| {
                connection.execute(
                    "INSERT INTO job_runs (job_id, run_id, ended_ms, entry) VALUES (?1, ?2, ?3, ?4)",
                    params![job_id, run_id, now_ms(), entry.to_string()],
                )?;
                connection.execute(
                    "DELETE FROM job_runs WHERE number <= (SELECT max(number) FROM job_runs) - ?1",
                    [RUN_LIMIT],
                )
            })
            .await
            .map(|_| ())
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
                    "SELECT entry FROM job_runs WHERE ?1 IS NULL OR job_id = ?1 \
                     ORDER BY number DESC",
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

fn read(connection: &Connection, id: &str) -> rusqlite::Result<Option<Job>> {
    let text: Option<String> = connection
        .query_row("SELECT job FROM jobs WHERE job_id = ?1", [id], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(text.and_then(|text| Job::read(&text)))
}

fn read_all(connection: &Connection) -> rusqlite::Result<Vec<Job>> {
    let mut statement = connection.prepare("SELECT job FROM jobs")?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut jobs = Vec::new();
    for row in rows {
        jobs.extend(Job::read(&row?));
    }
    Ok(jobs)
}

fn write(connection: &Connection, job: &Job) -> rusqlite::Result<()> {
    connection
        .execute(
            "INSERT OR REPLACE INTO jobs (job_id, job, next_ms, updated_ms) VALUES (?1, ?2, ?3, ?4)",
            params![job.id(), job.stored(), job.next_ms(), now_ms()],
        )
        .map(|_| ())
}
