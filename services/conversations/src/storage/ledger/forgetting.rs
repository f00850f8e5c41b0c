//! Taking words out of the tables.

use openclaw_sessions::forgetting::Words;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::{Ledger, failed};
use crate::fault::LedgerError;

/// The columns that have what somebody said, or an agent did.
const SAID: [(&str, &str); 16] = [
    ("channel_peers", "name"),
    ("channel_requests", "name"),
    ("outbox", "extras"),
    ("runs", "reason"),
    ("runs", "outcome"),
    ("events", "facts"),
    ("outbox", "facts"),
    ("outbox", "reason"),
    ("heartbeats", "event"),
    ("notices", "text"),
    ("approvals", "command"),
    ("approvals", "reason"),
    ("job_runs", "entry"),
    ("session_notes", "entry"),
    ("session_notes", "base"),
    ("turn_options", "options"),
];

impl Ledger {
    /// How often the words are in what somebody said.
    pub(crate) fn count(&self, words: &Words) -> Result<u64, LedgerError> {
        let counted = SAID.iter().try_fold(0, |sum, column| {
            let texts = texts(&self.connection, column, words)?;
            let matches: usize = texts.iter().map(|text| words.count(text)).sum();
            rusqlite::Result::Ok(sum + matches as u64)
        });
        counted.map_err(failed("read"))
    }

    /// The jobs that have them, by name and id.
    pub(crate) fn jobs_with(&self, words: &Words) -> Result<Vec<String>, LedgerError> {
        let jobs = texts(&self.connection, &("jobs", "job"), words).map_err(failed("read"))?;
        Ok(jobs.iter().map(|job| named(job)).collect())
    }

    /// Covers them, also where rows were that are gone: the file is written anew.
    /// How often they were there.
    pub(crate) fn forget(&mut self, words: &Words) -> Result<u64, LedgerError> {
        let matches = self.cover(words).map_err(failed("write to"))?;
        if matches > 0 {
            self.connection
                .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
                .map_err(failed("write anew"))?;
        }
        Ok(matches)
    }

    fn cover(&mut self, words: &Words) -> rusqlite::Result<u64> {
        let transaction = self.connection.transaction()?;
        let mut matches = 0;
        for column in &SAID {
            let (table, name) = column;
            let update = format!("UPDATE {table} SET {name} = ?2 WHERE {name} = ?1");
            for text in texts(&transaction, column, words)? {
                matches += words.count(&text) as u64;
                transaction.execute(&update, params![text, words.cover(&text)])?;
            }
        }
        transaction.commit()?;
        Ok(matches)
    }
}

/// A job as it is named to people.
fn named(job: &str) -> String {
    let job: Value = serde_json::from_str(job).unwrap_or_default();
    let word = |name: &str| job[name].as_str().unwrap_or_default();
    format!("{} ({})", word("name"), word("id"))
}

