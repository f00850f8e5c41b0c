//! Events as they are in the ledger's rows, and back again.

use openclaw_proto::event;
use openclaw_proto::feed::{Entry, Event, Kind, Role, Selector};
use openclaw_proto::gateway::Route;
use rusqlite::types::Type;
use rusqlite::{Connection, Params, Row, params};

use super::{Bill, Happening, ended, numbers};

/// Events from some number on.
#[derive(Debug, PartialEq)]
pub struct Page {
    /// In the order of their numbers.
    pub events: Vec<Event>,
    /// Whether there are no more now.
    pub is_last: bool,
}

/// What `selector` means and has a higher number than `after`: what about
/// `limit` rows say.
pub fn page(
    connection: &Connection,
    selector: &Selector,
    after: u64,
    limit: usize,
) -> rusqlite::Result<Page> {
    let (agent, session) = match selector {
        Selector::Everything => (None, None),
        Selector::Agent(agent) => (Some(agent), None),
        Selector::Session(key) => (None, Some(key)),
    };
    let from = number(after);
    let rows = number(limit as u64);
    let first_run = number(numbers::first_run(connection)?);
    let wanted = params![from, rows, agent, session, first_run];
    let mut found = read(connection, ACCEPTED, wanted, accepted)?;
    found.append(&mut read(connection, STARTED, wanted, started)?);
    found.append(&mut read(connection, ENDED, wanted, closed)?);
    let others = params![from, rows, agent, session];
    found.append(&mut read(connection, OTHERS, others, other)?);
    found.sort_by_key(|(last, _)| *last);
    // Each query gave its first ones, so the first ones of all are whole.
    let is_last = found.len() < limit;
    found.truncate(limit);
    let events = found
        .into_iter()
        .flat_map(|(last, happening)| happening.numbered(last))
        // A row tells of several events; the first of them may be known.
        .filter(|event| event.sequence > after)
        .collect();
    Ok(Page { events, is_last })
}

/// Whether there is an event of this number or of a higher one. Asked for numbers
/// below this gateway's, so what it has itself is left out.
pub(super) fn is_kept(connection: &Connection, sequence: u64) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM events WHERE seq >= ?1)
               OR EXISTS (SELECT 1 FROM runs WHERE accepted_seq >= ?1)
               OR EXISTS (SELECT 1 FROM runs WHERE accepted_seq >= ?2
                          AND max(ifnull(ended_seq, 0), ifnull(started_seq, 0)) >= ?1)";
    let first_run = number(numbers::first_run(connection)?);
    connection.query_row(sql, params![number(sequence), first_run], |row| row.get(0))
}

const ACCEPTED: &str = "
    SELECT accepted_seq, created_ms, agent_id, session_key, run_id,
           user_entry_id, session_id, channel, route
    FROM runs WHERE accepted_seq > ?1 AND accepted_seq >= ?5
        AND (?3 IS NULL OR agent_id = ?3) AND (?4 IS NULL OR session_key = ?4)
    ORDER BY accepted_seq LIMIT ?2";

const STARTED: &str = "
    SELECT started_seq, started_ms, agent_id, session_key, run_id
    FROM runs WHERE accepted_seq >= ?5 AND started_seq > ?1
        AND (?3 IS NULL OR agent_id = ?3) AND (?4 IS NULL OR session_key = ?4)
    ORDER BY started_seq LIMIT ?2";

const ENDED: &str = "
    SELECT ended_seq, ended_ms, agent_id, session_key, run_id,
           entries, state, outcome, unit, cpu_ms, memory_peak_bytes, tasks_peak,
           input_tokens, output_tokens, cost_usd
    FROM runs LEFT JOIN turns USING (accepted_seq) WHERE accepted_seq >= ?5 AND ended_seq > ?1
        AND (?3 IS NULL OR agent_id = ?3) AND (?4 IS NULL OR session_key = ?4)
    ORDER BY ended_seq LIMIT ?2";

const OTHERS: &str = "
    SELECT seq, at_ms, agent_id, session_key, run_id, facts
    FROM events WHERE seq > ?1
        AND (?3 IS NULL OR agent_id = ?3) AND (?4 IS NULL OR session_key = ?4)
    ORDER BY seq LIMIT ?2";

/// The row of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MessageRow {
    pub(crate) entry_id: String,
    pub(crate) session_id: String,
    pub(crate) channel: String,
    pub(crate) route: Option<Route>,
}

impl MessageRow {
    /// The events that it tells.
    pub(crate) fn kinds(self) -> Vec<Kind> {
        let entry = Entry {
            entry_id: self.entry_id.clone(),
            role: Role::User,
            answers: None,
        };
        let accepted = Kind::MessageAccepted {
            entry_id: self.entry_id,
            session_id: self.session_id,
            channel: self.channel,
            route: self.route,
        };
        vec![Kind::EntryAppended(entry), accepted]
    }
}

fn read(
    connection: &Connection,
    sql: &str,
    wanted: impl Params,
    kinds: fn(&Row<'_>) -> rusqlite::Result<Vec<Kind>>,
) -> rusqlite::Result<Vec<(u64, Happening)>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(wanted, |row| {
        let happening = Happening {
            at_ms: row.get(1)?,
            agent_id: row.get(2)?,
            session_key: row.get(3)?,
            run_id: row.get(4)?,
            kinds: kinds(row)?,
        };
        Ok((count(row, 0)?, happening))
    })?;
    rows.collect()
}

fn accepted(row: &Row<'_>) -> rusqlite::Result<Vec<Kind>> {
    let message = MessageRow {
        entry_id: row.get(5)?,
        session_id: row.get(6)?,
        channel: row.get(7)?,
        route: json(row, 8, |text| serde_json::from_str(text))?,
    };
    Ok(message.kinds())
}

fn started(_: &Row<'_>) -> rusqlite::Result<Vec<Kind>> {
    Ok(vec![Kind::RunStarted])
}

fn closed(row: &Row<'_>) -> rusqlite::Result<Vec<Kind>> {
    let entries: Option<Vec<Entry>> = json(row, 5, |text| serde_json::from_str(text))?;
    let entries = entries.into_iter().flatten().map(Kind::EntryAppended);
    let state: String = row.get(6)?;
    let outcome: Option<event::Kind> = json(row, 7, |text| serde_json::from_str(text))?;
    Ok(entries
        .chain([ended(&state, outcome.as_ref(), bill(row)?)])
        .collect())
}

fn bill(row: &Row<'_>) -> rusqlite::Result<Bill> {
    let Some(unit) = row.get::<_, Option<String>>(8)? else {
        return Ok(Bill::default());
    };
    Ok(Bill {
        resources: Some(event::Resources {
            unit,
            cpu_ms: count(row, 9)?,
            memory_peak_bytes: count(row, 10)?,
            tasks_peak: count(row, 11)?,
            cost_usd: None,
            server_tool_tokens: None,
        }),
        input_tokens: count(row, 12)?,
        output_tokens: count(row, 13)?,
        cost_usd: row.get(14)?,
    })
}

fn other(row: &Row<'_>) -> rusqlite::Result<Vec<Kind>> {
    Ok(json(row, 5, |text| serde_json::from_str(text))?.unwrap_or_default())
}

/// A value that was written as JSON.
fn json<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl FnOnce(&str) -> serde_json::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    let parsed = text.map(|text| parse(&text)).transpose();
    parsed.map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    Ok(u64::try_from(value).unwrap_or_default())
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
