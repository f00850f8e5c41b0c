//! What there is to say on channels, as rows of the ledger.
//!
//! A row is `pending` or `leased` until it is `delivered` or has `failed`. Both
//! of the first have a time before which nobody is given it: that is all there
//! is to a lease, so one that nobody reported comes again by itself.

mod row;
mod upkeep;

use openclaw_proto::outbox::{Delivery, Extras, Kind, Outcome, Place, Report, State};
use rusqlite::{Connection, OptionalExtension as _, params};

use row::DELIVERY;
pub use upkeep::tidy;
pub(crate) use upkeep::withdraw;

/// Deliveries that one client may have at once: some for each of a few chats.
/// More would wait in its buffers while their leases run out.
const WITH_CLIENT: i64 = 16;

/// Something new to be said.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDelivery {
    /// Names what it says: the same is said once.
    pub name: String,
    /// Where.
    pub place: Place,
    /// The session that it is said in.
    pub session_key: String,
    /// The agent that says it.
    pub agent_id: String,
    /// The run that says it; empty: none.
    pub run_id: String,
    /// What.
    pub kind: Kind,
    /// Attachments and other extras.
    pub extras: Extras,
    /// Where its files are, beneath the agent's workspace.
    pub paths: Vec<String>,
}

/// Adds a delivery; false when it is there already.
pub fn add(connection: &Connection, new: &NewDelivery, now_ms: i64) -> rusqlite::Result<bool> {
    let (place, about) = (&new.place, row::about(&new.kind));
    let added = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO outbox (name, kind, channel, account, target, chat, thread,
                session_key, agent_id, run_id, facts, about, state, attempts, not_before_ms,
                provider_ids, reason, created_ms, changed_ms, extras, paths)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'pending', 0, 0,
                '[]', '', ?13, ?13, ?14, ?15)",
        )?
        .execute(params![
            new.name,
            new.kind.name(),
            place.channel,
            place.account,
            place.to,
            place.chat.map(row::chat_name),
            place.thread.as_deref().unwrap_or_default(),
            new.session_key,
            new.agent_id,
            new.run_id,
            row::json(&new.kind)?,
            about,
            now_ms,
            row::extras_text(&new.extras)?,
            row::json(&new.paths)?,
        ])?;
    Ok(added == 1)
}

/// Gives the next delivery of an account away until `until_ms`, if there is one:
/// the first of its chat that nobody has delivered.
pub fn lease(
    connection: &Connection,
    channel: &str,
    account: &str,
    now_ms: i64,
    until_ms: i64,
) -> rusqlite::Result<Option<Delivery>> {
    let delivery = connection
        .prepare_cached(&format!(
            "UPDATE outbox SET state = 'leased', attempts = attempts + 1,
                not_before_ms = ?4, changed_ms = ?3
             WHERE delivery_id = (
                SELECT min(delivery_id) FROM outbox AS next
                WHERE channel = ?1 AND account = ?2 AND state IN ('pending', 'leased')
                    AND not_before_ms <= ?3
                    AND NOT EXISTS (
                        SELECT 1 FROM outbox AS before
                        WHERE before.channel = ?1 AND before.account = ?2
                            AND before.state IN ('pending', 'leased')
                            AND before.target = next.target AND before.thread = next.thread
                            AND before.delivery_id < next.delivery_id)
                    AND (SELECT count(*) FROM outbox
                         WHERE channel = ?1 AND account = ?2 AND state = 'leased'
                            AND not_before_ms > ?3) < {WITH_CLIENT})
             RETURNING {DELIVERY}"
        ))?
        .query_row(params![channel, account, now_ms, until_ms], row::delivery)
        .optional()?;
    let Some(mut delivery) = delivery else {
        return Ok(None);
    };
    if let Kind::Edit {
        delivery_id,
        provider_ids,
        ..
    } = &mut delivery.kind
    {
        *provider_ids = self::provider_ids(connection, *delivery_id)?;
    }
    Ok(Some(delivery))
}

/// The provider's id of the message.
fn provider_ids(connection: &Connection, id: u64) -> rusqlite::Result<Vec<String>> {
    let ids: Option<String> = connection
        .prepare_cached("SELECT provider_ids FROM outbox WHERE delivery_id = ?1")?
        .query_row([row::number(id)], |row| row.get(0))
        .optional()?;
    Ok(ids
        .and_then(|ids| serde_json::from_str(&ids).ok())
        .unwrap_or_default())
}

