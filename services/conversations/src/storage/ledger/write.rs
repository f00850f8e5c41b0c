//! How a change is written into the tables.

use openclaw_proto::event::Kind;
use openclaw_proto::feed::Entry;
use rusqlite::{Connection, params};

use super::change::{Change, Close};
use super::record::{Record, Spent};
use crate::feed::Happening;
use crate::outbox;

/// Whether the change was one: a turn begins once, however often it is started.
pub(super) fn write(
    connection: &Connection,
    change: &Change,
    happening: &Happening,
    last: u64,
) -> rusqlite::Result<bool> {
    let sequence = i64::try_from(last).unwrap_or(i64::MAX);
    let rows = match change {
        Change::Insert(record) => insert(connection, record, sequence)?,
        Change::KeepOptions { run_id, options } => connection
            .prepare_cached(
                "INSERT INTO turn_options (accepted_seq, options) \
                 SELECT accepted_seq, ?2 FROM runs WHERE run_id = ?1",
            )?
            .execute([run_id, options])?,
        Change::Running { run_id, at_ms, .. } => begin(connection, run_id, sequence, *at_ms)?,
        Change::Close(close) => end(connection, close, sequence)?,
        Change::Deliver(new, at_ms) => usize::from(outbox::add(connection, new, *at_ms)?),
        // It has no number of its own: that is another event's.
        Change::Happened(_) if happening.kinds.is_empty() => 0,
        Change::Happened(_) => connection
            .prepare_cached(
                "INSERT INTO events (seq, at_ms, agent_id, session_key, run_id, facts) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                sequence,
                happening.at_ms,
                happening.agent_id,
                happening.session_key,
                happening.run_id,
                serde_json::to_string(&happening.kinds).ok(),
            ])?,
    };
    Ok(rows > 0)
}

fn begin(
    connection: &Connection,
    run_id: &str,
    sequence: i64,
    at_ms: i64,
) -> rusqlite::Result<usize> {
    connection
        .prepare_cached("UPDATE runs SET state = 'running' WHERE run_id = ?1")?
        .execute([run_id])?;
    connection
        .prepare_cached(
            "UPDATE runs SET started_seq = ?2, started_ms = ?3 \
             WHERE run_id = ?1 AND started_seq IS NULL",
        )?
        .execute(params![run_id, sequence, at_ms])
}

fn end(connection: &Connection, close: &Close, sequence: i64) -> rusqlite::Result<usize> {
    if let Some(spent) = &close.spent {
        keep(connection, &close.run_id, spent)?;
    }
    if let Some(delivery) = &close.delivery {
        outbox::add(connection, delivery, close.at_ms)?;
    }
    connection
        .prepare_cached(
            "DELETE FROM turn_options WHERE accepted_seq = \
             (SELECT accepted_seq FROM runs WHERE run_id = ?1)",
        )?
        .execute([&close.run_id])?;
    connection
        .prepare_cached(
            "UPDATE runs SET state = ?2, ended_ms = ?3, reason = ?4, outcome = ?5, \
             ended_seq = ?6, entries = ?7 WHERE run_id = ?1",
        )?
        .execute(params![
            close.run_id,
            close.state,
            close.at_ms,
            reason(&close.outcome),
            serde_json::to_string(&close.outcome).ok(),
            sequence,
            listed(&close.entries),
        ])
}

fn keep(connection: &Connection, run_id: &str, spent: &Spent) -> rusqlite::Result<usize> {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO turns (accepted_seq, unit, cpu_ms, memory_peak_bytes, \
             tasks_peak, input_tokens, output_tokens, cost_usd) \
             SELECT accepted_seq, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM runs WHERE run_id = ?1",
        )?
        .execute(params![
            run_id,
            spent.resources.unit,
            number(spent.resources.cpu_ms),
            number(spent.resources.memory_peak_bytes),
            number(spent.resources.tasks_peak),
            number(spent.input_tokens),
            number(spent.output_tokens),
            spent.cost_usd,
        ])
}

fn insert(connection: &Connection, record: &Record, sequence: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "INSERT INTO runs (run_id, idempotency_key, session_key, agent_id, session_id, \
             channel, state, user_entry_id, created_ms, accepted_seq, route) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            record.run_id,
            record.idempotency_key,
            record.session_key,
            record.agent_id,
            record.session_id,
            record.channel,
            record.state,
            record.user_entry_id,
            record.created_ms,
            sequence,
            record
                .route
                .as_ref()
                .and_then(|it| serde_json::to_string(it).ok()),
        ])
}

fn listed(entries: &[Entry]) -> Option<String> {
    let is_empty = entries.is_empty();
    (!is_empty).then(|| serde_json::to_string(entries).ok())?
}

/// For people who look into the file.
fn reason(outcome: &Kind) -> Option<&str> {
    match outcome {
        Kind::Failed(failed) => Some(&failed.message),
        Kind::Aborted { reason, .. } => Some(reason),
        _ => None,
    }
}
