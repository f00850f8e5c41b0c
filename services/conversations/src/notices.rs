//! Notices for an agent's next turn, which must not be lost until then: a small table of the
//! ledger.

use rusqlite::{Connection, OptionalExtension as _, params};

/// The most notices kept for one session; the oldest are dropped first.
pub const PER_SESSION: usize = 20;

/// Notices that are kept of all sessions.
const ROWS: i64 = 5_000;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its number.
    pub id: i64,
    /// The session whose agent is to know of it.
    pub session_key: String,
    /// What.
    pub text: String,
    /// When, in Unix milliseconds.
    pub at_ms: i64,
}

/// Keeps a notice; its number. None: it says what the one before it says.
pub fn add(
    connection: &Connection,
    session_key: &str,
    text: &str,
    at_ms: i64,
) -> rusqlite::Result<Option<i64>> {
    let last = "SELECT text FROM notices WHERE session_key = ?1 ORDER BY notice_id DESC LIMIT 1";
    let last: Option<String> = connection
        .prepare_cached(last)?
        .query_row([session_key], |row| row.get(0))
        .optional()?;
    if last.as_deref() == Some(text) {
        return Ok(None);
    }
    connection
        .prepare_cached("INSERT INTO notices (session_key, text, at_ms) VALUES (?1, ?2, ?3)")?
        .execute(params![session_key, text, at_ms])?;
    let id = connection.last_insert_rowid();
    let beyond = "DELETE FROM notices WHERE notice_id IN (SELECT notice_id FROM notices
        WHERE session_key = ?1 ORDER BY notice_id DESC LIMIT -1 OFFSET ?2)";
    connection.execute(beyond, params![session_key, PER_SESSION as i64])?;
    let beyond = "DELETE FROM notices WHERE notice_id IN (SELECT notice_id FROM notices
        ORDER BY notice_id DESC LIMIT -1 OFFSET ?1)";
    connection.execute(beyond, [ROWS])?;
    Ok(Some(id))
}

/// All that are kept, in their order.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Notice>> {
    let sql = "SELECT notice_id, session_key, text, at_ms FROM notices ORDER BY notice_id";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Notice {
            id: row.get(0)?,
            session_key: row.get(1)?,
            text: row.get(2)?,
            at_ms: row.get(3)?,
        })
    })?;
    rows.collect()
}

/// Forgets those that were told.
pub fn forget(connection: &Connection, ids: &[i64]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM notices WHERE notice_id = ?1")?;
    for id in ids {
        statement.execute([id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    #[test]
    fn notices_are_kept_in_bounds_until_they_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let connection = schema::open(&folder.path().join("l")).unwrap();
        let first = add(&connection, "a", "0", 1).unwrap();
        assert!(first.is_some());
        assert_eq!(
            add(&connection, "a", "0", 2).unwrap(),
            None,
            "it is the same"
        );
        for number in 1..PER_SESSION + 5 {
            add(&connection, "a", &number.to_string(), 3).unwrap();
        }
        add(&connection, "b", "0", 4).unwrap();
        let kept = all(&connection).unwrap();
        assert_eq!(kept.len(), PER_SESSION + 1);
        assert_eq!(kept[0].text, "5", "the oldest went");
        let ids: Vec<i64> = kept
            .iter()
            .filter(|it| it.session_key == "a")
            .map(|it| it.id)
            .collect();
        forget(&connection, &ids).unwrap();
        let left = all(&connection).unwrap();
        assert_eq!((left.len(), left[0].session_key.as_str()), (1, "b"));
    }
}
