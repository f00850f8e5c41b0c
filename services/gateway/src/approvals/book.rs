//! Approvals as the ledger keeps them: what was asked in turns, what was
//! decided, and which commands were allowed for good.

use openclaw_proto::approval::{Approval, Decision, Grant};
use rusqlite::{Connection, Row, named_params};

use crate::desk::{Desk, Fault};

/// Decided approvals that are kept; the journal has them all.
const KEPT: i64 = 10_000;

/// The tables; see `desk`.
#[derive(Debug, Clone)]
pub(crate) struct Book(Desk);

impl Book {
    pub(crate) fn new(desk: Desk) -> Self {
        Self(desk)
    }

    /// Notes what is asked. A question that is known is left alone: after a
    /// restart a turn tells its events again.
    pub(crate) async fn asked(&self, approval: Approval) -> Result<(), Fault> {
        let work = move |connection: &Connection| {
            connection.execute(
                "INSERT OR IGNORE INTO approvals
                 (approval_id, run_id, session_key, agent_id, tool, command, cwd, reason,
                  created_ms, expires_ms, decision, decided_by, decided_ms)
                 VALUES (:id, :run, :session, :agent, :tool, :command, :cwd, :reason,
                         :created, :expires, '', '', 0)",
                named_params! {
                    ":id": approval.id, ":run": approval.run_id, ":session": approval.session_key,
                    ":agent": approval.agent_id, ":tool": approval.tool,
                    ":command": approval.command, ":cwd": approval.cwd,
                    ":reason": approval.reason, ":created": approval.created_ms,
                    ":expires": approval.expires_ms,
                },
            )?;
            connection.execute(
                "DELETE FROM approvals WHERE approval_id IN
                 (SELECT approval_id FROM approvals ORDER BY created_ms DESC LIMIT -1 OFFSET ?1)",
                [KEPT],
            )?;
            Ok(())
        };
        self.0.call("note an approval", work).await
    }

    /// Notes how it ended, once; a command that was allowed for good is from
    /// now on.
    pub(crate) async fn decided(
        &self,
        id: String,
        decision: Option<Decision>,
        by: String,
        at_ms: i64,
    ) -> Result<(), Fault> {
        let word = decision.map_or("expired", Decision::as_str);
        let work = move |connection: &Connection| {
            let changed = connection.execute(
                "UPDATE approvals SET decision = ?2, decided_by = ?3, decided_ms = ?4
                 WHERE approval_id = ?1 AND decision = ''",
                rusqlite::params![id, word, by, at_ms],
            )?;
            if changed == 1 && decision == Some(Decision::AllowAlways) {
                connection.execute(
                    "INSERT OR IGNORE INTO exec_grants (agent_id, command, created_ms, granted_by)
                     SELECT agent_id, command, ?2, ?3 FROM approvals WHERE approval_id = ?1",
                    rusqlite::params![id, at_ms, by],
                )?;
            }
            Ok(())
        };
        self.0.call("note a decision", work).await
    }

    /// Ends what a run that is over left undecided.
    pub(crate) async fn run_ended(&self, run_id: String, at_ms: i64) -> Result<(), Fault> {
        let work = move |connection: &Connection| {
            connection.execute(
                "UPDATE approvals SET decision = 'expired', decided_ms = ?2
                 WHERE run_id = ?1 AND decision = ''",
                rusqlite::params![run_id, at_ms],
            )
        };
        self.0.call("end approvals", work).await.map(drop)
    }

    /// The last ones that were decided, the newest first.
    pub(crate) async fn history(&self, limit: u32) -> Result<Vec<Approval>, Fault> {
        let work = move |connection: &Connection| {
            let mut statement = connection.prepare(
                "SELECT approval_id, run_id, session_key, agent_id, tool, command, cwd, reason,
                        created_ms, expires_ms, decision, decided_by, decided_ms
                 FROM approvals WHERE decision <> '' ORDER BY decided_ms DESC LIMIT ?1",
            )?;
            let rows = statement.query_map([limit], approval)?;
            rows.collect()
        };
        self.0.call("list approvals", work).await
    }

