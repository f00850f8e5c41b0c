//! Runs of jobs as rows of the ledger: one for each planned time, and one for each run that was
//! begun by hand. Whatever changes a job and its runs together is one transaction.

mod late;
mod table;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_jobs::{Budget, CatchUp, Cause, Job, Planned};
use openclaw_proto::schedule::JobRun;
use rusqlite::{Connection, Row, params};
use serde_json::{Value, json};

pub(crate) use late::{Settled, delivery_name, settle};
use table::jobs;
pub(crate) use table::{count, declared, heartbeats, read, read_all, remove, write};

/// Jobs that are looked at in one transaction, which keeps messages waiting.
const BATCH: i64 = 32;

/// Runs that are remembered, over all jobs, as in OpenClaw. Those that are not
/// over are none of them.
const RUN_LIMIT: i64 = 2000;

/// Why a run is not begun.
pub(crate) const OVER_BUDGET: &str = "the job's budget of the day is used up";

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Its time has come.
    Due,
    /// It was begun.
    Started,
    /// It was answered; the answer may have to go elsewhere.
    Ran,
    /// The answer went there.
    Delivered,
    /// It came to nothing.
    Failed,
    /// It was not begun.
    Skipped,
}

impl State {
    /// As it is written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Started => "started",
            Self::Ran => "ran",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// A run that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Begun {
    pub(crate) job: Job,
    pub(crate) run_id: String,
    pub(crate) started_ms: i64,
    /// It has been answered already.
    pub(crate) has_run: bool,
    /// What it may cost, in US dollars; None: nobody said.
    pub(crate) limit_usd: Option<f64>,
}

/// What there is to do.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// Runs that begin now.
    pub(crate) begun: Vec<Begun>,
    /// Whether there may be more that do.
    pub(crate) has_more: bool,
    /// When the next job is due, in Unix milliseconds.
    pub(crate) next_ms: Option<i64>,
}

/// Notes the times that have come, and begins the runs of those that are free.
pub(crate) fn look(connection: &Connection, missed: CatchUp, now: i64) -> rusqlite::Result<Look> {
    let due = jobs(
        connection,
        "SELECT job FROM jobs WHERE next_ms <= ?1 ORDER BY next_ms LIMIT ?2",
        params![now, BATCH],
    )?;
    let mut has_more = due.len() as i64 == BATCH;
    for mut job in due {
        fall_due(connection, &mut job, missed, now)?;
        write(connection, &job, now)?;
    }
    let waiting = waiting(connection)?;
    has_more |= waiting.len() as i64 == BATCH;
    let tried = waiting.len();
    let mut begun = Vec::new();
    for (run_id, job_id) in waiting {
        begun.extend(begin_due(connection, run_id, &job_id, now)?);
    }
    // Behind one that was skipped there may be another of its job.
    has_more |= begun.len() < tried;
    let next_ms = connection
        .prepare_cached("SELECT min(next_ms) FROM jobs WHERE next_ms > ?1")?
        .query_row([now], |row| row.get(0))?;
    Ok(Look {
        begun,
        has_more,
        next_ms,
    })
}

/// When the next job is due, and when the next one for which a machine that sleeps is woken.
pub(crate) fn next(connection: &Connection) -> rusqlite::Result<Option<(i64, Option<i64>)>> {
    let next: Option<i64> = connection
        .prepare_cached("SELECT min(next_ms) FROM jobs")?
        .query_row([], |row| row.get(0))?;
    let Some(next) = next else {
        return Ok(None);
    };
    // Of a thousand jobs few say so.
    let waking =
        "SELECT job FROM jobs WHERE next_ms IS NOT NULL AND instr(job, '\"wakeSystem\"') > 0";
    let mut waking = jobs(connection, waking, [])?;
    waking.retain(Job::wakes_system);
    Ok(Some((next, waking.iter().filter_map(Job::next_ms).min())))
}

/// Notes the times of `job` that have come. One that has a row, as after the
/// clock was set back, gets no other.
pub(crate) fn fall_due(
    connection: &Connection,
    job: &mut Job,
    missed: CatchUp,
    now: i64,
) -> rusqlite::Result<()> {
    for planned in job.fall_due(now, missed) {
        plan(connection, job, &planned, now)?;
    }
    Ok(())
}

