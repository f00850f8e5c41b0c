//! The outcomes of deliveries, from the ledger.

use openclaw_proto::channel::AccountName;
use openclaw_proto::outbox::State;
use rusqlite::{Connection, OptionalExtension as _, params};

/// The state of the delivery `name`, the provider's id, and why it is late or failed.
pub fn outcome_of(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Option<(State, Vec<String>, String)>> {
    let found: Option<(String, String, String)> = connection
        .prepare_cached("SELECT state, provider_ids, reason FROM outbox WHERE name = ?1")?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(found.and_then(|(state, ids, reason)| {
        let ids = serde_json::from_str(&ids).unwrap_or_default();
        Some((State::parse(&state)?, ids, reason))
    }))
}

/// Something that a provider did not take, and never will.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The account, as the ledger names it.
    pub account: AccountName,
    /// Whom it was for, or where.
    pub to: String,
    /// Its kind: a reply, a question.
    pub kind: String,
    /// Why.
    pub reason: String,
    /// When that was known, in Unix milliseconds.
    pub at_ms: i64,
}

/// The last delivery of each account that was tried since `since_ms` and failed for good.
pub(super) fn failed(connection: &Connection, since_ms: i64) -> rusqlite::Result<Vec<Failed>> {
    let mut statement = connection.prepare_cached(
        "SELECT channel, account, target, kind, reason, max(changed_ms) FROM outbox
         WHERE state = 'failed' AND attempts > 0 AND changed_ms >= ?1
         GROUP BY channel, account",
    )?;
    let found = statement.query_map([since_ms], |row| {
        Ok(Failed {
            account: AccountName {
                channel: row.get(0)?,
                account: row.get(1)?,
            },
            to: row.get(2)?,
            kind: row.get(3)?,
            reason: row.get(4)?,
            at_ms: row.get(5)?,
        })
    })?;
    found.collect()
}

/// The thread of a chat in which what the provider calls `provider_id` was delivered;
/// None: it was not.
pub fn thread_of(
    connection: &Connection,
    (channel, account, to): (&str, &str, &str),
    provider_id: &str,
) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached(
            "SELECT thread FROM outbox, json_each(outbox.provider_ids)
             WHERE channel = ?1 AND account = ?2 AND target = ?3 AND state = 'delivered'
                AND json_each.value = ?4 ORDER BY delivery_id DESC LIMIT 1",
        )?
        .query_row(params![channel, account, to, provider_id], |row| row.get(0))
        .optional()
}

/// Whether a delivery that is not over has the file `path`, which no agent's workspace has.
pub fn has_open_file(connection: &Connection, path: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM outbox, json_each(outbox.paths)
             WHERE state IN ('pending', 'leased') AND agent_id = '' AND json_each.value = ?1)",
        )?
        .query_row([path], |row| row.get(0))
}