/// The texts of a column that have the words. All of them may be all that was ever said.
fn texts(
    connection: &Connection,
    (table, column): &(&str, &str),
    words: &Words,
) -> rusqlite::Result<Vec<String>> {
    let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL");
    let mut statement = connection.prepare(&sql)?;
    let texts = statement.query_map([], |row| row.get::<_, String>(0))?;
    let has = |text: &rusqlite::Result<String>| !matches!(text, Ok(text) if words.count(text) == 0);
    texts.filter(has).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    /// What the other columns of text have: names of ours, and what a person set.
    const NOT_SAID: [(&str, &str); 81] = [
        ("agent_calls", "agent_id"),
        ("channel_peers", "account"),
        ("channel_peers", "channel"),
        ("channel_peers", "peer"),
        ("channel_requests", "account"),
        ("channel_requests", "channel"),
        ("channel_requests", "code"),
        ("channel_requests", "peer"),
        ("hand_ins", "account"),
        ("hand_ins", "channel"),
        ("hand_ins", "key"),
        ("hand_ins", "outcome"),
        ("outbox", "paths"),
        ("approvals", "agent_id"),
        ("approvals", "approval_id"),
        ("approvals", "cwd"),
        ("approvals", "decided_by"),
        ("approvals", "decision"),
        ("approvals", "form"),
        ("approvals", "run_id"),
        ("approvals", "session_key"),
        ("approvals", "terms"),
        ("approvals", "tool"),
        ("command_grants", "agent_id"),
        ("command_grants", "command"),
        ("command_grants", "directory"),
        ("command_grants", "form"),
        ("command_grants", "granted_by"),
        ("command_grants", "terms"),
        ("command_terms", "command"),
        ("command_terms", "job_id"),
        ("command_terms", "terms"),
        ("devices", "device_id"),
        ("devices", "facts"),
        ("devices", "public_key"),
        ("devices", "role"),
        ("devices", "scopes"),
        ("devices", "token_hash"),
        ("event_series", "epoch"),
        ("events", "agent_id"),
        ("events", "run_id"),
        ("events", "session_key"),
        ("job_runs", "cause"),
        ("job_runs", "job_id"),
        ("job_runs", "run_id"),
        ("job_runs", "state"),
        ("jobs", "job"),
        ("jobs", "job_id"),
        ("notices", "session_key"),
        ("outbox", "account"),
        ("outbox", "agent_id"),
        ("outbox", "channel"),
        ("outbox", "chat"),
        ("outbox", "kind"),
        ("outbox", "name"),
        ("outbox", "provider_ids"),
        ("outbox", "run_id"),
        ("outbox", "session_key"),
        ("outbox", "state"),
        ("outbox", "target"),
        ("outbox", "thread"),
        ("pairings", "device_id"),
        ("pairings", "facts"),
        ("pairings", "public_key"),
        ("pairings", "request_id"),
        ("pairings", "role"),
        ("pairings", "scopes"),
        ("runs", "agent_id"),
        ("runs", "channel"),
        ("runs", "entries"),
        ("runs", "idempotency_key"),
        ("runs", "route"),
        ("runs", "run_id"),
        ("runs", "session_id"),
        ("runs", "session_key"),
        ("runs", "state"),
        ("runs", "user_entry_id"),
        ("session_notes", "agent_id"),
        ("session_notes", "session_key"),
        ("turns", "run_id"),
        ("turns", "unit"),
    ];

    #[test]
    fn ledger_has_no_text_of_which_it_is_not_known_whether_it_was_said() {
        let folder = tempfile::tempdir().unwrap();
        let connection = schema::open(&folder.path().join("ledger")).unwrap();
        let sql = "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND c.type = 'TEXT' ORDER BY 1, 2";
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let columns: Vec<(String, String)> = columns.unwrap().map(Result::unwrap).collect();
        let unknown: Vec<_> = columns
            .iter()
            .map(|(table, column)| (table.as_str(), column.as_str()))
            .filter(|column| !SAID.contains(column) && !NOT_SAID.contains(column))
            .collect();
        assert_eq!(unknown, [], "say in SAID or NOT_SAID what they have");
    }

    #[test]
    fn jobs_that_have_the_words_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger"), 1).unwrap();
        let job = r#"{"id":"j1","name":"water","payload":{"text":"the blue flowerpot"}}"#;
        let insert = "INSERT INTO jobs (job_id, job, updated_ms) VALUES ('j1', ?1, 1)";
        ledger.connection.execute(insert, [job]).unwrap();
        let found = |text: &str| ledger.jobs_with(&Words::new(text).unwrap()).unwrap();
        assert_eq!(found("Blue Flowerpot"), ["water (j1)"]);
        assert!(found("red flowerpot").is_empty());
    }

    #[test]
    fn ledger_forgets_what_was_said_and_keeps_what_it_is_about() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let mut ledger = Ledger::open(&path, 1).unwrap();
        ledger
            .connection
            .execute(
                "INSERT INTO events (seq, at_ms, agent_id, session_key, run_id, facts) VALUES \
                 (7, 1, 'main', 'agent:main:main', 'r', ?1)",
                [r#"{"text":"the blue flowerpot","id":"e"}"#],
            )
            .unwrap();
        let words = Words::new("Blue Flowerpot").unwrap();
        assert_eq!(ledger.count(&words).unwrap(), 1);
        assert_eq!(ledger.forget(&words).unwrap(), 1);
        assert_eq!(
            (
                ledger.count(&words).unwrap(),
                ledger.forget(&words).unwrap()
            ),
            (0, 0)
        );
        let facts: String = ledger
            .connection
            .query_row("SELECT facts FROM events", [], |row| row.get(0))
            .unwrap();
        assert_eq!(facts, r#"{"text":"the **************","id":"e"}"#);
        let bytes = std::fs::read(&path).unwrap();
        let log = std::fs::read(super::super::log_of(&path)).unwrap_or_default();
        for bytes in [bytes, log] {
            let text = String::from_utf8_lossy(&bytes).to_lowercase();
            assert!(!text.contains("flowerpot"));
        }
    }
}