fn plan(connection: &Connection, job: &Job, planned: &Planned, now: i64) -> rusqlite::Result<()> {
    let run_id = format!("cron:{}:{}", job.id(), planned.at_ms);
    let (state, ended) = match planned.skipped {
        None => (State::Due, None),
        Some(_) => (State::Skipped, Some(now)),
    };
    let entry = planned
        .skipped
        .map(|reason| skipped(job, &run_id, planned, reason, now).to_string());
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO job_runs
                (job_id, run_id, planned_ms, until_ms, cause, state, ended_ms, entry)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE NOT EXISTS (
                SELECT 1 FROM job_runs WHERE job_id = ?1 AND planned_ms <= ?3 AND until_ms >= ?3)",
        )?
        .execute(params![
            job.id(),
            run_id,
            planned.at_ms,
            planned.until_ms,
            planned.cause.as_str(),
            state.as_str(),
            ended,
            entry.unwrap_or_default(),
        ])?;
    Ok(())
}

/// A run that is none, in OpenClaw's fields.
fn skipped(job: &Job, run_id: &str, planned: &Planned, reason: &str, now: i64) -> Value {
    let mut entry = json!({
        "ts": now,
        "jobId": job.id(),
        "jobName": job.name,
        "action": "finished",
        "status": "skipped",
        "error": reason,
        "runId": run_id,
        "runAtMs": planned.at_ms,
        "durationMs": 0,
    });
    if planned.until_ms > planned.at_ms {
        entry["summary"] = json!("stands for all times until the next row");
    }
    entry
}

/// The oldest run that is due of each job that has none under way. The signs keep
/// the search to the few rows that are not over.
fn waiting(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT run_id, job_id, min(number) FROM job_runs AS due
         WHERE ended_ms IS NULL AND state = 'due' AND NOT EXISTS (
            SELECT 1 FROM job_runs AS other WHERE other.ended_ms IS NULL
                AND +other.job_id = due.job_id AND other.state <> 'due')
         GROUP BY +job_id ORDER BY 3 LIMIT ?1",
    )?;
    let rows = statement.query_map([BATCH], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Begins a run that is due, unless its job was switched off or removed since.
fn begin_due(
    connection: &Connection,
    run_id: String,
    job_id: &str,
    now: i64,
) -> rusqlite::Result<Option<Begun>> {
    let Some(mut job) = read(connection, job_id)?.filter(|job| job.enabled) else {
        let entry = json!({
            "ts": now, "jobId": job_id, "runId": run_id, "action": "finished",
            "status": "skipped", "error": "the job was switched off or removed",
        });
        end(connection, &run_id, State::Skipped, &entry, now)?;
        return Ok(None);
    };
    let Some(limit_usd) = allowed(connection, &job, now)? else {
        let entry = skipped_now(&job, &run_id, OVER_BUDGET, now);
        end(connection, &run_id, State::Skipped, &entry, now)?;
        return Ok(None);
    };
    connection
        .prepare_cached("UPDATE job_runs SET state = 'started', started_ms = ?2 WHERE run_id = ?1")?
        .execute(params![run_id, now])?;
    job.begin(now);
    write(connection, &job, now)?;
    Ok(Some(Begun {
        job,
        run_id,
        started_ms: now,
        has_run: false,
        limit_usd,
    }))
}

/// What a run of `job` may cost that begins now; inner None: anything. Outer None:
/// the budget of its day is used up.
fn allowed(connection: &Connection, job: &Job, now: i64) -> rusqlite::Result<Option<Option<f64>>> {
    let budget = job.budget();
    let spent = if budget.is_of_days() {
        spent_since(connection, job.id(), day_begin(now))?.0
    } else {
        0.0
    };
    let left = budget.left(spent);
    Ok(Some(left).filter(|left| left.is_none_or(|left| left > 0.0)))
}

/// What the runs of a job have cost that were begun since, in US dollars, and how
/// many of them asked a model.
pub(crate) fn spent_since(
    connection: &Connection,
    job_id: &str,
    since_ms: i64,
) -> rusqlite::Result<(f64, u32)> {
    connection
        .prepare_cached(
            "SELECT total(turns.cost_usd), count(runs.run_id) FROM job_runs
             JOIN runs ON runs.idempotency_key = job_runs.run_id
             LEFT JOIN turns USING (accepted_seq)
             WHERE job_runs.job_id = ?1 AND job_runs.started_ms >= ?2",
        )?
        .query_row(params![job_id, since_ms], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
}

/// Why a run of `job` that began then cost more than it might; None: it did not.
pub(crate) fn over_budget(
    connection: &Connection,
    job: &Job,
    (run_id, started_ms): (&str, i64),
) -> rusqlite::Result<Option<String>> {
    let budget = job.budget();
    if budget == Budget::default() {
        return Ok(None);
    }
    let cost = connection
        .prepare_cached(
            "SELECT total(turns.cost_usd) FROM runs JOIN turns USING (accepted_seq)
             WHERE runs.idempotency_key = ?1",
        )?
        .query_row([run_id], |row| row.get(0))?;
    let of_day = spent_since(connection, job.id(), day_begin(started_ms))?.0;
    Ok(budget.passed(cost, of_day))
}

/// Whether a run of a job waits for the one before it.
pub(crate) fn is_waiting(connection: &Connection, job_id: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM job_runs
                WHERE job_id = ?1 AND ended_ms IS NULL AND state = 'due')",
        )?
        .query_row([job_id], |row| row.get(0))
}

