//! Finding transcripts that the index does not lead to.

use openclaw_proto::sessions::{Findings, Reading, Search, SessionMatch};
use openclaw_sessions::discovery::{self, Digest, Matched, Project, Range, Scope};
use openclaw_sessions::{AgentId, SessionKey};

use super::Sessions;
use super::read::{Wanted, blocking};
use crate::refusal::Refusal;

/// Transcripts of one answer when nobody says how many.
const DEFAULT_LIMIT: usize = 20;

impl Sessions {
    /// The transcripts of all agents, or of one, that have to do with a
    /// project, or in which something was said in a range of time.
    pub async fn search(&self, search: Search) -> Result<Findings, Refusal> {
        let range = Range {
            since_ms: search.since_ms,
            until_ms: search.until_ms,
        };
        let project = Project::named(&search.project);
        if project.is_none() && (range.is_all() || !search.project.trim().is_empty()) {
            return Err(Refusal::Empty {
                what: "the project's name",
            });
        }
        let settings = self.configuration.settings();
        let agent: Option<AgentId> = match search.agent_id.as_str() {
            "" => None,
            id => Some(id.parse()?),
        };
        let scope = Scope {
            agents: settings.paths.agents(),
            agent: agent.map(|agent| agent.to_string()),
            workspaces: settings
                .agents
                .values()
                .map(|agent| agent.workspace.to_path_buf())
                .collect(),
            limit: match search.limit {
                0 => DEFAULT_LIMIT,
                limit => limit as usize,
            },
        };
        let findings = blocking(move || discovery::find(project.as_ref(), &range, &scope)).await?;
        let mut sessions = Vec::new();
        for digest in findings.found {
            let key = self.key_of(&digest).await;
            sessions.push(found(digest, key));
        }
        Ok(Findings {
            sessions,
            searched: u32::try_from(findings.searched).unwrap_or(u32::MAX),
            problems: findings
                .problems
                .iter()
                .map(|error| openclaw_daemon::failure::chain(error))
                .collect(),
        })
    }

    /// Reads a session, or a transcript that no session has any more.
    pub async fn read_named(
        &self,
        text: &str,
        agent: &str,
        wanted: Wanted,
    ) -> Result<Reading, Refusal> {
        let unknown = match self.resolve(text, agent).await {
            Ok(key) => return self.read(&key, wanted).await,
            Err(unknown @ Refusal::UnknownSession(_)) => unknown,
            Err(refusal) => return Err(refusal),
        };
        let agents = self.configuration.settings().paths.agents();
        let id = text.trim().to_owned();
        let located = blocking({
            let id = id.clone();
            move || discovery::locate(&agents, &id)
        });
        match located.await? {
            Some((_, path)) => self.read_file(id, path, wanted).await,
            None => Err(unknown),
        }
    }

    /// The key of the session that has the transcript.
    async fn key_of(&self, digest: &Digest) -> Option<SessionKey> {
        let key = self.resolve(&digest.session_id, &digest.agent).await.ok()?;
        let found = self.find(&key).await.ok()?;
        (found.transcript == digest.path).then_some(key)
    }
}

fn found(digest: Digest, key: Option<SessionKey>) -> SessionMatch {
    SessionMatch {
        agent_id: digest.agent,
        id: digest.session_id,
        key: key.map(|key| key.to_string()).unwrap_or_default(),
        transcript_path: digest.path.display().to_string(),
        cwd: digest.cwd,
        started_at_ms: digest.started_ms.unwrap_or_default(),
        modified_at_ms: digest.modified_ms,
        lines: digest.lines,
        first_user_message: digest.first_user_message.unwrap_or_default(),
        last_user_messages: digest.last_user_messages,
        matched: match digest.matched {
            Matched::Cwd => "cwd".to_owned(),
            Matched::Message => "message".to_owned(),
            Matched::Time => "time".to_owned(),
        },
    }
}