    /// The commands that were allowed for good.
    pub(crate) async fn grants(&self) -> Result<Vec<Grant>, Fault> {
        let work = |connection: &Connection| {
            let mut statement = connection.prepare(
                "SELECT agent_id, command, created_ms, granted_by FROM exec_grants
                 ORDER BY agent_id, command",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Grant {
                    agent_id: row.get(0)?,
                    command: row.get(1)?,
                    created_ms: row.get(2)?,
                    by: row.get(3)?,
                })
            })?;
            rows.collect()
        };
        self.0.call("list grants", work).await
    }

    /// The commands of one agent.
    pub(crate) async fn granted(&self, agent_id: String) -> Result<Vec<String>, Fault> {
        let all = self.grants().await?.into_iter();
        let own = all.filter(|grant| grant.agent_id == agent_id);
        Ok(own.map(|grant| grant.command).collect())
    }

    /// Takes a grant back; false when there is none. Without an agent it is
    /// taken from all.
    pub(crate) async fn revoke(&self, agent_id: String, command: String) -> Result<bool, Fault> {
        let work = move |connection: &Connection| {
            connection.execute(
                "DELETE FROM exec_grants WHERE command = ?2 AND (?1 = '' OR agent_id = ?1)",
                [agent_id, command],
            )
        };
        let count = self.0.call("revoke a grant", work).await?;
        Ok(count > 0)
    }

    /// The approval with that id, if it is known.
    #[cfg(test)]
    async fn find(&self, id: &str) -> Option<Approval> {
        use rusqlite::OptionalExtension as _;
        let id = id.to_owned();
        let work = move |connection: &Connection| {
            connection
                .query_row(
                    "SELECT approval_id, run_id, session_key, agent_id, tool, command, cwd,
                            reason, created_ms, expires_ms, decision, decided_by, decided_ms
                     FROM approvals WHERE approval_id = ?1",
                    [id],
                    approval,
                )
                .optional()
        };
        self.0.call("find an approval", work).await.unwrap()
    }
}

fn approval(row: &Row<'_>) -> rusqlite::Result<Approval> {
    Ok(Approval {
        id: row.get(0)?,
        run_id: row.get(1)?,
        session_key: row.get(2)?,
        agent_id: row.get(3)?,
        tool: row.get(4)?,
        command: row.get(5)?,
        cwd: row.get(6)?,
        reason: row.get(7)?,
        created_ms: row.get(8)?,
        expires_ms: row.get(9)?,
        decision: row.get(10)?,
        by: row.get(11)?,
        decided_ms: row.get(12)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(id: &str, command: &str) -> Approval {
        Approval {
            id: id.to_owned(),
            run_id: "r".to_owned(),
            agent_id: "main".to_owned(),
            command: command.to_owned(),
            created_ms: 1,
            expires_ms: 9,
            ..Approval::default()
        }
    }

    #[tokio::test]
    async fn the_first_decision_is_kept_and_always_is_a_grant() {
        let folder = tempfile::tempdir().unwrap();
        let book = Book::new(Desk::at(folder.path().join("ledger.sqlite")));
        book.asked(asked("a", "make")).await.unwrap();
        let decide = |decision| book.decided("a".to_owned(), decision, "me".to_owned(), 5);
        decide(Some(Decision::AllowAlways)).await.unwrap();
        decide(Some(Decision::Deny)).await.unwrap();
        // Told again after a restart.
        book.asked(asked("a", "make")).await.unwrap();
        assert_eq!(book.find("a").await.unwrap().decision, "allow-always");
        assert_eq!(book.granted("main".to_owned()).await.unwrap(), ["make"]);
        assert!(book.granted("other".to_owned()).await.unwrap().is_empty());
        let revoke = || book.revoke(String::new(), "make".to_owned());
        assert!(revoke().await.unwrap());
        assert!(!revoke().await.unwrap());
    }

    #[tokio::test]
    async fn a_run_that_is_over_leaves_nothing_undecided() {
        let folder = tempfile::tempdir().unwrap();
        let book = Book::new(Desk::at(folder.path().join("ledger.sqlite")));
        book.asked(asked("a", "make")).await.unwrap();
        assert!(book.history(9).await.unwrap().is_empty());
        book.run_ended("r".to_owned(), 7).await.unwrap();
        let history = book.history(9).await.unwrap();
        assert_eq!(history[0].decision, "expired");
        assert_eq!(history[0].decided_ms, 7);
    }
}