/// Whether the message of a run was taken already.
pub(crate) fn is_asked(connection: &Connection, run_id: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM runs WHERE idempotency_key = ?1)")?
        .query_row([run_id], |row| row.get(0))
}

/// When the day of `now` began here.
pub(crate) fn day_begin(now: i64) -> i64 {
    let at = Timestamp::from_millisecond(now).unwrap_or_default();
    let here = at.to_zoned(TimeZone::system());
    let begin = here.start_of_day().map(|begin| begin.timestamp());
    begin.unwrap_or(at).as_millisecond()
}

/// A run that was not begun, whose time has come.
fn skipped_now(job: &Job, run_id: &str, reason: &str, now: i64) -> Value {
    json!({
        "ts": now, "jobId": job.id(), "jobName": job.name, "runId": run_id,
        "action": "finished", "status": "skipped", "error": reason, "durationMs": 0,
    })
}

/// What becomes of a run that somebody wants.
#[derive(Debug)]
pub(crate) enum ByHand {
    /// It is begun.
    Begun(Box<Begun>),
    /// There is no such job.
    Unknown,
    /// One is under way.
    Running,
    /// The job's budget of the day is used up.
    OverBudget,
}

/// Begins a run that somebody wants now.
pub(crate) fn begin_by_hand(
    connection: &Connection,
    job: &mut Job,
    now: i64,
) -> rusqlite::Result<ByHand> {
    let is_under_way: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM job_runs
            WHERE job_id = ?1 AND ended_ms IS NULL AND state <> 'due')",
        [job.id()],
        |row| row.get(0),
    )?;
    if is_under_way {
        return Ok(ByHand::Running);
    }
    let Some(limit_usd) = allowed(connection, job, now)? else {
        return Ok(ByHand::OverBudget);
    };
    let run_id = format!("cron:{}:hand-{now}", job.id());
    let added = connection.execute(
        "INSERT OR IGNORE INTO job_runs (job_id, run_id, cause, state, started_ms)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            job.id(),
            run_id,
            Cause::Hand.as_str(),
            State::Started.as_str(),
            now
        ],
    )?;
    if added == 0 {
        return Ok(ByHand::Running);
    }
    job.begin(now);
    write(connection, job, now)?;
    Ok(ByHand::Begun(Box::new(Begun {
        job: job.clone(),
        run_id,
        started_ms: now,
        has_run: false,
        limit_usd,
    })))
}

