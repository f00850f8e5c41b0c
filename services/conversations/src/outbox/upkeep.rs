//! Giving up on deliveries, and forgetting those that are over.

use std::time::Duration;

use rusqlite::{Connection, params};

/// A delivery that nobody made for so long has failed: a channel may be off over
/// a weekend, and what is older than that confuses more than it helps.
const PATIENCE: Duration = Duration::from_secs(3 * 24 * 3600);

/// The most attempts at a delivery. A provider that is down is asked once a minute at most, so a
/// delivery that was tried this often fails for another reason.
const ATTEMPTS: u32 = 100;

/// Deliveries that are over are kept for this long, so that a report that comes
/// late or again is understood.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// And so many of them.
const ROWS: i64 = 10_000;

/// Rows that are removed in one transaction.
const BITE: i64 = 200;

/// Gives up on everything that is not delivered yet, because of `reason`.
pub(crate) fn withdraw(
    connection: &Connection,
    reason: &str,
    now_ms: i64,
) -> rusqlite::Result<usize> {
    connection.execute(
        "UPDATE outbox SET state = 'failed', reason = ?1, changed_ms = ?2
         WHERE state IN ('pending', 'leased')",
        params![reason, now_ms],
    )
}

/// Gives up deliveries that cannot succeed, forgets some that are over, and returns the number of
/// those given up.
pub fn tidy(connection: &Connection, now_ms: i64) -> rusqlite::Result<usize> {
    let late = connection.execute(
        "UPDATE outbox SET state = 'failed', changed_ms = ?1,
            reason = CASE reason WHEN '' THEN 'nobody delivered it in time'
                ELSE 'not delivered in time; the last attempt: ' || reason END
         WHERE state IN ('pending', 'leased') AND not_before_ms <= ?1
            AND (created_ms < ?2 OR attempts >= ?3)",
        params![now_ms, now_ms - PATIENCE.as_millis() as i64, ATTEMPTS],
    )?;
    // There is nothing that could be edited.
    let moot = connection.execute(
        "UPDATE outbox SET state = 'failed', changed_ms = ?1,
            reason = 'what it is about was not delivered'
         WHERE state = 'pending' AND about IN (SELECT delivery_id FROM outbox WHERE state = 'failed')",
        [now_ms],
    )?;
    connection.execute(
        "DELETE FROM outbox WHERE delivery_id IN (
            SELECT delivery_id FROM outbox
            WHERE state IN ('delivered', 'failed') AND (changed_ms < ?1 OR delivery_id <= (
                SELECT delivery_id FROM outbox ORDER BY delivery_id DESC LIMIT 1 OFFSET ?2))
            ORDER BY delivery_id LIMIT ?3)",
        params![now_ms - KEPT.as_millis() as i64, ROWS, BITE],
    )?;
    Ok(late + moot)
}
