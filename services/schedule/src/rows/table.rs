//! The jobs in the ledger.

use openclaw_jobs::Job;
use rusqlite::{Connection, OptionalExtension as _, params};

/// The job `id`, if there is one.
pub(crate) fn read(connection: &Connection, id: &str) -> rusqlite::Result<Option<Job>> {
    let text: Option<String> = connection
        .prepare_cached("SELECT job FROM jobs WHERE job_id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| Job::read(&text)))
}

/// All jobs.
pub(crate) fn read_all(connection: &Connection) -> rusqlite::Result<Vec<Job>> {
    jobs(connection, "SELECT job FROM jobs", [])
}

/// The jobs that `sql` selects.
pub(super) fn jobs(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<Job>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(values, |row| row.get::<_, String>(0))?;
    let mut jobs = Vec::new();
    for row in rows {
        jobs.extend(Job::read(&row?));
    }
    Ok(jobs)
}

/// The heartbeats.
pub(crate) fn heartbeats(connection: &Connection) -> rusqlite::Result<Vec<Job>> {
    let sql = "SELECT job FROM jobs WHERE job_id GLOB 'heartbeat-*'";
    let mut found = jobs(connection, sql, [])?;
    found.retain(Job::is_heartbeat);
    Ok(found)
}

/// How many jobs there are.
pub(crate) fn count(connection: &Connection) -> rusqlite::Result<usize> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM jobs")?
        .query_row([], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// The jobs that somebody declared.
pub(crate) fn declared(connection: &Connection) -> rusqlite::Result<Vec<Job>> {
    let sql = "SELECT job FROM jobs WHERE instr(job, '\"declarationKey\"') > 0";
    jobs(connection, sql, [])
}

/// Removes a job; false when there is none.
pub(crate) fn remove(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let removed = connection.execute("DELETE FROM jobs WHERE job_id = ?1", [id])?;
    Ok(removed > 0)
}

/// Keeps `job` as it is.
pub(crate) fn write(connection: &Connection, job: &Job, now: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO jobs (job_id, job, next_ms, updated_ms) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![job.id(), job.stored(), job.next_ms(), now])?;
    Ok(())
}