/// The runs that the gateway before did not see the end of. A job that says it
/// runs and has none does not.
pub(crate) fn left(connection: &Connection, now: i64) -> rusqlite::Result<Vec<Begun>> {
    let mut statement = connection.prepare(
        "SELECT run_id, job_id, started_ms, state FROM job_runs
         WHERE ended_ms IS NULL AND state <> 'due' ORDER BY number",
    )?;
    let rows = statement.query_map([], open_row)?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut left = Vec::new();
    for (run_id, job_id, started_ms, state) in rows {
        match read(connection, &job_id)? {
            Some(job) => left.push(Begun {
                limit_usd: allowed(connection, &job, now)?.unwrap_or(Some(0.0)),
                job,
                run_id,
                started_ms,
                has_run: state == State::Ran.as_str(),
            }),
            // It did what it had to do, and nobody is there who wants to know.
            None if state == State::Ran.as_str() => {
                let entry = json!({
                    "ts": now, "jobId": job_id, "runId": run_id, "action": "finished",
                    "status": "ok", "delivered": false, "deliveryStatus": "not-delivered",
                    "deliveryError": "the job was removed before its result was told",
                });
                end(connection, &run_id, State::Ran, &entry, now)?;
            }
            None => {
                let entry = json!({
                    "ts": now, "jobId": job_id, "runId": run_id, "action": "finished",
                    "status": "error", "error": "the job was removed while it ran",
                });
                end(connection, &run_id, State::Failed, &entry, now)?;
            }
        }
    }
    // Of a thousand jobs few say so.
    let running = "SELECT job FROM jobs WHERE instr(job, '\"runningAtMs\"') > 0";
    for mut job in jobs(connection, running, [])? {
        let is_left = left.iter().any(|run| run.job.id() == job.id());
        if job.is_running() && !is_left {
            job.forget_run();
            write(connection, &job, now)?;
        }
    }
    Ok(left)
}

fn open_row(row: &Row<'_>) -> rusqlite::Result<(String, String, i64, String)> {
    let started: Option<i64> = row.get(2)?;
    Ok((
        row.get(0)?,
        row.get(1)?,
        started.unwrap_or_default(),
        row.get(3)?,
    ))
}

/// The last runs of a job, or of all, the newest first.
pub(crate) fn history(
    connection: &Connection,
    job_id: Option<&str>,
    limit: u32,
) -> rusqlite::Result<Vec<JobRun>> {
    let mut statement = connection.prepare_cached(
        "SELECT run_id, job_id, planned_ms, until_ms, cause, state, started_ms, ended_ms, entry,
            (SELECT job FROM jobs WHERE jobs.job_id = job_runs.job_id)
         FROM job_runs WHERE ?1 IS NULL OR job_id = ?1 ORDER BY number DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![job_id, limit], job_run)?;
    rows.collect()
}

fn job_run(row: &Row<'_>) -> rusqlite::Result<JobRun> {
    let entry: String = row.get(8)?;
    let entry: Value = serde_json::from_str(&entry).unwrap_or_default();
    let word = |name: &str| entry[name].as_str();
    let job: Option<String> = row.get(9)?;
    let name = job.and_then(|job| Job::read(&job)).map(|job| job.name);
    let name = name.or_else(|| word("jobName").map(str::to_owned));
    let reason = word("error").or_else(|| word("deliveryError"));
    let reason = reason.or_else(|| word("deliverySuppressionReason"));
    Ok(JobRun {
        run_id: row.get(0)?,
        job_id: row.get(1)?,
        job_name: name.unwrap_or_default(),
        planned_ms: row.get(2)?,
        until_ms: row.get(3)?,
        cause: row.get(4)?,
        state: row.get(5)?,
        started_ms: row.get(6)?,
        ended_ms: row.get(7)?,
        summary: word("summary").unwrap_or_default().to_owned(),
        reason: reason.unwrap_or_default().to_owned(),
    })
}

/// Notes that a run was answered.
pub(crate) fn ran(connection: &Connection, run_id: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE job_runs SET state = 'ran' WHERE run_id = ?1 AND state = 'started'",
        )?
        .execute([run_id])?;
    Ok(())
}

/// Notes how a run ended; false when that is noted already.
pub(crate) fn end(
    connection: &Connection,
    run_id: &str,
    state: State,
    entry: &Value,
    now: i64,
) -> rusqlite::Result<bool> {
    let ended = connection
        .prepare_cached(
            "UPDATE job_runs SET state = ?2, ended_ms = ?3, entry = ?4
             WHERE run_id = ?1 AND ended_ms IS NULL",
        )?
        .execute(params![run_id, state.as_str(), now, entry.to_string()])?;
    connection
        .prepare_cached(
            "DELETE FROM job_runs WHERE ended_ms IS NOT NULL
                AND number <= (SELECT max(number) FROM job_runs) - ?1",
        )?
        .execute([RUN_LIMIT])?;
    Ok(ended == 1)
}

#[cfg(test)]
mod tests;
