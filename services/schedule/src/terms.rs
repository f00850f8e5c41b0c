//! How confined a command of a job was when it was given. It runs unasked because the user
//! gave it; where it could do more by then (a sandbox that is weaker, a network), that was not
//! what was given, and it waits for the user to run it by hand.

use openclaw_conversations::database::Fault;
use openclaw_daemon::failure;
use openclaw_jobs::{Cause, Command, fingerprint};
use openclaw_proto::approval::Terms;
use openclaw_sessions::now_ms;
use rusqlite::{OptionalExtension as _, params};

use crate::needs::Needs;

/// Commands that are noted; the oldest beyond them is taken for a new one.
const NOTED: i64 = 10_000;

/// A command as it is noted: another one under the same job is given anew.
fn name(command: &Command) -> String {
    let bytes = fingerprint(&command.arguments().to_string());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The terms that the command of a job's run is held to. `None`: nobody has seen it run, or
/// somebody runs it by hand.
pub(crate) async fn given(
    needs: &Needs,
    (job_id, run_id): (&str, &str),
    command: &Command,
) -> Result<Option<Terms>, Fault> {
    let (job_id, run_id, name) = (job_id.to_owned(), run_id.to_owned(), name(command));
    let work = move |connection: &rusqlite::Connection| {
        let sql = "SELECT terms FROM command_terms WHERE job_id = ?1 AND command = ?2
                   AND NOT EXISTS (SELECT 1 FROM job_runs WHERE run_id = ?3 AND cause = ?4)";
        let of = params![job_id, name, run_id, Cause::Hand.as_str()];
        let terms = connection.query_row(sql, of, |row| row.get::<_, String>(0));
        terms.optional()
    };
    let terms = needs.database.read("look up how a command was given", work);
    Ok(terms
        .await?
        .and_then(|terms| serde_json::from_str(&terms).ok()))
}

/// Notes the terms at which it runs.
pub(crate) async fn note(needs: &Needs, job_id: &str, command: &Command, terms: &Terms) {
    let (job_id, name) = (job_id.to_owned(), name(command));
    let terms = serde_json::to_string(terms).unwrap_or_default();
    let work = move |connection: &rusqlite::Connection| {
        connection.execute(
            "INSERT OR REPLACE INTO command_terms (job_id, command, terms, noted_ms)
             VALUES (?1, ?2, ?3, ?4)",
            params![job_id, name, terms, now_ms()],
        )?;
        connection.execute(
            "DELETE FROM command_terms WHERE (job_id, command) IN (SELECT job_id, command
             FROM command_terms ORDER BY noted_ms DESC LIMIT -1 OFFSET ?1)",
            [NOTED],
        )
    };
    let noted = needs.database.call("note how a command was given", work);
    if let Err(fault) = noted.await {
        failure::report("note how a command was given", &fault);
    }
}
