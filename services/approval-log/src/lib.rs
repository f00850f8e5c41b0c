//! Approvals as the ledger keeps them: what was asked in turns, what was
//! decided, and which commands were allowed for good.

use openclaw_conversations::database::{Database, Fault};
use openclaw_proto::approval::{Approval, Decision, Grant, GrantedCommand, Terms};
use rusqlite::{Connection, Row, named_params};

/// Decided approvals that are kept; the journal has them all.
const KEPT: i64 = 10_000;

/// Commands that are allowed for good; with more of them the oldest is asked
/// about again. Those of an agent are sent with each of its turns.
const GRANTS: i64 = 1000;

/// The tables; see `database`.
#[derive(Debug, Clone)]
pub struct ApprovalLog(Database);

impl ApprovalLog {
    /// Those of the ledger `database`.
    pub fn new(database: Database) -> Self {
        Self(database)
    }

    /// Notes what is asked. A question that is known is left alone: after a
    /// restart a turn tells its events again.
    pub async fn asked(&self, approval: Approval) -> Result<(), Fault> {
        let work = move |connection: &Connection| {
            connection.execute(
                "INSERT OR IGNORE INTO approvals
                 (approval_id, run_id, session_key, agent_id, tool, command, cwd, reason,
                  created_ms, expires_ms, decision, decided_by, decided_ms, form, terms)
                 VALUES (:id, :run, :session, :agent, :tool, :command, :cwd, :reason,
                         :created, :expires, '', '', 0, :form, :terms)",
                named_params! {
                    ":id": approval.id, ":run": approval.run_id, ":session": approval.session_key,
                    ":agent": approval.agent_id, ":tool": approval.tool,
                    ":command": approval.command, ":cwd": approval.cwd,
                    ":reason": approval.reason, ":created": approval.created_ms,
                    ":expires": approval.expires_ms, ":form": approval.form,
                    ":terms": written(approval.terms.as_ref()),
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
    /// now on, where it is as confined as it was, if the question offered that.
    pub async fn decided(
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
                    "INSERT OR REPLACE INTO command_grants
                     (agent_id, form, command, directory, created_ms, granted_by, terms)
                     SELECT agent_id, form, command, cwd, ?2, ?3, terms FROM approvals
                     WHERE approval_id = ?1 AND form <> '' AND cwd <> ''",
                    rusqlite::params![id, at_ms, by],
                )?;
                connection.execute(
                    "DELETE FROM command_grants WHERE (agent_id, form, command, directory) IN
                     (SELECT agent_id, form, command, directory FROM command_grants
                      ORDER BY created_ms DESC LIMIT -1 OFFSET ?1)",
                    [GRANTS],
                )?;
            }
            Ok(())
        };
        self.0.call("note a decision", work).await
    }

    /// Ends what a run that is over left undecided.
    pub async fn run_ended(&self, run_id: String, at_ms: i64) -> Result<(), Fault> {
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
    pub async fn history(&self, limit: u32) -> Result<Vec<Approval>, Fault> {
        let work = move |connection: &Connection| {
            let mut statement = connection.prepare(
                "SELECT approval_id, run_id, session_key, agent_id, tool, command, cwd, reason,
                        created_ms, expires_ms, decision, decided_by, decided_ms, form,
                        terms
                 FROM approvals WHERE decision <> '' ORDER BY decided_ms DESC LIMIT ?1",
            )?;
            let rows = statement.query_map([limit], approval)?;
            rows.collect()
        };
        self.0.read("list approvals", work).await
    }

    /// The commands that were allowed for good.
    pub async fn grants(&self) -> Result<Vec<Grant>, Fault> {
        let work = |connection: &Connection| {
            let mut statement = connection.prepare_cached(
                "SELECT agent_id, command, created_ms, granted_by, directory, form, terms
                 FROM command_grants ORDER BY agent_id, command, directory",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Grant {
                    agent_id: row.get(0)?,
                    command: row.get(1)?,
                    created_ms: row.get(2)?,
                    by: row.get(3)?,
                    directory: row.get(4)?,
                    form: row.get(5)?,
                    terms: read(&row.get::<_, String>(6)?),
                })
            })?;
            rows.collect()
        };
        self.0.read("list grants", work).await
    }

    /// The commands of one agent.
    pub async fn granted(&self, agent_id: String) -> Result<Vec<GrantedCommand>, Fault> {
        let all = self.grants().await?.into_iter();
        let own = all.filter(|grant| grant.agent_id == agent_id);
        Ok(own.map(Into::into).collect())
    }

    /// Takes a grant back; false when there is none. Without an agent it is
    /// taken from all, without a directory in every one.
    pub async fn revoke(
        &self,
        agent_id: String,
        command: String,
        directory: String,
    ) -> Result<bool, Fault> {
        let work = move |connection: &Connection| {
            connection.execute(
                "DELETE FROM command_grants WHERE command = ?2
                 AND (?1 = '' OR agent_id = ?1) AND (?3 = '' OR directory = ?3)",
                [agent_id, command, directory],
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
                            reason, created_ms, expires_ms, decision, decided_by, decided_ms,
                            form, terms
                     FROM approvals WHERE approval_id = ?1",
                    [id],
                    approval,
                )
                .optional()
        };
        self.0.read("find an approval", work).await.unwrap()
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
        form: row.get(13)?,
        terms: read(&row.get::<_, String>(14)?),
        // They are for whoever decides, which is over.
        origin: String::new(),
        only_once: String::new(),
    })
}

