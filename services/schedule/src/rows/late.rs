//! What channels say of results after their runs were over.

use openclaw_jobs::{Alerts, Delivered, Job};
use openclaw_proto::outbox as delivery;
use openclaw_runs::outbox;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::{State, is_waiting, read, remove, write};

/// Destinations that a job has at most.
const DESTINATIONS: usize = 2;

/// What is known when neither the outbox nor anybody else knows more.
const FORGOTTEN: &str = "nobody said what became of it";

/// The outbox's name for what a run says at its destination of that number.
pub(crate) fn delivery_name(run_id: &str, number: usize) -> String {
    match number {
        0 => format!("job {run_id}"),
        _ => format!("job {run_id} {number}"),
    }
}

/// A run of which it is known now what became of its result.
#[derive(Debug)]
pub(crate) struct Settled {
    /// None: it is gone.
    pub(crate) job: Option<Job>,
    pub(crate) job_id: String,
    pub(crate) entry: Value,
    /// What somebody is to be told.
    pub(crate) notice: Option<String>,
    /// It was there to be run once, and has been.
    pub(crate) is_removed: bool,
}

/// Notes what became of the results that waited, and whether others wait still.
pub(crate) fn settle(
    connection: &Connection,
    alerts: &Alerts,
    now: i64,
) -> rusqlite::Result<(Vec<Settled>, bool)> {
    let mut statement = connection.prepare_cached(
        "SELECT run_id, job_id, entry FROM job_runs WHERE state = 'ran' AND ended_ms IS NOT NULL
            AND instr(entry, '\"deliveryStatus\":\"unknown\"') > 0",
    )?;
    let waiting = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let waiting = waiting.collect::<rusqlite::Result<Vec<(String, String, String)>>>()?;
    let mut settled = Vec::new();
    let mut is_waiting = false;
    for (run_id, job_id, entry) in waiting {
        match outcome(connection, &run_id)? {
            Delivered::Waiting => is_waiting = true,
            delivered => {
                let entry: Value = serde_json::from_str(&entry).unwrap_or_default();
                let known = (run_id, job_id, entry);
                settled.push(note(connection, known, &delivered, (alerts, now))?);
            }
        }
    }
    Ok((settled, is_waiting))
}

/// What became of all that the run said on channels.
fn outcome(connection: &Connection, run_id: &str) -> rusqlite::Result<Delivered> {
    let mut all = Delivered::Failed(FORGOTTEN.to_owned());
    for number in 0..DESTINATIONS {
        match outbox::outcome_of(connection, &delivery_name(run_id, number))? {
            None => {}
            Some((delivery::State::Delivered, ..)) => all = Delivered::Yes,
            Some((delivery::State::Failed, _, why)) => return Ok(Delivered::Failed(why)),
            Some(_) => return Ok(Delivered::Waiting),
        }
    }
    Ok(all)
}

fn note(
    connection: &Connection,
    (run_id, job_id, mut entry): (String, String, Value),
    delivered: &Delivered,
    (alerts, now): (&Alerts, i64),
) -> rusqlite::Result<Settled> {
    let mut job = read(connection, &job_id)?;
    entry["deliveryStatus"] = json!(delivered.status());
    entry["delivered"] = json!(*delivered == Delivered::Yes);
    if let Delivered::Failed(why) = delivered {
        entry["deliveryError"] = json!(why);
        if job.as_ref().is_none_or(Job::needs_delivery) {
            entry["completionStatus"] = json!("failed");
        }
    }
    let state = match delivered {
        Delivered::Yes => State::Delivered,
        _ => State::Ran,
    };
    connection
        .prepare_cached("UPDATE job_runs SET state = ?2, entry = ?3 WHERE run_id = ?1")?
        .execute(params![run_id, state.as_str(), entry.to_string()])?;
    let mut notice = None;
    let mut is_removed = false;
    let at_ms = entry["runAtMs"].as_i64().unwrap_or_default();
    if let Some(job) = &mut job {
        notice = job.delivered(at_ms, delivered, alerts, now);
        let is_over = entry["completionStatus"] == "succeeded" && job.is_over_since(at_ms);
        is_removed = is_over && !is_waiting(connection, &job_id)?;
        if is_removed {
            remove(connection, &job_id)?;
        } else {
            write(connection, job, now)?;
        }
    }
    Ok(Settled {
        job,
        job_id,
        entry,
        notice,
        is_removed,
    })
}