/// When the next delivery of an account that is kept back may be given away.
pub fn next_ms(
    connection: &Connection,
    channel: &str,
    account: &str,
    now_ms: i64,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT min(not_before_ms) FROM outbox
             WHERE channel = ?1 AND account = ?2 AND state IN ('pending', 'leased')
                AND not_before_ms > ?3",
        )?
        .query_row(params![channel, account, now_ms], |row| row.get(0))
}

/// Notes what became of a delivery; what it is then. None: there is none.
///
/// That it was delivered is true whoever says it and when. The rest counts only
/// of the last attempt, which knows more than those before.
pub fn report(
    connection: &Connection,
    report: &Report,
    now_ms: i64,
) -> rusqlite::Result<Option<State>> {
    let id = row::number(report.id);
    let is_last = "state = 'leased' AND attempts = ?2";
    match &report.outcome {
        Outcome::Delivered(ids) => connection.execute(
            "UPDATE outbox SET state = 'delivered', provider_ids = ?2, reason = '', facts = '',
                changed_ms = ?3
             WHERE delivery_id = ?1 AND state <> 'delivered' AND attempts > 0",
            params![id, row::json(ids)?, now_ms],
        )?,
        Outcome::TryAgain { at_ms, reason } => connection.execute(
            &format!(
                "UPDATE outbox SET state = 'pending', not_before_ms = ?3, reason = ?4,
                    changed_ms = ?5 WHERE delivery_id = ?1 AND {is_last}"
            ),
            params![id, report.attempt, at_ms, cut(reason), now_ms],
        )?,
        Outcome::Undeliverable(reason) => connection.execute(
            &format!(
                "UPDATE outbox SET state = 'failed', reason = ?3, changed_ms = ?4
                 WHERE delivery_id = ?1 AND {is_last}"
            ),
            params![id, report.attempt, cut(reason), now_ms],
        )?,
    };
    let state: Option<String> = connection
        .query_row(
            "SELECT state FROM outbox WHERE delivery_id = ?1",
            [id],
            |row| row.get(0),
        )
        .optional()?;
    Ok(state.as_deref().and_then(State::parse))
}

/// Says in the place of the question `name`, wherever it was put, what was decided: one that nobody
/// was given is not asked any more, and one that somebody has is edited into what is `told` of it.
pub fn decided(
    connection: &Connection,
    name: &str,
    (decision, told): (&str, &str),
    now_ms: i64,
) -> rusqlite::Result<bool> {
    // Each further place has the person's name behind the question's.
    let is_put = "(name = ?1 OR substr(name, 1, length(?1) + 1) = ?1 || ' ')";
    connection.execute(
        &format!(
            "UPDATE outbox SET state = 'failed', reason = ?2, changed_ms = ?3
             WHERE {is_put} AND state = 'pending' AND attempts = 0"
        ),
        params![name, cut(decision), now_ms],
    )?;
    let sql = format!("SELECT {DELIVERY}, name FROM outbox WHERE {is_put} AND attempts > 0");
    let mut statement = connection.prepare_cached(&sql)?;
    let put = statement.query_map([name], |found| {
        Ok((row::asked(found)?, found.get::<_, String>("name")?))
    })?;
    let put = put.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut is_new = false;
    for ((question, session_key, agent_id, run_id, place), name) in put {
        let edit = NewDelivery {
            name: format!("decided {name}"),
            place,
            session_key,
            agent_id,
            run_id,
            kind: Kind::Edit {
                delivery_id: question,
                provider_ids: Vec::new(),
                text: told.to_owned(),
            },
            extras: Extras::default(),
            paths: Vec::new(),
        };
        is_new |= add(connection, &edit, now_ms)?;
    }
    Ok(is_new)
}

/// The agent and the path beneath its workspace of a file that a delivery has
/// which is with the account's client.
pub fn file(
    connection: &Connection,
    channel: &str,
    account: &str,
    id: u64,
    index: usize,
) -> rusqlite::Result<Option<(String, String)>> {
    let found: Option<(String, String)> = connection
        .prepare_cached(
            "SELECT agent_id, paths FROM outbox WHERE delivery_id = ?1 AND channel = ?2
                AND account = ?3 AND state = 'leased'",
        )?
        .query_row(params![row::number(id), channel, account], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    Ok(found.and_then(|(agent, paths)| {
        let paths: Vec<String> = serde_json::from_str(&paths).ok()?;
        Some((agent, paths.get(index)?.clone()))
    }))
}

/// Characters of a reason that are kept: a provider may answer with a page.
const REASON_LENGTH: usize = 500;

fn cut(reason: &str) -> String {
    reason.chars().take(REASON_LENGTH).collect()
}

#[cfg(test)]
mod tests;