fn written(terms: Option<&Terms>) -> String {
    let terms = terms.and_then(|terms| serde_json::to_string(terms).ok());
    terms.unwrap_or_default()
}

/// `None`: of before they were noted.
fn read(terms: &str) -> Option<Terms> {
    serde_json::from_str(terms).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(level: &str) -> Terms {
        Terms {
            level: level.to_owned(),
            hosts: vec!["example.org".to_owned()],
            ..Terms::default()
        }
    }

    fn asked(id: &str, command: &str) -> Approval {
        Approval {
            id: id.to_owned(),
            run_id: "r".to_owned(),
            agent_id: "main".to_owned(),
            command: command.to_owned(),
            cwd: "/ws".to_owned(),
            form: "line".to_owned(),
            terms: Some(terms("strict")),
            created_ms: 1,
            expires_ms: 9,
            ..Approval::default()
        }
    }

    #[tokio::test]
    async fn first_decision_is_kept_and_always_is_a_grant() {
        let folder = tempfile::tempdir().unwrap();
        let approval_log = ApprovalLog::new(Database::at(folder.path().join("ledger.sqlite")));
        approval_log.asked(asked("a", "make")).await.unwrap();
        let decide = |decision| approval_log.decided("a".to_owned(), decision, "me".to_owned(), 5);
        decide(Some(Decision::AllowAlways)).await.unwrap();
        decide(Some(Decision::Deny)).await.unwrap();
        // Told again after a restart.
        approval_log.asked(asked("a", "make")).await.unwrap();
        assert_eq!(
            approval_log.find("a").await.unwrap().decision,
            "allow-always"
        );
        let granted = GrantedCommand {
            form: "line".to_owned(),
            command: "make".to_owned(),
            directory: "/ws".to_owned(),
            terms: Some(terms("strict")),
        };
        assert_eq!(
            approval_log.granted("main".to_owned()).await.unwrap(),
            [granted]
        );
        assert!(
            approval_log
                .granted("other".to_owned())
                .await
                .unwrap()
                .is_empty()
        );
        let revoke = |directory: &str| {
            approval_log.revoke(String::new(), "make".to_owned(), directory.to_owned())
        };
        assert!(!revoke("/elsewhere").await.unwrap());
        assert!(revoke("/ws").await.unwrap());
        assert!(!revoke("").await.unwrap());
    }

    #[tokio::test]
    async fn approval_log_what_was_not_whole_is_not_granted() {
        let folder = tempfile::tempdir().unwrap();
        let approval_log = ApprovalLog::new(Database::at(folder.path().join("ledger.sqlite")));
        let cut = Approval {
            form: String::new(),
            ..asked("a", "make [… 9 bytes left out …]")
        };
        approval_log.asked(cut).await.unwrap();
        let always = Some(Decision::AllowAlways);
        let decided = approval_log.decided("a".to_owned(), always, "me".to_owned(), 5);
        decided.await.unwrap();
        assert!(approval_log.grants().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn grants_of_before_there_were_directories_are_asked_about_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        let before = Connection::open(&path).unwrap();
        before
            .execute_batch(
                "CREATE TABLE exec_grants (agent_id TEXT NOT NULL, command TEXT NOT NULL,
                 created_ms INTEGER NOT NULL, granted_by TEXT NOT NULL,
                 PRIMARY KEY (agent_id, command)) WITHOUT ROWID;
                 INSERT INTO exec_grants VALUES ('main', 'make', 1, 'me');
                 CREATE TABLE approvals (approval_id TEXT PRIMARY KEY, run_id TEXT NOT NULL,
                 session_key TEXT NOT NULL, agent_id TEXT NOT NULL, tool TEXT NOT NULL,
                 command TEXT NOT NULL, cwd TEXT NOT NULL, reason TEXT NOT NULL,
                 created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,
                 decision TEXT NOT NULL, decided_by TEXT NOT NULL, decided_ms INTEGER NOT NULL
                 ) WITHOUT ROWID;
                 INSERT INTO approvals VALUES ('a', 'r', 's', 'main', 't', 'make', '', '',
                 1, 9, 'allow-always', 'me', 2);",
            )
            .unwrap();
        drop(before);
        for _ in 0..2 {
            let approval_log = ApprovalLog::new(Database::at(path.clone()));
            assert!(approval_log.grants().await.unwrap().is_empty());
            let history = approval_log.history(9).await.unwrap();
            assert_eq!(history[0].decision, "allow-always");
            assert_eq!(history[0].form, "");
        }
    }

    /// Those of before are listed, and say nothing of how confined they were; allowed once
    /// more, they do.
    #[tokio::test]
    async fn grant_says_how_confined_it_was_last_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        let approval_log = ApprovalLog::new(Database::at(path.clone()));
        assert!(approval_log.grants().await.unwrap().is_empty());
        let before = Connection::open(&path).unwrap();
        before
            .execute_batch(
                "INSERT INTO command_grants
                 (agent_id, form, command, directory, created_ms, granted_by)
                 VALUES ('main', 'line', 'make', '/ws', 1, 'me')",
            )
            .unwrap();
        assert_eq!(approval_log.grants().await.unwrap()[0].terms, None);
        for level in ["strict", "off"] {
            let asked = Approval {
                terms: Some(terms(level)),
                ..asked(level, "make")
            };
            approval_log.asked(asked).await.unwrap();
            let always = Some(Decision::AllowAlways);
            let decided = approval_log.decided(level.to_owned(), always, "me".to_owned(), 5);
            decided.await.unwrap();
            let grants = approval_log.grants().await.unwrap();
            assert_eq!(grants.len(), 1);
            assert_eq!(grants[0].terms, Some(terms(level)));
        }
    }

    #[tokio::test]
    async fn run_that_is_over_leaves_nothing_undecided() {
        let folder = tempfile::tempdir().unwrap();
        let approval_log = ApprovalLog::new(Database::at(folder.path().join("ledger.sqlite")));
        approval_log.asked(asked("a", "make")).await.unwrap();
        assert!(approval_log.history(9).await.unwrap().is_empty());
        approval_log.run_ended("r".to_owned(), 7).await.unwrap();
        let history = approval_log.history(9).await.unwrap();
        assert_eq!(history[0].decision, "expired");
        assert_eq!(history[0].decided_ms, 7);
    }
}
