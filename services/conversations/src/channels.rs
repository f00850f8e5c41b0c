//! Messages from channels and their outcomes, and who may talk there: small tables of the ledger.

mod pairing;

pub use pairing::{Decided, PairingAnswer, PeerPairing, approve, ask, deny, may_ask};
pub use pairing::{of_peer, peers, requests, revoke};

use std::time::Duration;

use openclaw_proto::channel::{AccountName, Outcome};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension as _, params};

/// A provider gives an update again for a day; one that was silent for a week numbers anew.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The most rows kept for all accounts together, so that strangers cannot fill the disk.
const ROWS: i64 = 200_000;

/// The outcome of the message that was handed in under `key`.
pub fn outcome(
    connection: &Connection,
    account: &AccountName,
    key: &str,
) -> rusqlite::Result<Option<Outcome>> {
    let sql = "SELECT outcome FROM hand_ins WHERE channel = ?1 AND account = ?2 AND key = ?3";
    let text: Option<String> = connection
        .prepare_cached(sql)?
        .query_row(params![account.channel, account.account, key], |row| {
            row.get(0)
        })
        .optional()?;
    let parsed = text.map(|text| serde_json::from_str(&text)).transpose();
    parsed.map_err(|error| Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}

/// Keeps the outcome of the message that was handed in under `key`; an earlier outcome stays.
pub fn keep(
    connection: &Connection,
    account: &AccountName,
    key: &str,
    outcome: &Outcome,
    now_ms: i64,
) -> rusqlite::Result<()> {
    let text = serde_json::to_string(outcome);
    let text = text.map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))?;
    connection
        .prepare_cached("INSERT OR IGNORE INTO hand_ins VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![account.channel, account.account, key, text, now_ms])?;
    Ok(())
}

/// Forgets outcomes that nobody asks for any more, and returns their number.
pub fn tidy(connection: &Connection, now_ms: i64) -> rusqlite::Result<usize> {
    pairing::tidy(connection, now_ms)?;
    let late = now_ms - KEPT.as_millis() as i64;
    let old = connection.execute("DELETE FROM hand_ins WHERE at_ms < ?1", [late])?;
    let count: i64 = connection.query_row("SELECT count(*) FROM hand_ins", [], |row| row.get(0))?;
    let beyond = connection.execute(
        "DELETE FROM hand_ins WHERE (channel, account, key) IN (
            SELECT channel, account, key FROM hand_ins ORDER BY at_ms LIMIT ?1)",
        [(count - ROWS).max(0)],
    )?;
    Ok(old + beyond)
}

#[cfg(test)]
mod tests;
