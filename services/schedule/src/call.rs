//! Calls of agents' tools for jobs, and how often there may be some.

use openclaw_jobs::Maker;
use rusqlite::{Connection, params};
use serde_json::Value;

/// Jobs that an agent may make in [`HOUR_MS`], with what it tells sessions.
pub(crate) const ADD_LIMIT: i64 = 20;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A call of one of the tools.
#[derive(Debug)]
pub struct Call {
    /// The agent and the session of its turn.
    pub caller: Maker,
    /// `cron` or `remind`.
    pub tool: String,
    /// A JSON object.
    pub arguments: Value,
    /// Whether somebody allowed it.
    pub is_approved: bool,
}

/// What came of a call.
#[derive(Debug)]
pub enum Answer {
    /// For the agent.
    Done(Value),
    /// Somebody is to be asked first, and why.
    Ask(String),
}

/// Notes in the ledger that `agent` does one thing more; false when it has done too many
/// within an hour, also before the gateway was started.
pub(crate) fn note(connection: &Connection, agent: &str, now: i64) -> rusqlite::Result<bool> {
    // A clock that was set back keeps nobody from adding for longer.
    connection
        .prepare_cached("DELETE FROM agent_calls WHERE at_ms NOT BETWEEN ?1 AND ?2")?
        .execute([now - HOUR_MS, now])?;
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM agent_calls WHERE agent_id = ?1")?
        .query_row([agent], |row| row.get(0))?;
    if count >= ADD_LIMIT {
        return Ok(false);
    }
    connection
        .prepare_cached("INSERT INTO agent_calls (agent_id, at_ms) VALUES (?1, ?2)")?
        .execute(params![agent, now])?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use openclaw_conversations::database::Database;

    use super::*;

    #[tokio::test]
    async fn note_keeps_the_rate_of_an_agent_over_a_start_of_the_gateway() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        let noted = async |agent: &'static str, now| {
            // Each of them is opened anew, as after a start.
            let database = Database::at(path.clone());
            let note = move |connection: &Connection| note(connection, agent, now);
            database.call("note", note).await.unwrap()
        };
        for _ in 0..ADD_LIMIT {
            assert!(noted("main", HOUR_MS).await);
        }
        assert!(!noted("main", HOUR_MS + 1).await);
        assert!(noted("other", HOUR_MS + 1).await);
        assert!(noted("main", 2 * HOUR_MS + 1).await);
        // The clock was set back.
        assert!(noted("main", HOUR_MS).await);
    }
}
